import { INITIATE_FIELDS } from '../../contract/request-fields.ts';
import { DOCUMENTED_CURRENCIES } from '../../domain/money.ts';
import { isCountOrLog, numericChanges, type OrderSnapshot } from '../../shop/probe.ts';
import {
  type AuditCase,
  afterPayment,
  attack,
  type Cases,
  family,
  IS_PAID,
  PAYS_FOR_LESS,
  PAYS_OTHER_ORDERS,
  passesWith,
  type Run,
  rejects,
  send,
  type Target,
} from '../case.ts';
import { hundredth, type Ipn, type Pair, withQuery } from '../ipn.ts';
import type { Shop } from '../shop.ts';
import { guessedAddress } from './sandbox.ts';

/*
 * An IPN pays an order only if the customer paid the price, in its currency.
 */

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

/** A price of thousands with a mark that is also a decimal point, such as 1.250 for 1250.00. */
const withMark = (price: string) => price.replace(/^(\d+)(\d{3})(?:\.0*)?$/, '$1.$2');

/** Lower amounts whose text is greater than that of the price, a part of it, or the same with a mark of thousands. */
function asText(price: string): string[] {
  const [first = '', ...rest] = price;
  const [whole = '', fraction = ''] = price.split('.');
  const parts = [first, price.slice(0, -1), rest.join(''), whole, fraction];
  return [`${Number(first) + 1}.00`, ...parts, withMark(price)];
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
      'a lower amount that is greater than the price if both are compared as text, is a part of its text, or is the same with a mark of thousands',
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
  return passesWith(any, async (shop) => {
    const finding = await any(shop);
    const { unpaid } = finding;
    const isMore = (price: string) => (amount: string) => Number(amount) > Number(price);
    if (!unpaid || !values(unpaid.amount).some(isMore(unpaid.amount))) return finding;
    const others = await forAmounts((price) => values(price).filter((one) => !isMore(price)(one)))(shop);
    if (others.verdict === 'fail') return others;
    const why = 'Your shop accepts overpayments. It loses nothing, but customers may ask for a refund.';
    return { ...finding, verdict: 'note', why };
  });
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

const NOTHING_LESS = 'the order costs the smallest amount, so nothing is less';

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

export const AMOUNT: readonly AuditCase[] = family({
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
      if (Number(price) <= Number(low)) return NOTHING_LESS;
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
  'amount-with-digit': {
    about:
      "An IPN for the price with a digit more, such as 10.001, with the signature of the attacker's own payment whose identifier begins with that digit: the signed text is the same.",
    run: rejects(async (target) => {
      const { shop, payment, ipn } = target;
      const other = `1${payment.identifier}`;
      if (other.length > INITIATE_FIELDS.identifier.max)
        return { safe: 'the identifier has its maximum length, so no other ends with it' };
      const own = await shop.attackerIpn(payment, other);
      const { url } = guessedAddress(target);
      const spliced = ipn.set('amount', `${ipn.get('amount')}1`).set('signature', own.get('signature'));
      return { url, body: spliced.form };
    }),
    harm: PAYS_OTHER_ORDERS,
  },
  'amount-in-parts': {
    about:
      'One payment of a third of the price, sent three times with different payment_trx values, which are not signed.',
    run: rejects((target) => {
      const price = Number(target.ipn.get('amount'));
      const third = (Math.ceil((price * 100) / 3) / 100).toFixed(2);
      if (price <= Number(third)) return NOTHING_LESS;
      const part = withAmount(target, () => third);
      return ['A', 'B', 'C'].map((last) => part.set('trx', part.get('trx').slice(0, -1) + last));
    }),
    harm: 'A customer who pays a part of the price gets the whole order: copies of one IPN count as further payments.',
    state: 'the order is pending; send these in this order',
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
      const copied = await shop.lookAfterRest(payment);
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
    alone: 'counts',
  },
});
