import { splice } from '../../service/ipn.ts';
import {
  type AuditCase,
  attack,
  type Finding,
  family,
  rejected,
  skipped,
  type Target,
  withOrder,
  withoutPlace,
} from '../case.ts';
import { type Ipn, type Pair, tokensIn, withoutTokens, withTokensOf } from '../ipn.ts';

/*
 * What a sandbox payment of the attacker does to an order of the shop.
 */

/** The address that an attacker can guess: the order's, with the unguessable parts of the attacker's own order. */
export function guessedAddress({ shop, payment }: Target): { url: string; hasToken: boolean } {
  const own = shop.addressOf(payment);
  const other = shop.orders.made.find(({ id }) => id !== payment.id);
  const url = other ? withTokensOf(own, payment, shop.addressOf(other)) : own;
  return { url, hasToken: url !== own };
}

const BY_SANDBOX =
  'With only the public key, an attacker makes a sandbox payment with the identifier and amount of a live order. The genuine IPN of that payment marks the live order as paid.';

const WITH_OTHER_TOKEN =
  'The IPN of a sandbox payment paid the order at an address without its own token: with none, or with that of another order.';

/** An order that has a token was paid without it. */
const withoutItsToken = (finding: Finding): Finding => ({
  ...finding,
  ...(finding.verdict === 'at-risk' && { why: WITH_OTHER_TOKEN }),
  because: { mistake: 'token-not-checked', harm: BY_SANDBOX },
});

/** A sandbox payment with the order's identifier, and flags that a shop may obey. */
const sandbox = (flags: readonly Pair[] = []) =>
  withOrder(async (target) => {
    const { shop, payment } = target;
    const ipn = await shop.attackerIpn(payment, payment.identifier);
    const { url, hasToken } = guessedAddress(target);
    const named = (finding: Finding) => (hasToken ? withoutItsToken(finding) : finding);
    const finding = await attack(target, { url, body: ipn.form }, rejected(target, 'at-risk'));
    if (finding.verdict === 'at-risk') return named(finding);
    let last = finding;
    for (const flag of flags) {
      last = await attack(target, { url, body: ipn.and(flag).form }, rejected(target));
      if (last.verdict === 'fail') break;
    }
    return named(last);
  });

const HIDE_TOKEN = {
  text: 'Make the token of the ipn_url one of its own, and put it into no address that a browser sees.',
};

/** The IPN of the attacker's own payment at addresses that differ in their token. */
async function atEach(target: Target, urls: readonly string[], ipn: Ipn): Promise<Finding> {
  let finding = skipped('there is nothing to send');
  for (const url of urls) {
    finding = await attack(target, { url, body: ipn.form }, rejected(target, 'at-risk'));
    if (finding.verdict === 'at-risk') break;
  }
  return withoutItsToken(finding);
}

const FOR_LIVE = family({
  class: 'G',
  group: 'merchant',
  harm: BY_SANDBOX,
  mistake: 'no-token-in-ipn-url',
})({
  'sandbox-for-live': {
    about:
      "A genuine IPN of the attacker's own sandbox payment, made with the order's identifier and amount.",
    run: sandbox(),
  },
  'sandbox-without-token': {
    about:
      "The IPN of the attacker's sandbox payment, sent to the ipn_url without its token, with its first character, or with one that code may take for any: empty, 0, a list, or made up and also in the body and a cookie.",
    // A token may be a part of the path.
    run: withoutPlace(
      withOrder(async (target) => {
        const { shop, payment } = target;
        const own = shop.addressOf(payment);
        const other = shop.orders.made.find(({ id }) => id !== payment.id);
        const others = other && shop.addressOf(other);
        if (others === undefined || !tokensIn(own, payment, others).length)
          return skipped('the ipn_url has no unguessable part');
        const ipn = await shop.attackerIpn(payment, payment.identifier);
        const withToken = (instead: (token: string) => string) => withTokensOf(own, payment, others, instead);
        const urls = [
          ...['', '0', 'null', 'true', '%', '*'].map((text) => withToken(() => text)),
          withToken((token) => token.slice(0, 1)),
        ];
        const bare = withoutTokens(own, payment, others);
        // A token in the path cannot be left out, and is no list.
        if (bare !== own) urls.push(bare, withToken(() => '').replace(/=(?=&|$)/g, '[]='));
        const finding = await atEach(target, urls, ipn);
        if (finding.verdict === 'at-risk' || bare === own) return finding;
        // The same token in several places proves nothing if the sender made it up.
        const madeUp = withToken((token) => token.replace(/\w/g, '7'));
        const added = [...new URL(madeUp).searchParams].filter(
          ([name]) => !new URL(bare).searchParams.has(name),
        );
        const headers = [['Cookie', added.map((pair) => pair.join('=')).join('; ')]] as const;
        const everywhere = { url: madeUp, body: ipn.and(...added).form, headers };
        return withoutItsToken(await attack(target, everywhere, rejected(target, 'at-risk')));
      }),
    ),
  },
  'sandbox-known-token': {
    about:
      "The IPN of the attacker's sandbox payment, with the token of the ipn_url if the customer sees it in the success_url or cancel_url.",
    run: withOrder(async (target) => {
      const { shop, payment } = target;
      const url = shop.addressOf(payment);
      const other = shop.orders.made.find(({ id }) => id !== payment.id);
      const tokens = other ? tokensIn(url, payment, shop.addressOf(other)) : [];
      const isSeen = tokens.some((token) =>
        [payment.successUrl, payment.cancelUrl].some((page) => page.includes(token)),
      );
      if (!isSeen) {
        const why = 'the customer sees no unguessable part of the ipn_url';
        return { ...skipped(why), verdict: 'pass' };
      }
      const finding = await atEach(target, [url], await shop.attackerIpn(payment, payment.identifier));
      return { ...finding, fix: HIDE_TOKEN };
    }),
  },
  'sandbox-flag': {
    about: "The IPN of the attacker's sandbox payment, with flags such as test=1 or mode=sandbox added.",
    run: sandbox([
      ['test', '1'],
      ['sandbox', '1'],
      ['mode', 'sandbox'],
    ]),
  },
});

const SPLICE = family({
  class: 'splice',
  group: 'amount',
  harm: 'With the public key and a tiny sandbox payment, an attacker gets a signature that is valid for the full price of the order.',
  mistake: 'no-token-in-ipn-url',
})({
  splice: {
    about: 'A cheap sandbox payment whose amount and identifier, concatenated, equal those of the order.',
    run: withOrder(async (target) => {
      const { shop, payment } = target;
      const cheap = splice(payment.amount, payment.identifier);
      if (!cheap) {
        const why = 'the identifier has its maximum length, so no digit of the amount can move into it';
        return { ...skipped(why), verdict: 'pass' };
      }
      const own = await shop.attackerIpn(
        { amount: cheap.amount, currency: payment.currency },
        cheap.identifier,
      );
      const ipn = target.ipn.set('signature', own.get('signature')).set('trx', own.get('trx'));
      const { url, hasToken } = guessedAddress(target);
      const finding = await attack(target, { url, body: ipn.form }, rejected(target, 'at-risk'));
      return hasToken ? withoutItsToken(finding) : finding;
    }),
  },
});

export const SANDBOX: readonly AuditCase[] = [...FOR_LIVE, ...SPLICE];
