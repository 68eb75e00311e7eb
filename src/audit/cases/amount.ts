import {
  type AuditCase,
  afterPayment,
  type CaseText,
  family,
  isCountOrLog,
  refuses,
  sendAndLook,
  type Target,
  withoutProbe,
} from '../case.ts';
import type { Ipn } from '../ipn.ts';
import type { OrderSnapshot } from '../probe.ts';
import { numericChanges } from '../shop.ts';

/** No order has it by chance. */
const OTHER_CHARGE = '12345.67';
const OTHER_CURRENCIES = ['GNF', 'USD'];

const text = family({
  class: 'D',
  group: 'amount',
  harm: 'The customer pays less than the order costs, or in a currency that is worth less, and gets all of it.',
  mistake: 'amount-not-compared',
});

/** Validly signed over another amount: it must be refused for what it says. */
const withAmount =
  (change: (amount: string) => string) =>
  ({ ipn, shop }: Target) =>
    ipn.set('amount', change(ipn.get('amount'))).signedWith(shop.parts.gateway.secretKey);

/** Where more was paid than the order costs, a shop that takes it loses nothing. */
function notTheTotal(info: CaseText, change: (price: string) => string): AuditCase {
  const one = refuses(info, withAmount(change));
  return {
    ...one,
    run: async (shop) => {
      const finding = await one.run(shop);
      const { unpaid } = finding;
      if (!unpaid || Number(change(unpaid.amount)) < Number(unpaid.amount)) return finding;
      const why =
        'The shop takes more than the order costs: nobody loses, but the customer may ask for it back.';
      return { ...finding, verdict: 'note', why };
    },
  };
}

const otherCurrency = (ipn: Ipn) =>
  ipn.set('currency', OTHER_CURRENCIES.find((code) => code !== ipn.get('currency')) ?? 'GNF');

export const AMOUNT: readonly AuditCase[] = [
  refuses(text('amount-too-low', 'A valid signature over a hundredth of the price.'), withAmount(hundredth)),
  refuses(text('amount-cut', 'A valid signature over the price without its fraction.'), (target) => {
    const cut = withAmount((price) => `${price.split('.')[0]}.00`)(target);
    const isSame = Number(cut.get('amount')) === Number(target.ipn.get('amount'));
    return isSame ? 'the price has no fraction' : cut;
  }),
  notTheTotal(text('amount-too-high', 'A valid signature over more than the price.'), (price) => `9${price}`),
  refuses(
    text('amount-zero', 'A valid signature over nothing.'),
    withAmount(() => '0.00'),
  ),
  refuses(
    text('amount-negative', 'A valid signature over a negative amount.'),
    withAmount((price) => `-${price}`),
  ),
  notTheTotal(
    text('amount-exponent', 'A valid signature over 1e2, which some languages read as 100.'),
    // Where the order costs 100, a shop that reads it as a number has lost nothing.
    (price) => (Number(price) === 100 ? '1e3' : '1e2'),
  ),
  refuses(
    text('amount-exponent-low', 'A valid signature over 1e-2, which some languages read as 0.01.'),
    withAmount((price) => (Number(price) === 0.01 ? '1e-3' : '1e-2')),
  ),
  refuses(
    text('currency-other', 'A valid signature, which does not cover the currency, and another currency.'),
    ({ ipn }) => otherCurrency(ipn),
  ),
  refuses(text('currency-missing', 'A valid signature, and no currency.'), ({ ipn }) =>
    ipn.unset('currency'),
  ),
  refuses(
    {
      ...text(
        'key-of-other-merchant',
        'Signed by another merchant of the same gateway, who was paid instead.',
      ),
      group: 'merchant',
    },
    ({ ipn }) => ipn.signedWith('sec_sim_of_another_merchant_0001'),
  ),
  refuses(text('amount-changed', 'The amount changed after signing.'), ({ ipn }) =>
    ipn.set('amount', hundredth(ipn.get('amount'))),
  ),
  refuses(text('currency-and-amount-changed', 'Currency and amount changed after signing.'), ({ ipn }) =>
    otherCurrency(ipn).set('amount', hundredth(ipn.get('amount'))),
  ),
  afterPayment(
    {
      ...text('charge-changed', 'The charge, which is not signed, changed in a copy of a genuine IPN.'),
      harm: 'Whoever can repeat an IPN changes what the order is worth.',
      // What the probe says of the order may tell of others, too: the stock.
      alone: true,
    },
    async ({ shop, payment, ipn, post }, { look, shot: genuine }) => {
      // What any copy does belongs to the cases of once.
      const { after: copied } = await sendAndLook(shop, payment, genuine);
      const { shown, after } = await sendAndLook(shop, payment, post(ipn.set('charge', OTHER_CHARGE)));
      if (!shop.canLook) return { ...shown, ...withoutProbe('what changed') };
      const said = ({ text, effects }: OrderSnapshot) => [text, ...effects.values()].join('\n');
      const isShown = said(after).includes(OTHER_CHARGE) && !said(look).includes(OTHER_CHARGE);
      const isMoved = !shop.changesByItself && movesOtherwise(look, copied, after);
      const isHarmed = after.paid === false || isShown || isMoved;
      return { ...shown, verdict: isHarmed ? 'fail' : 'pass' };
    },
  ),
];

/** Whether what the order is changes otherwise by the last of three steps than by the one before. */
function movesOtherwise(look: OrderSnapshot, copied: OrderSnapshot, after: OrderSnapshot): boolean {
  if (!isCountOrLog(copied.text, after.text)) return true;
  const [before, last] = [numericChanges(look, copied), numericChanges(copied, after)];
  return before.size !== last.size || [...last].some(([place, change]) => before.get(place) !== change);
}

/** A hundredth of an amount, as decimal text, at least 0.01. */
function hundredth(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.');
  const digits = whole.padStart(3, '0');
  const shifted = `${digits.slice(0, -2)}.${digits.slice(-2)}${fraction}`.slice(0, 20);
  return /[1-9]/.test(shifted) ? shifted : '0.01';
}
