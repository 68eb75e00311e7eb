import {
  type AuditCase,
  family,
  judgeRefused,
  NO_ORDERS,
  refuses,
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
  harm: 'An attacker pays once, for the cheapest thing or as a merchant of his own, and gets other orders for it.',
  mistake: 'order-not-by-identifier',
});
const sandboxed = family({
  class: 'G',
  group: 'merchant',
  harm: 'With the public key alone, which costs nothing, an attacker makes a sandbox payment for the identifier and amount of a live order, and its genuine IPN pays that order.',
  mistake: 'no-token-in-ipn-url',
});
const spliced = family({
  class: 'splice',
  group: 'amount',
  harm: 'With the public key and a sandbox payment of a single unit, an attacker gets a signature that is valid for the whole price of the order.',
  mistake: 'no-token-in-ipn-url',
});

/** The genuine IPN of a payment of the attacker, which costs the same as the order. */
const attackers = ({ shop, payment: { amount, currency } }: Target, identifier?: string) =>
  shop.attackerIpn({ amount, currency, ...(identifier !== undefined && { identifier }) });

/** A genuine IPN for an identifier that is nearly the order's own. */
const nearly = (name: string, about: string, change: (identifier: string) => string): AuditCase =>
  refuses(unbound(name, about), ({ payment: { identifier }, ipn, shop }) => {
    const changed = change(identifier);
    return changed === identifier
      ? 'the identifier has no letter whose case could be changed'
      : ipn.set('identifier', changed).signedWith(shop.parts.gateway.secretKey);
  });

const swapCase = (text: string) => {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
};

/**
 * The address that an attacker knows: the order's own, with the parts that cannot be guessed taken from an order of
 * the attacker's.
 */
function guessedAddress({ shop, payment }: Target): string {
  const url = shop.addressOf(payment);
  const other = shop.parts.orders.made.find(({ id }) => id !== payment.id);
  return other ? withTokensOf(url, payment, shop.addressOf(other)) : url;
}

/** A sandbox payment that names the order, with a flag beside it that a shop may obey. */
function sandbox(name: string, about: string, flag?: readonly [string, string]): AuditCase {
  return {
    ...sandboxed(name, about),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const target = targetOf(shop, payment);
        const ipn = await attackers(target, payment.identifier);
        const address = guessedAddress(target);
        const plain = await sendAndLook(shop, payment, shop.shot(address, ipn));
        const finding = judgeRefused(shop, before, plain.after, plain.shown, 'at-risk');
        if (!flag || finding.verdict === 'at-risk') return finding;
        const flagged = await sendAndLook(shop, payment, shop.shot(address, ipn.and(flag)));
        return judgeRefused(shop, before, flagged.after, flagged.shown);
      }),
  };
}

export const ORDER: readonly AuditCase[] = [
  refuses(
    unbound('other-ipn-to-order-url', "The attacker's own paid IPN, sent to the order's ipn_url."),
    (target) => attackers(target),
  ),
  refuses(
    unbound(
      'transaction-reused',
      "The attacker's own signature beside the identifier and transaction of the order.",
    ),
    async (target) => {
      const own = await attackers(target);
      return target.ipn.set('signature', own.get('signature')).set('trx', own.get('trx'));
    },
  ),
  {
    ...unbound(
      'other-paid-order',
      'The genuine IPN of another paid order of the shop, sent to the ipn_url of this one.',
    ),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const other = await shop.parts.orders.take();
        if (!other) return skipped(NO_ORDERS);
        try {
          if (other.identifier === payment.identifier) return skipped('both orders have the same identifier');
          await shop.pay(other);
          const shot = shop.shot(shop.addressOf(payment), shop.ipnOf(other));
          const { shown, after } = await sendAndLook(shop, payment, shot);
          return judgeRefused(shop, before, after, shown);
        } finally {
          shop.parts.orders.release(other, false);
        }
      }),
  },
  {
    ...refuses(
      unbound('identifier-unknown', 'A genuine IPN for an identifier that the shop never issued.'),
      (target) => attackers(target, 'no-such-order-here'),
    ),
    // A shop that takes the newest order for it shows that only while there is no newer one.
    alone: true,
  },
  nearly('identifier-case', 'A genuine IPN for the identifier in other letters.', swapCase),
  nearly(
    'identifier-spaces',
    'A genuine IPN for the identifier with a space behind it.',
    (text) => `${text} `,
  ),
  nearly(
    'identifier-prefix',
    'A genuine IPN for the identifier with a zero before it.',
    (text) => `0${text}`,
  ),
  sandbox('sandbox-for-live', "A sandbox payment of the attacker with the order's identifier and amount."),
  sandbox('sandbox-test-flag', 'The same with test=1 beside it.', ['test', '1']),
  sandbox('sandbox-sandbox-flag', 'The same with sandbox=1 beside it.', ['sandbox', '1']),
  sandbox('sandbox-mode-flag', 'The same with mode=sandbox beside it.', ['mode', 'sandbox']),
  {
    ...spliced(
      'splice',
      'A cheap sandbox payment whose amount and identifier, joined, are those of the order.',
    ),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const { tools } = shop.parts;
        const cheap = tools.splice(payment.amount, payment.identifier);
        if (!cheap) {
          return {
            ...skipped('nothing of the amount fits into the identifier, which has its full length already'),
            verdict: 'pass',
          };
        }
        const own = await shop.attackerIpn({ ...cheap, currency: payment.currency });
        const ipn = shop.ipnOf(payment).set('signature', own.get('signature')).set('trx', own.get('trx'));
        const shot = shop.shot(guessedAddress(targetOf(shop, payment)), ipn);
        const { shown, after } = await sendAndLook(shop, payment, shot);
        return judgeRefused(shop, before, after, shown, 'at-risk');
      }),
  },
];
