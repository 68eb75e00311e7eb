import type { AuditGroup } from '../../contract/audit.ts';
import {
  type AuditCase,
  afterPayment,
  evidence,
  isCountOrLog,
  refuses,
  type Target,
  withoutProbe,
} from '../case.ts';
import type { Ipn } from '../ipn.ts';
import type { OrderSnapshot } from '../probe.ts';
import { numericChanges } from '../shop.ts';

/** No order has it by chance. */
const OTHER_CHARGE = '12345.67';
const OTHER_CURRENCIES = ['GNF', 'USD'];
const HARM =
  'The customer pays less than the order costs, or in a currency that is worth less, and gets all of it.';

function amount(
  name: string,
  about: string,
  forge: (ipn: Ipn, target: Target) => Ipn,
  group: AuditGroup = 'amount',
): AuditCase {
  const text = { name, class: 'D', group, about, harm: HARM, mistake: 'amount-not-compared' } as const;
  return refuses(text, (target) => {
    const forged = forge(target.ipn, target);
    const isSame = Number(forged.get('amount')) === Number(target.ipn.get('amount'));
    return name === 'amount-cut' && isSame ? 'the price has no fraction' : target.post(forged);
  });
}

/** Where more was paid than the order costs, a shop that takes it loses nothing. */
function notTheTotal(name: string, about: string, change: (price: string) => string): AuditCase {
  const one = amount(name, about, withAmount(change));
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

/** Validly signed: it must be refused for what it says. */
function signed(change: (ipn: Ipn) => Ipn) {
  return (ipn: Ipn, { shop }: Target) => change(ipn).signedWith(shop.parts.gateway.secretKey);
}

const withAmount = (change: (amount: string) => string) =>
  signed((ipn) => ipn.set('amount', change(ipn.get('amount'))));

const otherCurrency = (ipn: Ipn) =>
  ipn.set('currency', OTHER_CURRENCIES.find((code) => code !== ipn.get('currency')) ?? 'GNF');

export const AMOUNT: readonly AuditCase[] = [
  amount(
    'amount-too-low',
    'A valid signature over a hundredth of the price.',
    withAmount((text) => hundredth(text)),
  ),
  amount(
    'amount-cut',
    'A valid signature over the price without its fraction.',
    withAmount((text) => `${text.split('.')[0]}.00`),
  ),
  notTheTotal('amount-too-high', 'A valid signature over more than the price.', (text) => `9${text}`),
  amount(
    'amount-zero',
    'A valid signature over nothing.',
    withAmount(() => '0.00'),
  ),
  amount(
    'amount-negative',
    'A valid signature over a negative amount.',
    withAmount((text) => `-${text}`),
  ),
  notTheTotal(
    'amount-exponent',
    'A valid signature over 1e2, which some languages read as 100.',
    // Where the order costs 100, a shop that reads it as a number has lost nothing.
    (text) => (Number(text) === 100 ? '1e3' : '1e2'),
  ),
  amount(
    'amount-exponent-low',
    'A valid signature over 1e-2, which some languages read as 0.01.',
    withAmount((text) => (Number(text) === 0.01 ? '1e-3' : '1e-2')),
  ),
  amount(
    'currency-other',
    'A valid signature, which does not cover the currency, and another currency.',
    otherCurrency,
  ),
  amount('currency-missing', 'A valid signature, and no currency.', (ipn) => ipn.unset('currency')),
  amount(
    'key-of-other-merchant',
    'Signed by another merchant of the same gateway, who was paid instead.',
    (ipn) => ipn.signedWith('sec_sim_of_another_merchant_0001'),
    'merchant',
  ),
  amount('amount-changed', 'The amount changed after signing.', (ipn) =>
    ipn.set('amount', hundredth(ipn.get('amount'))),
  ),
  amount('currency-and-amount-changed', 'Currency and amount changed after signing.', (ipn) =>
    otherCurrency(ipn).set('amount', hundredth(ipn.get('amount'))),
  ),
  afterPayment(
    {
      // What the probe says of the order may tell of others, too: the stock.
      alone: true as const,
      name: 'charge-changed',
      class: 'D',
      group: 'amount',
      about: 'The charge, which is not signed, changed in a copy of a genuine IPN.',
      harm: 'Whoever can repeat an IPN changes what the order is worth.',
      mistake: 'amount-not-compared',
    },
    async ({ shop, payment, ipn, post }, { look, shot: genuine }) => {
      // What any copy does belongs to the cases of once.
      await shop.send(genuine);
      const copied = await shop.lookAfterGrace(payment);
      const shot = post(ipn.set('charge', OTHER_CHARGE));
      const observation = await shop.send(shot);
      const after = await shop.lookAfterGrace(payment);
      if (!shop.canLook) return { ...evidence(shot, observation), ...withoutProbe('what changed') };
      const said = ({ text, effects }: OrderSnapshot) => [text, ...effects.values()].join('\n');
      const isShown = said(after).includes(OTHER_CHARGE) && !said(look).includes(OTHER_CHARGE);
      const isMoved = !shop.changesByItself && movesOtherwise(look, copied, after);
      const isHarmed = after.paid === false || isShown || isMoved;
      return { ...evidence(shot, observation), verdict: isHarmed ? 'fail' : 'pass' };
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
