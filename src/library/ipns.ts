import { outcomeOf } from '../contract/describe-delivery.ts';
import { GatewayError } from '../contract/error.ts';
import type { Delivery, DeliveryFilter, Ipns } from './api.ts';
import { requireObject, requireReference } from './arguments.ts';
import type { ControlServer } from './control-client.ts';
import { MAX_REPORTED, requireFilter, waitForNewest } from './wait.ts';

export function ipnsOf(server: ControlServer): Ipns {
  const list: Ipns['list'] = async (filter = {}) =>
    server.call('GET /ipns', { query: requireFilter(filter) });
  const named = (id: string) => ({ id: requireReference('an IPN', id) });
  return {
    list,
    get: async (id) => server.call('GET /ipns/:id', { param: named(id) }),
    waitFor: async (filter = {}, options) => {
      const instead = () => lastSent(server, filter.payment);
      const soFar = (query: DeliveryFilter) => sentSoFar(server, query);
      return waitForNewest({ what: 'IPN', any: 'any state', list: soFar, instead }, filter, options);
    },
    resend: async (id, options = {}) =>
      server.call('POST /ipns/:id/resend', { param: named(id), json: options }),
    fire: async (options) => {
      requireObject('the IPN', options);
      const answer = await server.call('POST /ipns', { json: options });
      return 'data' in answer ? answer.data : [answer];
    },
  };
}

/** Treats a payment that does not exist yet as one without IPNs. */
async function sentSoFar(server: ControlServer, query: DeliveryFilter) {
  return server.call('GET /ipns', { query }).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'not_found') return { data: [] };
    throw error;
  });
}

/** The results of the newest IPNs, of one payment or of all, one line each. */
export async function lastSent(server: ControlServer, payment?: string): Promise<string[]> {
  const { data } = await sentSoFar(server, { payment, limit: MAX_REPORTED });
  return data.length ? data.map(describeDelivery) : [await whyNone(server, payment)];
}

async function whyNone(server: ControlServer, payment: string | undefined): Promise<string> {
  if (payment === undefined) return 'no IPN was sent';
  const found = await server.call('GET /payments/:ref', { param: { ref: payment } }).catch(() => undefined);
  if (!found) return `there is no payment "${payment}"`;
  return `payment "${found.identifier}" is ${found.status}: no IPN was sent for it`;
}

function describeDelivery(delivery: Delivery): string {
  const { id, identifier, state, url, forwardedTo, attempts, note } = delivery;
  const last = attempts.at(-1);
  const outcome = last ? outcomeOf(last) : 'not attempted yet';
  const count = attempts.length > 1 ? `, ${attempts.length} attempts` : '';
  const destination = forwardedTo === null ? `to ${url}` : `forwarded to ${forwardedTo}`;
  return `IPN ${id} of "${identifier}" ${destination} is ${state}: ${note ?? outcome}${count}`;
}
