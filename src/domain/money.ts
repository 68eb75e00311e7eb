import Big from 'big.js';
import { CURRENCY_CODE, type Currency, USUAL_DECIMALS } from '../contract/amount.ts';
import type { ChargeRate } from '../contract/configuration.ts';
import { hint, usage } from '../contract/error.ts';
import type { AmountFormat } from '../contract/vocabulary.ts';

/** The four currencies of the service. Codes, names and symbols: documented; decimals: chosen. */
export const DOCUMENTED_CURRENCIES: readonly Currency[] = [
  { code: 'USD', name: 'United States Dollar', symbol: '$', decimals: 2 },
  { code: 'GNF', name: 'Franc Guinéen', symbol: 'fg', decimals: 0 },
  { code: 'CFA', name: 'Franc CFA', symbol: 'cfa', decimals: 0 },
  { code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 },
];

/**
 * The shortest decimal text of a JSON number, to avoid calculation with floats.
 *
 * @param value the number as parsed
 * @param source the original text if known: parsing changes `1e2` and `0.10000000000000001`
 * @returns the text, or undefined if the number has an exponent or more than 15 significant digits, or is not finite
 */
export function amountFromNumber(value: number, source = String(value)): string | undefined {
  const digits = source.replace(/^-/, '').replace('.', '').replace(/^0+/, '');
  if (!Number.isFinite(value) || /e/i.test(source) || digits.length > 15) return undefined;
  const text = String(value);
  // JavaScript writes 0.0000001 with an exponent.
  return text.includes('e') ? new Big(text).toFixed() : text;
}

/**
 * The charge on an amount: percent + fixed, rounded half up to the decimals of the currency (chosen: ipn-charge-rounding, ipn-charge-whole-units).
 */
export function chargeOn(amount: string, rate: ChargeRate, currency: Pick<Currency, 'decimals'>): string {
  const exact = new Big(amount).times(rate.percent).times('0.01').plus(rate.fixed);
  return exact.toFixed(currency.decimals, Big.roundHalfUp);
}

/** `a + b` as plain decimal text, with the decimals of the longer one. */
export function add(a: string, b: string): string {
  return new Big(a).plus(b).toFixed(mostDecimals(a, b));
}

/** `a - b` as plain decimal text, with the decimals of the longer one; negative when b is greater. */
export function subtract(a: string, b: string): string {
  return new Big(a).minus(b).toFixed(mostDecimals(a, b));
}

function mostDecimals(...amounts: readonly string[]): number {
  return Math.max(...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));
}

/** Negative, zero or positive as a is less than, equal to or greater than b. */
export function compare(a: string, b: string): number {
  return new Big(a).cmp(b);
}

/** Formats a payment's amount. `sent` returns the text unchanged. */
export function renderAmount(amount: string, format: AmountFormat): string {
  if (format === 'sent') return amount;
  const decimals = format === 'stored' ? 8 : Number(format.slice('fixed:'.length));
  return new Big(amount).toFixed(decimals, Big.roundHalfUp);
}

/**
 * Reads a currency in the form `CODE` or `CODE:symbol`, such as `NPR:Rs`.
 *
 * @throws GatewayError `usage` if the code is not two to four upper-case letters or digits
 */
export function parseCurrency(text: string): Currency {
  const [code = '', ...rest] = text.split(':');
  const symbol = rest.join(':') || code;
  if (!CURRENCY_CODE.test(code) || symbol.length > 8) {
    throw usage(`currency "${text}" must have the form CODE or CODE:symbol`, {
      hint: hint`Write the code with two to four upper-case letters or digits, for example NPR:Rs.`,
    });
  }
  const documented = DOCUMENTED_CURRENCIES.find((currency) => currency.code === code);
  return documented && !rest.length ? documented : { code, name: code, symbol, decimals: USUAL_DECIMALS };
}
