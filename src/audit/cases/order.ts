import { GatewayError } from '../../contract/error.ts';
import { DOCUMENTED_CURRENCIES } from '../../domain/money.ts';
import {
  type AuditCase,
  afterPayment,
  attack,
  BAD_IPNS,
  type Cases,
  type Finding,
  fail,
  family,
  IS_PAID,
  NO_ORDERS,
  PAYS_FOR_LESS,
  PAYS_OTHER_ORDERS,
  type Run,
  rejected,
  rejects,
  send,
  skipped,
  type Target,
  withOrder,
} from '../case.ts';
import { curlsOf, requestText } from '../client.ts';
import {
  hundredth,
  type Ipn,
  type Pair,
  swapCase,
  tokensIn,
  withoutTokens,
  withQuery,
  withTokensOf,
} from '../ipn.ts';
import { isCountOrLog, numericChanges, type OrderSnapshot } from '../probe.ts';
import type { Shop } from '../shop.ts';

/*
 * An IPN pays its own order and no other, and only if the customer paid the price.
 */

type MakeUrl = (target: Target) => string;

type Change = (identifier: string) => string | readonly string[];

const almost = (change: Change, urlOf: MakeUrl) =>
  rejects((target) => {
    const { payment, ipn, shop } = target;
    const changed = [change(payment.identifier)].flat().filter((one) => one !== payment.identifier);
    if (!changed.length) return 'the identifier has no letter to change';
    return changed.map((one) => {
      const { form } = ipn.set('identifier', one).signedWith(shop.gateway.secretKey);
      return { url: urlOf(target), body: form };
    });
  });

/**
 * Genuine IPNs for identifiers that are almost the same as the order's. If one pays the order only at the address with
 * the order's own token, nobody else can send it.
 */
const nearly =
  (change: Change): Run =>
  async (shop) => {
    const finding = await almost(change, ({ payment }) => shop.addressOf(payment))(shop);
    if (finding.verdict !== 'fail') return finding;
    const guessed = await almost(change, (target) => guessedAddress(target).url)(shop);
    if (guessed.verdict !== 'pass') return guessed;
    const why =
      'Your shop finds an order by an identifier that is not exactly its own. The token in its ipn_url keeps others from using that.';
    return { ...finding, verdict: 'note', why };
  };

/** From an ASCII character to its wide form. */
const TO_FULL_WIDTH = 0xfee0;

const ACCENTED: Readonly<Record<string, string>> = {
  a: 'á',
  c: 'ç',
  e: 'é',
  i: 'í',
  n: 'ñ',
  o: 'ó',
  u: 'ú',
  y: 'ý',
  z: 'ž',
};

/** An identifier that the shop never issued. */
const UNKNOWN = 'no-such-order-here';

const FORGET_UNKNOWN = {
  text: 'An IPN for an identifier that is not one of your orders must change nothing, and must not be remembered.',
};

/** The identifiers that a counter gives to the next orders. */
function followingIdentifiers(identifier: string): string[] {
  const [, head = '', tail = ''] = /^(.*?)(\d{1,15})$/s.exec(identifier) ?? [];
  return tail === ''
    ? []
    : [1, 2, 3].map((step) => head + String(Number(tail) + step).padStart(tail.length, '0'));
}

/** Whether the probe reports an order as paid that nobody placed. It must tell orders apart by nothing but the identifier. */
async function isPaidUnknown(shop: Shop): Promise<boolean> {
  const { control, probes, witness } = shop;
  if (!control || !probes.probe || probes.distinguishes || witness) return false;
  const unknown = { ...control.payment, id: '', identifier: UNKNOWN };
  const { paid } = await shop.look(unknown).catch((error: unknown) => {
    // Most shops have no such order.
    if (error instanceof GatewayError) return { paid: false };
    throw error;
  });
  return paid === true;
}

const IDENTIFIER = family({
  class: 'E',
  group: 'order',
  harm: PAYS_OTHER_ORDERS,
  mistake: 'order-not-by-identifier',
})({
  'other-ipn-to-order-url': {
    about: "The genuine IPN of the attacker's own payment, sent to the order's ipn_url.",
    run: rejects(({ shop, payment }) => shop.attackerIpn(payment)),
  },
  'transaction-reused': {
    about: "The attacker's signature and payment_trx with the identifier and amount of the order.",
    run: rejects(async ({ shop, payment, ipn }) => {
      const own = await shop.attackerIpn(payment);
      return ipn.set('signature', own.get('signature')).set('trx', own.get('trx'));
    }),
    mistake: 'signature-not-checked',
  },
  'transaction-of-order': {
    about: "The attacker's own genuine IPN with the payment_trx of the order, which is not signed.",
    run: rejects(async ({ shop, payment, ipn }) =>
      (await shop.attackerIpn(payment)).set('trx', ipn.get('trx')),
    ),
  },
  'other-paid-order': {
    about: "The genuine IPN of another paid order, sent to this order's ipn_url.",
    run: withOrder(async (target) => {
      const { shop, payment } = target;
      using other = await shop.takeOrder();
      if (!other) return skipped(NO_ORDERS);
      const paid = other.payment;
      if (paid.identifier === payment.identifier) return skipped('both orders have the same identifier');
      await shop.pay(paid);
      return await attack(target, shop.ipnOf(paid), rejected(target));
    }),
  },
  'identifier-unknown': {
    about: 'A genuine IPN for an identifier that the shop never issued.',
    run: async (shop) => {
      const finding = await rejects(({ payment }) => shop.attackerIpn(payment, UNKNOWN))(shop);
      const isMade = finding.verdict === 'pass' && (await isPaidUnknown(shop));
      const why = `Your shop now has a paid order "${UNKNOWN}", which nobody placed.`;
      return isMade ? { ...finding, ...fail(why) } : finding;
    },
    // A shop that falls back to its newest order shows this only while no other case places orders.
    alone: true,
  },
  'identifier-of-next-order': {
    state: 'no order has this identifier; after it, place the next order',
    about: 'IPNs that must not pay, for the next identifiers, before the order with one of them is placed.',
    run: async (shop) => {
      using second = await shop.takeOrder();
      const known = shop.orders.made.at(-1);
      if (!second || !known || shop.orders.areLimited) return skipped(NO_ORDERS);
      second.isUntouched = true;
      const next = followingIdentifiers(known.identifier);
      const isSequential = shop.orders.made.some(({ identifier }) =>
        followingIdentifiers(identifier).includes(known.identifier),
      );
      const nothing = { sent: null, observed: 'nobody can name an order before it is placed', curl: null };
      if (!isSequential) return { ...nothing, verdict: 'pass' };
      const requests = next.flatMap((identifier) => {
        const payment = {
          ...known,
          identifier,
          ipnUrl: known.ipnUrl.replaceAll(known.identifier, identifier),
        };
        const ipn = shop.ipnOf(payment);
        const forged = BAD_IPNS.map((change) => change(ipn, shop.gateway.secretKey));
        return forged.map(shop.postOf(payment));
      });
      for (const request of requests) await shop.send(request);
      using order = await shop.takeOrder();
      const shown = { sent: requests.map(requestText).join('\n'), curl: curlsOf(requests) };
      if (!order || !next.includes(order.payment.identifier)) return { ...nothing, verdict: 'pass' };
      const { paid } = await shop.lookAfterGrace(order.payment);
      return paid
        ? {
            ...shown,
            ...fail('The order was paid as soon as it was placed.', { fix: FORGET_UNKNOWN }),
            observed: 'the order is paid',
          }
        : { ...shown, verdict: 'pass', observed: 'the order is not paid' };
    },
    harm: 'Anyone who guesses the identifier of a future order can have it paid by a forged IPN.',
    alone: true,
  },
  'identifier-case': {
    about: 'A genuine IPN for the identifier in a different letter case.',
    run: nearly(swapCase),
  },
  'identifier-spaces': {
    about: 'Genuine IPNs for the identifier with white space before or after it.',
    run: nearly((text) => [`${text} `, ` ${text}`, `${text}\t`, `${text}\n`, `${text}\u00a0`, `${text}\0`]),
  },
  'identifier-prefix': {
    about: 'Genuine IPNs for the identifier with something before it, such as a zero.',
    run: nearly((text) => [`0${text}`, `x${text}`, `x-${text}`, `./${text}`, `x/../${text}`]),
  },
  'identifier-suffix': {
    about: 'Genuine IPNs for the identifier with something after it, such as -2 or a letter.',
    run: nearly((text) => ['x', '-2', '_2', '/2', '.0', 'e0', ':2', '|2'].map((end) => text + end)),
  },
  'identifier-part': {
    about: 'Genuine IPNs for identifiers that only begin, or end, like that of the order.',
    run: nearly((text) => [
      text.slice(0, Math.ceil(text.length / 2)).padEnd(text.length, 'z'),
      text.slice(Math.floor(text.length / 2)).padStart(text.length, 'z'),
      `${text.slice(0, -1)}z`,
      `z${text.slice(1)}`,
    ]),
  },
  'identifier-accent': {
    about:
      'Genuine IPNs for the identifier with an accented letter or a wide character, which some databases treat as the plain one.',
    run: nearly((text) => [
      text.replace(/[aceinouyz]/i, (letter) => ACCENTED[letter.toLowerCase()] ?? letter),
      text.replace(/[a-z\d]/i, (letter) => String.fromCodePoint(letter.charCodeAt(0) + TO_FULL_WIDTH)),
    ]),
  },
  'identifier-wildcard': {
    about: 'Genuine IPNs for the identifier with its end replaced by a wildcard, such as % or .*.',
    run: rejects(({ payment: { identifier }, ipn, shop }) =>
      ['_', '%', '.', '*', '.*', '?']
        .map((end) => identifier.slice(0, -1) + end)
        .map((pattern) => ipn.set('identifier', pattern).signedWith(shop.gateway.secretKey)),
    ),
  },
});

/** The address that an attacker can guess: the order's, with the unguessable parts of the attacker's own order. */
function guessedAddress({ shop, payment }: Target): { url: string; hasToken: boolean } {
  const own = shop.addressOf(payment);
  const other = shop.orders.made.find(({ id }) => id !== payment.id);
  const url = other ? withTokensOf(own, payment, shop.addressOf(other)) : own;
  return { url, hasToken: url !== own };
}

const BY_SANDBOX =
  'With only the public key, an attacker makes a sandbox payment with the identifier and amount of a live order. The genuine IPN of that payment marks the live order as paid.';

/** An order that has a token was paid without it. */
const withoutItsToken = (finding: Finding): Finding => ({
  ...finding,
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

const SANDBOX = family({
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
    run: withOrder(async (target) => {
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
      const cheap = shop.tools.splice(payment.amount, payment.identifier);
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

/** A validly signed IPN with a different amount. */
const withAmount = ({ ipn, shop }: Target, change: (price: string) => string) =>
  // Without a charge, so that only the amount is wrong.
  ipn
    .set('amount', change(ipn.get('amount')))
    .set('charge', '0.00')
    .signedWith(shop.gateway.secretKey);

/** Amounts that a shop may take for its price. */
interface OtherAmount {
  about: string;
  values: (price: string) => readonly string[];
}

/** The lower amounts that equal a price when both are truncated, or rounded, to whole units. */
function cut(price: string): string[] {
  const [whole = '0', fraction = ''] = price.split('.');
  return [`${whole}.00`, `${fraction >= '5' ? whole : BigInt(whole) - 1n}.50`];
}

const near = (price: string) =>
  [0.999, 0.995, 0.991].map((part) => (Math.floor(Number(price) * part * 100) / 100).toFixed(2));

/** Lower amounts whose text is greater than that of the price, or a part of it. */
function asText(price: string): string[] {
  const [first = '', ...rest] = price;
  const [whole = '', fraction = ''] = price.split('.');
  return [`${Number(first) + 1}.00`, first, price.slice(0, -1), rest.join(''), whole, fraction];
}

const isLess = (amount: string, price: string) => Number(amount) > 0 && Number(amount) < Number(price);
const lower = (values: (price: string) => readonly string[]) => (price: string) =>
  values(price).filter((amount) => isLess(amount, price));

const AMOUNTS: Readonly<Record<string, OtherAmount>> = {
  'too-low': {
    about: 'a hundredth of the price, twice, and for the amounts of tests: 0.01 and 1.00',
    values: lower((price) => [hundredth(price), hundredth(price), '0.01', '1.00']),
  },
  cut: {
    about: 'a lower amount that truncates or rounds to the same whole number as the price',
    values: lower(cut),
  },
  near: { about: 'an amount that is between 0.1 and 1 percent lower than the price', values: lower(near) },
  text: {
    about:
      'a lower amount that is greater than the price if both are compared as text, or a part of its text',
    values: lower(asText),
  },
  'not-a-number': {
    about: 'a text that is no number, which no comparison rejects',
    values: () => ['1x', 'x1', 'NaN', '1,5', '+'],
  },
  'too-high': { about: 'more than the price', values: (price) => [`9${price}`] },
  zero: { about: 'zero', values: () => ['0.00'] },
  negative: { about: 'a negative amount', values: (price) => [`-${price}`] },
  exponent: {
    about: '1e2 and 1e-2, which some languages read as 100 and 0.01',
    // For an order of 100, a shop that parses 1e2 loses nothing.
    values: (price) => [Number(price) === 100 ? '1e3' : '1e2', Number(price) === 0.01 ? '1e-3' : '1e-2'],
  },
};

/** A validly signed IPN for each of these amounts. */
const forAmounts = (values: OtherAmount['values']) =>
  rejects((target) => {
    const all = values(target.ipn.get('amount'));
    return all.length
      ? all.map((amount) => withAmount(target, () => amount))
      : 'there is no such amount for this price';
  });

/** A shop loses nothing if it accepts more than the order costs. */
function otherAmount(values: OtherAmount['values']): Run {
  const any = forAmounts(values);
  return async (shop) => {
    const finding = await any(shop);
    const { unpaid } = finding;
    const isMore = (price: string) => (amount: string) => Number(amount) > Number(price);
    if (!unpaid || !values(unpaid.amount).some(isMore(unpaid.amount))) return finding;
    const others = await forAmounts((price) => values(price).filter((one) => !isMore(price)(one)))(shop);
    if (others.verdict === 'fail') return others;
    const why = 'Your shop accepts overpayments. It loses nothing, but customers may ask for a refund.';
    return { ...finding, verdict: 'note', why };
  };
}

const otherAmounts: Cases = Object.fromEntries(
  Object.entries(AMOUNTS).map(([name, { about, values }]) => [
    `amount-${name}`,
    { about: `A validly signed IPN for ${about}.`, run: otherAmount(values) },
  ]),
);

/** The IPN in each documented currency that is not its own, and in one that nobody knows. */
const otherCurrencies = (ipn: Ipn) =>
  [...DOCUMENTED_CURRENCIES.map(({ code }) => code), 'XTS']
    .filter((code) => code !== ipn.get('currency'))
    .map((code) => ipn.set('currency', code));

/** Names under which a shop may keep the price of an order. */
const TOTAL_NAMES = [
  'total',
  'amount',
  'price',
  'order_total',
  'order[total]',
  'expected_amount',
  'expected',
  'data[total]',
  'data[price]',
];

/** A charge that no real order would have. */
const OTHER_CHARGE = '12345.67';

/** Whether the second step changes the order differently from the first. */
async function movesOtherwise(
  shop: Shop,
  paid: OrderSnapshot,
  copied: OrderSnapshot,
  after: OrderSnapshot,
): Promise<boolean> {
  if (shop.witness) {
    const before = await shop.changesOf(paid, copied);
    return (await shop.changesOf(copied, after)).some((place) => !before.includes(place));
  }
  if (!isCountOrLog(copied.text, after.text)) return true;
  const isRecord = await shop.records();
  const [before, last] = [numericChanges(paid, copied), numericChanges(copied, after)].map(
    (changes) => new Map([...changes].filter(([place]) => !isRecord(place))),
  ) as [Map<string, number>, Map<string, number>];
  return before.size !== last.size || [...last].some(([place, change]) => before.get(place) !== change);
}

const AMOUNT = family({
  class: 'D',
  group: 'amount',
  harm: PAYS_FOR_LESS,
  mistake: 'amount-not-compared',
})({
  ...otherAmounts,
  'amount-less-charge': {
    about:
      'A validly signed IPN for less than the price, with the difference as its charge, or as a negative one (the charge is not signed).',
    run: rejects((target) => {
      const price = target.ipn.get('amount');
      const low = '0.01';
      const difference = (Number(price) - Number(low)).toFixed(2);
      return [difference, `-${difference}`].map((charge) =>
        withAmount(target, () => low).set('charge', charge),
      );
    }),
  },
  'amount-doubled': {
    about:
      'A validly signed IPN for a hundredth of the price, with the price as a second amount, also under other names: a shop may verify one and compare the other.',
    run: rejects((target) => {
      const price = target.ipn.get('amount');
      const low = withAmount(target, hundredth);
      const pair = [low.nameOf('amount'), price] as const;
      const others = [pair, ...TOTAL_NAMES.map((name) => [name, price] as const)];
      const inQuery = { ...target.post(low), url: withQuery(target.post(low).url, ...others) };
      return [low.and(pair), low.after(pair), low.and(...others.slice(1)), inQuery];
    }),
  },
  'amount-in-parts': {
    about:
      'One payment of a third of the price, sent three times with different payment_trx values, which are not signed.',
    run: rejects((target) => {
      const third = (Math.ceil((Number(target.ipn.get('amount')) * 100) / 3) / 100).toFixed(2);
      const part = withAmount(target, () => third);
      return ['A', 'B', 'C'].map((last) => part.set('trx', part.get('trx').slice(0, -1) + last));
    }),
    harm: 'A customer who pays a part of the price gets the whole order: copies of one IPN count as further payments.',
  },
  'amount-with-total': {
    about:
      'A validly signed IPN for a hundredth of the price, with that as total, price and the like: a shop may copy every field onto its order.',
    run: rejects((target) => {
      const low = withAmount(target, hundredth);
      const totals: Pair[] = TOTAL_NAMES.map((name) => [name, low.get('amount')]);
      // A field may also replace the whole order.
      for (const name of ['currency', 'identifier'] as const) totals.push([`order[${name}]`, low.get(name)]);
      return [low.and(...totals), { ...target.post(low), url: withQuery(target.post(low).url, ...totals) }];
    }),
  },
  'currency-other': {
    about:
      'Validly signed IPNs in each different currency, for the number of the price and for a hundredth of it (the currency is not signed).',
    run: rejects((target) => [target.ipn, withAmount(target, hundredth)].flatMap(otherCurrencies)),
  },
  'currency-missing': {
    about: 'A validly signed IPN without a currency.',
    run: rejects(({ ipn }) => ipn.unset('currency')),
  },
  'key-of-other-merchant': {
    about: "An IPN for a payment to another merchant, signed with that merchant's key.",
    run: rejects(({ ipn }) => ipn.signedWith('sec_sim_of_another_merchant_0001')),
    group: 'merchant',
    mistake: 'signature-not-checked',
  },
  'amount-changed': {
    about: 'An IPN whose amount was changed after signing.',
    run: rejects(({ ipn }) => ipn.set('amount', hundredth(ipn.get('amount')))),
  },
  'charge-changed': {
    about: 'A copy of a genuine IPN with a different charge (the charge is not signed).',
    run: afterPayment(async (target) => {
      const { shop, payment, ipn, paid } = target;
      // The cases of class `once` test the effect of an unchanged copy.
      await send(target, ipn);
      const copied = await shop.lookAfterGrace(payment);
      const outputOf = ({ text, effects }: OrderSnapshot) => [text, ...effects.values()].join('\n');
      return attack(
        target,
        ipn.set('charge', OTHER_CHARGE),
        async (after) => {
          const isShown = outputOf(after).includes(OTHER_CHARGE) && !outputOf(paid).includes(OTHER_CHARGE);
          const isMoved = await movesOtherwise(shop, paid, copied, after);
          return { verdict: after.paid === false || isShown || isMoved ? 'fail' : 'pass' };
        },
        'what changed',
      );
    }),
    harm: 'Anyone who can replay an IPN can change the charge that the shop recorded.',
    state: `${IS_PAID}, and arrived again`,
    mistake: 'paid-more-than-once',
    // The probe may also report shared data, such as the stock.
    alone: true,
  },
});

export const ORDER: readonly AuditCase[] = [...IDENTIFIER, ...SANDBOX, ...SPLICE, ...AMOUNT];
