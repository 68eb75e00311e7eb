import type { Payment } from '../../contract/payment.ts';
import { errorPage } from '../../contract/receiver-answer.ts';
import { masked } from '../../contract/secret.ts';
import { type AuditCase, evidence, type Finding, family, skipped, targetOf, withOrder } from '../case.ts';
import type { Observation, ProbeRequest } from '../client.ts';
import type { Shop } from '../shop.ts';

const text = family({
  class: 'L',
  group: 'leaks',
  harm: 'Who has the secret key, or a signature that was expected, marks every order as paid; a stack tells an attacker where to look.',
  mistake: 'secrets-shown',
});

/** What an answer gives away; undefined when nothing. */
function leakIn(shop: Shop, shot: ProbeRequest, { body, headers }: Observation): string | undefined {
  const { gateway, tools } = shop.parts;
  const said = `${headers.map((pair) => pair.join(': ')).join('\n')}\n${body}`;
  if (gateway.secretKey.length >= 6 && said.includes(gateway.secretKey))
    return 'the secret key is in the answer';
  const form = typeof shot.body === 'string' ? new URLSearchParams(shot.body) : undefined;
  const [amount, identifier] = [form?.get(tools.names.amount), form?.get(tools.names.identifier)];
  if (amount && identifier) {
    const expected = tools.sign(amount, identifier, gateway.secretKey);
    const isOwn = form?.getAll(tools.names.signature).includes(expected);
    if (!isOwn && said.toUpperCase().includes(expected)) return 'the expected signature is in the answer';
  }
  const fault = errorPage(body);
  return fault && `an error of the program is in the answer: ${fault}`;
}

/** A request of any stranger. */
const asked = (name: string, about: string, method: string): AuditCase => ({
  ...text(name, about),
  run: (shop) =>
    withOrder(shop, async (payment) => {
      const shot = { url: shop.addressOf(payment), method };
      const observation = await shop.send(shot);
      const leak = leakIn(shop, shot, observation);
      const shown = evidence(shot, observation);
      return leak === undefined
        ? { ...shown, verdict: 'pass' }
        : { ...shown, verdict: 'fail', why: `${leak}.` };
    }),
});

/** Refusals are where most comes out. */
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
  for (const { shot, observation } of shop.seen) {
    const leak = leakIn(shop, shot, observation);
    if (leak === undefined) continue;
    return { ...evidence(shot, observation), verdict: 'fail', why: `${leak}.` };
  }
  return {
    verdict: 'pass',
    sent: `all ${count} requests of this audit`,
    observed: 'nothing secret',
    curl: null,
  };
}

/** Every text that the shop sent to the gateway for an order. */
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
  if (!shop.parts.hasOrders) return skipped('the order was invented: only what the shop initiates can leak');
  const { secretKey } = shop.parts.gateway;
  for (const payment of shop.parts.orders.made) {
    // The emulator shows it masked.
    const isIn = (text: string) => text.includes(secretKey) || text.includes(masked(secretKey));
    const found = textsOf(payment).find(([, value]) => isIn(decoded(value)));
    if (!found) continue;
    const observed = `the secret key is in ${found[0]} of an initiate`;
    return { verdict: 'fail', sent: null, observed, why: `${observed}.`, curl: null };
  }
  const count = shop.parts.orders.made.length;
  return { verdict: 'pass', sent: null, observed: `${count} initiates without the secret key`, curl: null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const LEAKS: readonly AuditCase[] = [
  asked('handler-get', 'A GET of the handler.', 'GET'),
  asked('handler-head', 'A HEAD of the handler.', 'HEAD'),
  {
    ...text('error-bodies', 'All that the shop answered in this audit, refusals above all.'),
    last: true,
    run: (shop) =>
      withOrder(shop, async (payment) => {
        await provoke(shop, payment);
        return everyAnswer(shop);
      }),
  },
  { ...text('secret-in-initiate', 'All that the shop sent to initiate.'), last: true, run: inInitiate },
];
