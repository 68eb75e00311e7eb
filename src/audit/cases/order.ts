import {
  type AuditCase,
  family,
  judgeRejected,
  NO_ORDERS,
  rejects,
  sendAndLook,
  skipped,
  type Target,
  targetOf,
  withOrder,
} from '../case.ts';
import { withTokensOf } from '../tokens.ts';

const unbound = family({
  class: 'E',
  group: 'order',
  harm: 'An attacker pays for one cheap order and gets other orders for free.',
  mistake: 'order-not-by-identifier',
});
const sandboxed = family({
  class: 'G',
  group: 'merchant',
  harm: 'With only the public key, an attacker makes a sandbox payment with the identifier and amount of a live order. The genuine IPN of that payment marks the live order as paid.',
  mistake: 'no-token-in-ipn-url',
});
const spliced = family({
  class: 'splice',
  group: 'amount',
  harm: 'With the public key and a tiny sandbox payment, an attacker gets a signature that is valid for the full price of the order.',
  mistake: 'no-token-in-ipn-url',
});

/** The genuine IPN of the attacker's own payment, for the amount of the order. */
const attackers = ({ shop, payment: { amount, currency } }: Target, identifier?: string) =>
  shop.attackerIpn({ amount, currency, ...(identifier !== undefined && { identifier }) });

/** A genuine IPN for an identifier that is almost the same as the order's. */
const nearly = (name: string, about: string, change: (identifier: string) => string): AuditCase =>
  rejects(unbound(name, about), ({ payment: { identifier }, ipn, shop }) => {
    const changed = change(identifier);
    return changed === identifier
      ? 'the identifier has no letters'
      : ipn.set('identifier', changed).signedWith(shop.parts.gateway.secretKey);
  });

const swapCase = (text: string) => {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
};

/** The address that an attacker can guess: the order's, with the unguessable parts of the attacker's own order. */
function guessedAddress({ shop, payment }: Target): string {
  const url = shop.addressOf(payment);
  const other = shop.parts.orders.made.find(({ id }) => id !== payment.id);
  return other ? withTokensOf(url, payment, shop.addressOf(other)) : url;
}

/** A sandbox payment with the order's identifier, and optionally a flag that a shop may obey. */
function sandbox(name: string, about: string, flag?: readonly [string, string]): AuditCase {
  return {
    ...sandboxed(name, about),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const target = targetOf(shop, payment);
        const ipn = await attackers(target, payment.identifier);
        const address = guessedAddress(target);
        const plain = await sendAndLook(shop, payment, shop.requestTo(address, ipn));
        const finding = judgeRejected(shop, before, plain.after, plain.shown, 'at-risk');
        if (!flag || finding.verdict === 'at-risk') return finding;
        const flagged = await sendAndLook(shop, payment, shop.requestTo(address, ipn.and(flag)));
        return judgeRejected(shop, before, flagged.after, flagged.shown);
      }),
  };
}

export const ORDER: readonly AuditCase[] = [
  rejects(
    unbound(
      'other-ipn-to-order-url',
      "The genuine IPN of the attacker's own payment, sent to the order's ipn_url.",
    ),
    (target) => attackers(target),
  ),
  rejects(
    {
      ...unbound(
        'transaction-reused',
        "The attacker's signature and payment_trx with the identifier and amount of the order.",
      ),
      mistake: 'signature-not-checked',
    },
    async (target) => {
      const own = await attackers(target);
      return target.ipn.set('signature', own.get('signature')).set('trx', own.get('trx'));
    },
  ),
  {
    ...unbound('other-paid-order', "The genuine IPN of another paid order, sent to this order's ipn_url."),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const other = await shop.parts.orders.take();
        if (!other) return skipped(NO_ORDERS);
        try {
          if (other.identifier === payment.identifier) return skipped('both orders have the same identifier');
          await shop.pay(other);
          const request = shop.requestTo(shop.addressOf(payment), shop.ipnOf(other));
          const { shown, after } = await sendAndLook(shop, payment, request);
          return judgeRejected(shop, before, after, shown);
        } finally {
          shop.parts.orders.release(other, false);
        }
      }),
  },
  {
    ...rejects(
      unbound('identifier-unknown', 'A genuine IPN for an identifier that the shop never issued.'),
      (target) => attackers(target, 'no-such-order-here'),
    ),
    // A shop that falls back to its newest order shows this only while no other case places orders.
    alone: true,
  },
  nearly('identifier-case', 'A genuine IPN for the identifier in a different letter case.', swapCase),
  nearly(
    'identifier-spaces',
    'A genuine IPN for the identifier with a trailing space.',
    (text) => `${text} `,
  ),
  nearly('identifier-prefix', 'A genuine IPN for the identifier with a leading zero.', (text) => `0${text}`),
  sandbox('sandbox-for-live', "The attacker's sandbox payment with the order's identifier and amount."),
  sandbox('sandbox-test-flag', 'The same payment with test=1 added.', ['test', '1']),
  sandbox('sandbox-sandbox-flag', 'The same payment with sandbox=1 added.', ['sandbox', '1']),
  sandbox('sandbox-mode-flag', 'The same payment with mode=sandbox added.', ['mode', 'sandbox']),
  {
    ...spliced(
      'splice',
      'A cheap sandbox payment whose amount and identifier, concatenated, equal those of the order.',
    ),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const { tools } = shop.parts;
        const cheap = tools.splice(payment.amount, payment.identifier);
        if (!cheap) {
          return {
            ...skipped('the identifier has its maximum length, so no digit of the amount can move into it'),
            verdict: 'pass',
          };
        }
        const own = await shop.attackerIpn({ ...cheap, currency: payment.currency });
        const ipn = shop.ipnOf(payment).set('signature', own.get('signature')).set('trx', own.get('trx'));
        const request = shop.requestTo(guessedAddress(targetOf(shop, payment)), ipn);
        const { shown, after } = await sendAndLook(shop, payment, request);
        return judgeRejected(shop, before, after, shown, 'at-risk');
      }),
  },
];
