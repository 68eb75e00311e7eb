import { OUTCOMES } from '../contract/outcomes.ts';
import type { PaymentFilter, PaymentOutcome, Payments, RecordedRequest, SettleOptions } from './api.ts';
import { requireFields, requireReference } from './arguments.ts';
import type { ControlServer } from './control-client.ts';
import { dialect, initiatePayment, isRefusedInitiate } from './merchant-client.ts';
import { MAX_REPORTED, requireFilter, waitForNewest } from './wait.ts';

export function paymentsOf(server: ControlServer): Payments {
  const list: Payments['list'] = async (filter = {}) =>
    server.call('GET /payments', { query: requireFilter(filter) });
  const named = (ref: string) => ({ ref: requireReference('a payment', ref) });
  const get: Payments['get'] = async (ref) => server.call('GET /payments/:ref', { param: named(ref) });
  const settle =
    (outcome: PaymentOutcome) =>
    async (ref: string, options: SettleOptions = {}) =>
      server.call('POST /payments/:ref/settle', { param: named(ref), json: { outcome, ...options } });
  return {
    list,
    get,
    create: async (fields = {}) => {
      requireFields('the payment', fields, [...dialect.initiateFields, 'mode']);
      const { mode, ...values } = fields;
      const { id } = await initiatePayment(server, mode === 'live' ? 'live' : 'sandbox', values);
      const { timeline: _, ...payment } = await get(id);
      return payment;
    },
    waitFor: async (filter = {}, options) => {
      const instead = () => whatHappened(server, list, filter);
      return waitForNewest({ what: 'payment', any: 'any identifier', list, instead }, filter, options);
    },
    ...(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, settle(outcome)])) as Pick<
      Payments,
      PaymentOutcome
    >),
  };
}

/** The payments with the wanted identifier, or else the newest payments, and the rejected initiates. */
async function whatHappened(
  server: ControlServer,
  list: Payments['list'],
  { identifier }: PaymentFilter,
): Promise<string[]> {
  const newest = async (filter: PaymentFilter) => (await list({ ...filter, limit: MAX_REPORTED })).data;
  const wanted = identifier === undefined ? [] : await newest({ identifier });
  const reported = (wanted.length ? wanted : await newest({})).map(
    (one) => `payment "${one.identifier}" is ${one.status} (${one.mode}, ${one.id})`,
  );
  const { data: requests } = await server.call('GET /requests', { query: { limit: 200 } });
  const refused = requests
    .filter((one) => isRefusedInitiate(one) || isUnknownPath(one))
    .slice(0, MAX_REPORTED)
    .map(({ method, target, status, notes }) => {
      const reason = notes.join('; ') || 'no reason was recorded';
      return `${method} ${target} was rejected (${status}): ${reason}`;
    });
  return [...(reported.length ? reported : ['no payment was initiated']), ...refused];
}

/** Whether the merchant's code used a wrong path. */
function isUnknownPath({ method, status }: RecordedRequest): boolean {
  return method === 'POST' && (status === 404 || status === 405);
}
