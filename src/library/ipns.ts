import { GatewayError } from '../contract/error.ts';
import type { Delivery, DeliveryFilter, Ipns } from './api.ts';
import { requireObject, requireReference } from './arguments.ts';
import type { ControlServer } from './control-client.ts';
import { describeFilter, requireFilter, waitFor } from './wait.ts';

/** The IPNs of an emulator. */
export function ipnsOf(server: ControlServer): Ipns {
  const list: Ipns['list'] = async (filter = {}) =>
    server.call('GET /ipns', { query: requireFilter(filter) });
  return {
    list,
    get: async (id) => server.call('GET /ipns/:id', { param: { id: requireReference('an IPN', id) } }),
    waitFor: async (filter = {}, options) =>
      waitFor<Delivery>(
        {
          what: `IPN with ${describeFilter(filter) || 'any state'}`,
          look: async () => (await listed(list, { ...filter, limit: 1 }))[0],
          instead: () => whatHappened(server, list, filter),
        },
        options,
      ),
    resend: async (id, options = {}) =>
      server.call('POST /ipns/:id/resend', { param: { id: requireReference('an IPN', id) }, json: options }),
    fire: async (options) => {
      requireObject('the IPN', options);
      const answer = await server.call('POST /ipns', { json: options });
      return 'data' in answer ? answer.data : [answer];
    },
  };
}

/** The deliveries that fit. A payment that does not exist yet has none. */
async function listed(list: Ipns['list'], filter: DeliveryFilter): Promise<Delivery[]> {
  try {
    return (await list(filter)).data;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'not_found') return [];
    throw error;
  }
}

/** So much is told of what happened instead. */
const TOLD = 5;

async function whatHappened(
  server: ControlServer,
  list: Ipns['list'],
  { payment }: DeliveryFilter,
): Promise<string[]> {
  const deliveries = await listed(list, { ...(payment !== undefined && { payment }), limit: TOLD });
  if (deliveries.length) return deliveries.map(describeDelivery);
  if (payment === undefined) return ['no IPN was sent'];
  const found = await server.call('GET /payments/:ref', { param: { ref: payment } }).catch(() => undefined);
  if (!found) return [`there is no payment "${payment}"`];
  return [`payment "${found.identifier}" is ${found.status}: no IPN was sent for it`];
}

function describeDelivery({ id, identifier, state, url, attempts, note }: Delivery): string {
  const last = attempts.at(-1);
  const outcome = last ? (last.error ?? `answered ${last.responseStatus}`) : 'not attempted yet';
  const count = attempts.length > 1 ? `, ${attempts.length} attempts` : '';
  return `IPN ${id} of "${identifier}" to ${url} is ${state}: ${note ?? outcome}${count}`;
}
