import {
  type AuditCase,
  afterPayment,
  type CaseText,
  family,
  isCountOrLog,
  rejects,
  sendAndLook,
  type Target,
  withoutProbe,
} from '../case.ts';
import type { Ipn } from '../ipn.ts';
import type { OrderSnapshot } from '../probe.ts';
import { numericChanges } from '../shop.ts';

/** A charge that no real order would have. */
const OTHER_CHARGE = '12345.67';

const text = family({
  class: 'D',
  group: 'amount',
  harm: 'The customer pays less than the order costs, or in a weaker currency, and still receives everything.',
  mistake: 'amount-not-compared',
});

/** A validly signed IPN with a different amount. */
const withAmount =
  (change: (amount: string) => string) =>
  ({ ipn, shop }: Target) =>
    ipn.set('amount', change(ipn.get('amount'))).signedWith(shop.parts.gateway.secretKey);

/** A shop loses nothing if it accepts more than the order costs. */
function notTheTotal(info: CaseText, change: (price: string) => string): AuditCase {
  const one = rejects(info, withAmount(change));
  return {
    ...one,
    run: async (shop) => {
      const finding = await one.run(shop);
      const { unpaid } = finding;
      if (!unpaid || Number(change(unpaid.amount)) < Number(unpaid.amount)) return finding;
      const why = 'Your shop accepts overpayments. It loses nothing, but customers may ask for a refund.';
      return { ...finding, verdict: 'note', why };
    },
  };
}

const otherCurrency = (ipn: Ipn) => ipn.set('currency', ipn.get('currency') === 'GNF' ? 'USD' : 'GNF');

export const AMOUNT: readonly AuditCase[] = [
  rejects(
    text('amount-too-low', 'A validly signed IPN for a hundredth of the price.'),
    withAmount(hundredth),
  ),
  rejects(
    text(
      'amount-cut',
      'A validly signed IPN for a lower amount that truncates or rounds to the same whole number as the price.',
    ),
    (target) => {
      const price = target.ipn.get('amount');
      const less = wholeUnits(price).filter((amount) => Number(amount) > 0 && Number(amount) < Number(price));
      if (!less.length) return 'no lower amount has the same whole units as the price';
      return less.map((amount) => withAmount(() => amount)(target));
    },
  ),
  notTheTotal(
    text('amount-too-high', 'A validly signed IPN for more than the price.'),
    (price) => `9${price}`,
  ),
  rejects(
    text('amount-zero', 'A validly signed IPN for zero.'),
    withAmount(() => '0.00'),
  ),
  rejects(
    text('amount-negative', 'A validly signed IPN for a negative amount.'),
    withAmount((price) => `-${price}`),
  ),
  notTheTotal(
    text('amount-exponent', 'A validly signed IPN for 1e2, which some languages read as 100.'),
    // For an order of 100, a shop that parses 1e2 loses nothing.
    (price) => (Number(price) === 100 ? '1e3' : '1e2'),
  ),
  rejects(
    text('amount-exponent-low', 'A validly signed IPN for 1e-2, which some languages read as 0.01.'),
    withAmount((price) => (Number(price) === 0.01 ? '1e-3' : '1e-2')),
  ),
  rejects(
    text('currency-other', 'A validly signed IPN in a different currency (the currency is not signed).'),
    ({ ipn }) => otherCurrency(ipn),
  ),
  rejects(text('currency-missing', 'A validly signed IPN without a currency.'), ({ ipn }) =>
    ipn.unset('currency'),
  ),
  rejects(
    {
      ...text(
        'key-of-other-merchant',
        "An IPN for a payment to another merchant, signed with that merchant's key.",
      ),
      group: 'merchant',
      mistake: 'signature-not-checked',
    },
    ({ ipn }) => ipn.signedWith('sec_sim_of_another_merchant_0001'),
  ),
  rejects(text('amount-changed', 'An IPN whose amount was changed after signing.'), ({ ipn }) =>
    ipn.set('amount', hundredth(ipn.get('amount'))),
  ),
  rejects(
    text('currency-and-amount-changed', 'An IPN whose currency and amount were changed after signing.'),
    ({ ipn }) => otherCurrency(ipn).set('amount', hundredth(ipn.get('amount'))),
  ),
  afterPayment(
    {
      ...text(
        'charge-changed',
        'A copy of a genuine IPN with a different charge (the charge is not signed).',
      ),
      harm: 'Anyone who can replay an IPN can change the charge that the shop recorded.',
      mistake: 'paid-more-than-once',
      // The probe may also report shared data, such as the stock.
      alone: true,
    },
    async ({ shop, payment, ipn, post }, { look, request: genuine }) => {
      // The cases of class `once` test the effect of an unchanged copy.
      const { after: copied } = await sendAndLook(shop, payment, genuine);
      const { shown, after } = await sendAndLook(shop, payment, post(ipn.set('charge', OTHER_CHARGE)));
      if (!shop.canLook) return { ...shown, ...withoutProbe('what changed') };
      const outputOf = ({ text, effects }: OrderSnapshot) => [text, ...effects.values()].join('\n');
      const isShown = outputOf(after).includes(OTHER_CHARGE) && !outputOf(look).includes(OTHER_CHARGE);
      const isMoved = movesOtherwise(look, copied, after);
      const isHarmed = after.paid === false || isShown || isMoved;
      return { ...shown, verdict: isHarmed ? 'fail' : 'pass' };
    },
  ),
];

/** Whether the second step changes the order differently from the first. */
function movesOtherwise(look: OrderSnapshot, copied: OrderSnapshot, after: OrderSnapshot): boolean {
  if (!isCountOrLog(copied.text, after.text)) return true;
  const [before, last] = [numericChanges(look, copied), numericChanges(copied, after)];
  return before.size !== last.size || [...last].some(([place, change]) => before.get(place) !== change);
}

/** The lowest amounts that equal a price when both are truncated, or rounded, to whole units. */
function wholeUnits(price: string): string[] {
  const [whole = '0', fraction = ''] = price.split('.');
  return [`${whole}.00`, `${fraction >= '5' ? whole : BigInt(whole) - 1n}.50`];
}

/** A hundredth of an amount, as decimal text, at least 0.01. */
function hundredth(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.');
  const digits = whole.padStart(3, '0');
  const shifted = `${digits.slice(0, -2)}.${digits.slice(-2)}${fraction}`.slice(0, 20);
  return /[1-9]/.test(shifted) ? shifted : '0.01';
}
