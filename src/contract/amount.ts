import { shortJson } from './text.ts';

/** A currency of this emulator. `decimals` affects how amounts are displayed and charges are rounded, never which amounts are accepted. */
export interface Currency {
  /** A `CURRENCY_CODE`. */
  code: string;
  name: string;
  symbol: string;
  /** The number of decimals of a charge, and the minimum that a page shows. */
  decimals: number;
}

/** The decimals of a currency about which nothing is known, and of amounts that nobody questions. */
export const USUAL_DECIMALS = 2;

/** Up to 20 digits, then optionally a point and up to 8 more (observed: amount-eight-decimals, amount-twenty-digits). Deployments store a decimal of 28 digits, 8 of them after the point. */
export const AMOUNT_PATTERN = /^\d{1,20}(\.\d{1,8})?$/;

/** Card amounts are sent as JSON numbers, which are exact up to 15 digits: 10 before the point, 4 after it (chosen). */
export const CARD_AMOUNT_PATTERN = /^\d{1,10}(\.\d{1,4})?$/;

export const CURRENCY_CODE = /^[A-Z0-9]{2,4}$/;

/** Whether a text is an amount that the service accepts: plain decimal text, greater than zero. */
export function isAmount(text: string): boolean {
  return AMOUNT_PATTERN.test(text) && /[1-9]/.test(text);
}

/** Why a value is not a valid amount; undefined when it is. */
export function amountProblem(value: unknown): string | undefined {
  if (typeof value === 'string' && isAmount(value)) return undefined;
  return `must be a plain decimal greater than 0 with at most 20 digits and 8 decimals, such as 100 or 49.90 (got ${shortJson(value)})`;
}

/** Why a text is not a valid amount for a card; undefined when it is. */
export function cardAmountProblem(value: unknown): string | undefined {
  if (typeof value === 'string' && CARD_AMOUNT_PATTERN.test(value) && isAmount(value)) return undefined;
  return `must be a plain decimal greater than 0 with at most 10 digits and 4 decimals, such as 250 or 99.90 (got ${shortJson(value)})`;
}

/**
 * An amount for display: grouped digits with the currency's documented symbol. Digits are never dropped.
 *
 * @param language `fr` writes `1 234,50 €`, `en` writes `$1,234.50` (a symbol of letters follows the number)
 */
export function formatAmount(amount: string, currency: Currency, language: 'en' | 'fr' = 'en'): string {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const trimmed = fraction.replace(/0+$/, '');
  const decimals = trimmed.padEnd(currency.decimals, '0');
  const digits = whole.replace(/^0+(?=\d)/, '');
  const grouped = digits.replace(/\B(?=(\d{3})+$)/g, language === 'fr' ? '\u202f' : ',');
  const number = decimals ? `${grouped}${language === 'fr' ? ',' : '.'}${decimals}` : grouped;
  const sign = amount.startsWith('-') ? '-' : '';
  const symbolFirst = language === 'en' && /^[^\p{L}]{1,2}$/u.test(currency.symbol);
  return symbolFirst ? `${sign}${currency.symbol}${number}` : `${sign}${number}\u00a0${currency.symbol}`;
}
