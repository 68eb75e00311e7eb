import type {
  InitiateFields,
  Payment,
  PaymentFilter,
  PaymentOutcome,
  Payments,
  SettleOptions,
} from '../api.ts';
import { type ControlServer, reference } from '../client.ts';
import { initiatePayment, paymentIdOf } from '../service.ts';
import { queryOf } from './query.ts';
import { inWords, waitFor } from './wait.ts';

/** The payments of an emulator. */
export function paymentsOf(server: ControlServer): Payments {
  const routes = server.client.payments;
  const list: Payments['list'] = (filter = {}) => server.ask(routes.$get({ query: queryOf(filter) }));
  const get: Payments['get'] = (ref) => server.ask(routes[':ref'].$get({ param: { ref: reference(ref) } }));
  const settle =
    (outcome: PaymentOutcome) =>
    (ref: string, options: SettleOptions = {}) =>
      server.ask(
        routes[':ref'].settle.$post({ param: { ref: reference(ref) }, json: { outcome, ...options } }),
      );
  return {
    list,
    get,
    create: async (fields = {}) => {
      const url = await initiatePayment(server, fields.mode ?? 'sandbox', wireFields(fields));
      const { timeline: _, ...payment } = await get(paymentIdOf(url));
      return payment;
    },
    waitFor: (filter = {}, options) =>
      waitFor<Payment>(
        {
          what: `payment with ${inWords(filter) || 'any identifier'}`,
          look: async () => (await list({ ...filter, limit: 1 })).data[0],
          instead: () => whatHappened(server, filter),
        },
        options,
      ),
    approve: settle('approve'),
    cancel: settle('cancel'),
    fail: settle('fail'),
    expire: settle('expire'),
  };
}

function wireFields(fields: InitiateFields) {
  return {
    public_key: fields.publicKey,
    identifier: fields.identifier,
    currency: fields.currency,
    amount: fields.amount,
    details: fields.details,
    ipn_url: fields.ipnUrl,
    success_url: fields.successUrl,
    cancel_url: fields.cancelUrl,
    site_logo: fields.siteLogo,
    checkout_theme: fields.checkoutTheme,
    customer_name: fields.customerName,
    customer_email: fields.customerEmail,
  };
}

/** So much is told of what happened instead. */
const TOLD = 5;

/** The payments that there are, those of the wanted identifier first, and the initiates that were refused. */
async function whatHappened(server: ControlServer, { identifier }: PaymentFilter): Promise<string[]> {
  const { data: all } = await server.ask(server.client.payments.$get({ query: { limit: '200' } }));
  const { data: requests } = await server.ask(server.client.requests.$get({ query: { limit: '200' } }));
  const wanted = all.filter((payment) => payment.identifier === identifier);
  const told = (wanted.length ? wanted : all)
    .slice(0, TOLD)
    .map((one) => `payment "${one.identifier}" is ${one.status} (${one.mode}, ${one.id})`);
  const refused = requests
    .filter(({ target, paymentId }) => /\/payment\/initiate(\?|$)/.test(target) && paymentId === null)
    .slice(0, TOLD)
    .map(({ target, status, notes }) => `POST ${target} was refused (${status}): ${notes[0] ?? ''}`);
  return [...(told.length ? told : ['no payment was initiated']), ...refused];
}
