import type { Payment } from '../../contract/payment.ts';
import { errorPage } from '../../domain/receiver-answer.ts';
import { masked } from '../../system/secret.ts';
import { type AuditCase, evidence, type Finding, family, skipped, targetOf, withOrder } from '../case.ts';
import type { Observation, ProbeRequest } from '../client.ts';
import type { Shop } from '../shop.ts';

const text = family({
  class: 'L',
  group: 'leaks',
  harm: 'Anyone who has the secret key or an expected signature can mark orders as paid. A stack trace shows an attacker where to start.',
  mistake: 'secrets-shown',
});

/** The secret that a response reveals; undefined if there is none. */
function leakIn(shop: Shop, request: ProbeRequest, { body, headers }: Observation): string | undefined {
  const { gateway, tools } = shop.parts;
  const response = `${headers.map((pair) => pair.join(': ')).join('\n')}\n${body}`;
  if (gateway.secretKey.length >= 6 && response.includes(gateway.secretKey))
    return 'The response contains the secret key';
  const form = typeof request.body === 'string' ? new URLSearchParams(request.body) : undefined;
  const [amount, identifier] = [form?.get(tools.names.amount), form?.get(tools.names.identifier)];
  if (amount && identifier) {
    const expected = tools.sign(amount, identifier, gateway.secretKey);
    const isOwn = form?.getAll(tools.names.signature).includes(expected);
    if (!isOwn && response.toUpperCase().includes(expected))
      return 'The response contains the expected signature';
  }
  const fault = errorPage(body);
  return fault && `The response contains an error from your code: ${fault}`;
}

/** A request that anyone can send. */
const plainRequest = (name: string, about: string, method: string): AuditCase => ({
  ...text(name, about),
  run: (shop) =>
    withOrder(shop, async (payment) => {
      const request = { url: shop.addressOf(payment), method };
      const observation = await shop.send(request);
      const leak = leakIn(shop, request, observation);
      const shown = evidence(request, observation);
      return leak === undefined
        ? { ...shown, verdict: 'pass' }
        : { ...shown, verdict: 'fail', why: `${leak}.` };
    }),
});

/** Error responses reveal the most. */
async function provoke(shop: Shop, payment: Payment): Promise<void> {
  const { ipn, post } = targetOf(shop, payment);
  const forged = [
    ipn.badlySigned(),
    ipn.unset('signature'),
    ipn.unset('amount'),
    ipn.set('identifier', 'no-such-order-here'),
  ];
  for (const one of forged) await shop.send(post(one));
}

async function everyAnswer(shop: Shop): Promise<Finding> {
  const count = shop.seen.length;
  for (const { request, observation } of shop.seen) {
    const leak = leakIn(shop, request, observation);
    if (leak === undefined) continue;
    return { ...evidence(request, observation), verdict: 'fail', why: `${leak}.` };
  }
  return {
    verdict: 'pass',
    sent: `all ${count} requests of the audit`,
    observed: 'no response contained a secret',
    curl: null,
  };
}

/** Every text that the shop sends to the gateway for an order. */
const textsOf = (payment: Payment) =>
  (
    [
      'identifier',
      'details',
      'ipnUrl',
      'successUrl',
      'cancelUrl',
      'siteLogo',
      'customerName',
      'customerEmail',
    ] as const
  ).map((name) => [name, payment[name] ?? ''] as const);

async function inInitiate(shop: Shop): Promise<Finding> {
  if (!shop.parts.hasOrders)
    return skipped("the order is made up: only a shop's initiate request can reveal the key");
  const { secretKey } = shop.parts.gateway;
  for (const payment of shop.parts.orders.made) {
    // The emulator masks the key in payments.
    const isIn = (text: string) => text.includes(secretKey) || text.includes(masked(secretKey));
    const found = textsOf(payment).find(([, value]) => isIn(decoded(value)));
    if (!found) continue;
    const observed = `the field ${found[0]} of an initiate request contains the secret key`;
    return {
      verdict: 'fail',
      sent: null,
      observed,
      why: `The shop sends the secret key in ${found[0]} of its initiate request.`,
      curl: null,
    };
  }
  const count = shop.parts.orders.made.length;
  return {
    verdict: 'pass',
    sent: null,
    observed: `none of ${count} initiate requests contained the secret key`,
    curl: null,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const LEAKS: readonly AuditCase[] = [
  plainRequest('handler-get', 'A GET request to the handler.', 'GET'),
  plainRequest('handler-head', 'A HEAD request to the handler.', 'HEAD'),
  {
    ...text('error-bodies', 'Every response of the shop during the audit, including error responses.'),
    last: true,
    run: (shop) =>
      withOrder(shop, async (payment) => {
        await provoke(shop, payment);
        return everyAnswer(shop);
      }),
  },
  {
    ...text('secret-in-initiate', 'Every initiate request of the shop.'),
    mistake: 'initiate-from-outside',
    last: true,
    run: inInitiate,
  },
];
