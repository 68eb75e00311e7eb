import type { AuditClass, AuditGroup } from '../../contract/audit.ts';
import {
  type AuditCase,
  type CaseText,
  evidence,
  judgeRefused,
  NO_ORDERS,
  refuses,
  skipped,
  type Target,
  targetOf,
  withOrder,
} from '../case.ts';
import type { Ipn } from '../ipn.ts';
import { withTokensOf } from '../tokens.ts';

const HARM =
  'An attacker pays once, for the cheapest thing or as a merchant of his own, and gets other orders for it.';

const text = (name: string, kind: AuditClass, about: string, group: AuditGroup = 'order'): CaseText => ({
  name,
  class: kind,
  group,
  about,
  harm: HARM,
  mistake: kind === 'E' ? 'order-not-by-identifier' : 'no-token-in-ipn-url',
});

/** The genuine IPN of a payment of the attacker, which costs the same as the order. */
const attackers = ({ shop, payment: { amount, currency } }: Target, identifier?: string) =>
  shop.attackerIpn({ amount, currency, ...(identifier !== undefined && { identifier }) });

const forged = (
  name: string,
  about: string,
  forge: (target: Target) => Promise<Ipn | string> | Ipn | string,
): AuditCase =>
  refuses(text(name, 'E', about), async (target) => {
    const ipn = await forge(target);
    return typeof ipn === 'string' ? ipn : target.post(ipn);
  });

/** A genuine IPN for an identifier that is nearly the order's own. */
const nearly = (name: string, about: string, change: (identifier: string) => string): AuditCase =>
  forged(name, about, ({ payment: { identifier }, ipn, shop }) => {
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
  const info = { ...text(name, 'G', about, 'merchant'), harm: SANDBOX_HARM };
  return {
    ...info,
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const target = targetOf(shop, payment);
        const ipn = await attackers(target, payment.identifier);
        const address = guessedAddress(target);
        const plain = shop.shot(address, ipn);
        const first = await shop.send(plain);
        const looked = await shop.lookAfterGrace(payment);
        const finding = judgeRefused(shop, before, looked, evidence(plain, first), 'at-risk');
        if (!flag || finding.verdict === 'at-risk') return finding;
        const flagged = shop.shot(address, ipn.and(flag));
        const second = await shop.send(flagged);
        const after = await shop.lookAfterGrace(payment);
        return judgeRefused(shop, before, after, evidence(flagged, second));
      }),
  };
}

const SANDBOX_HARM =
  'With the public key alone, which costs nothing, an attacker makes a sandbox payment for the identifier and amount of a live order, and its genuine IPN pays that order.';

export const ORDER: readonly AuditCase[] = [
  forged('other-ipn-to-order-url', "The attacker's own paid IPN, sent to the order's ipn_url.", (target) =>
    attackers(target),
  ),
  forged(
    'transaction-reused',
    "The attacker's own signature beside the identifier and transaction of the order.",
    async (target) => {
      const own = await attackers(target);
      return target.ipn.set('signature', own.get('signature')).set('trx', own.get('trx'));
    },
  ),
  {
    ...text(
      'other-paid-order',
      'E',
      'The genuine IPN of another paid order of the shop, sent to the ipn_url of this one.',
    ),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const other = await shop.parts.orders.take();
        if (!other) return skipped(NO_ORDERS);
        try {
          if (other.identifier === payment.identifier) {
            return skipped('both orders have the same identifier');
          }
          await shop.pay(other);
          const shot = shop.shot(shop.addressOf(payment), shop.ipnOf(other));
          const observation = await shop.send(shot);
          const after = await shop.lookAfterGrace(payment);
          return judgeRefused(shop, before, after, evidence(shot, observation));
        } finally {
          shop.parts.orders.release(other, false);
        }
      }),
  },
  {
    ...forged('identifier-unknown', 'A genuine IPN for an identifier that the shop never issued.', (target) =>
      attackers(target, 'no-such-order-here'),
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
    ...text(
      'splice',
      'splice',
      'A cheap sandbox payment whose amount and identifier, joined, are those of the order.',
      'amount',
    ),
    harm: 'With the public key and a sandbox payment of a single unit, an attacker gets a signature that is valid for the whole price of the order.',
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const { tools } = shop.parts;
        const spliced = tools.splice(payment.amount, payment.identifier);
        if (!spliced) {
          return {
            ...skipped('nothing of the amount fits into the identifier, which has its full length already'),
            verdict: 'pass',
          };
        }
        const own = await shop.attackerIpn({ ...spliced, currency: payment.currency });
        const ipn = shop.ipnOf(payment).set('signature', own.get('signature')).set('trx', own.get('trx'));
        const shot = shop.shot(guessedAddress(targetOf(shop, payment)), ipn);
        const observation = await shop.send(shot);
        const after = await shop.lookAfterGrace(payment);
        return judgeRefused(shop, before, after, evidence(shot, observation), 'at-risk');
      }),
  },
];
