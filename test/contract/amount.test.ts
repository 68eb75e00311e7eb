import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAmount, isAmount } from '../../src/contract/amount.ts';
import { compare, DOCUMENTED_CURRENCIES, parseCurrency } from '../../src/domain/money.ts';
import { anyAmount } from '../helpers/amounts.ts';

describe('isAmount', () => {
  // fixtures/fidelity/manifest.jsonl has the other rejected amounts.
  it.each(['', '00000', '1 000', '1\n', 'NaN', 'Infinity', '１２'])('rejects %j', (text) => {
    expect(isAmount(text)).toBe(false);
  });

  it('accepts every text of 1 to 20 digits with up to 8 decimals that is not zero', () => {
    fc.assert(fc.property(anyAmount, (text) => isAmount(text)));
  });
});

describe('formatAmount', () => {
  it.each([
    ['1234.5', 'USD', 'en', '$1,234.50'],
    ['1234.5', 'EUR', 'fr', '1\u202f234,50\u00a0€'],
    ['5000', 'CFA', 'en', '5,000\u00a0cfa'],
    ['5000.00', 'GNF', 'fr', '5\u202f000\u00a0fg'],
    ['-12', 'USD', 'en', '-$12.00'],
  ] as const)('writes %s %s in %s as %j', (amount, code, language, text) => {
    expect(formatAmount(amount, parseCurrency(code), language)).toBe(text);
  });

  it('never loses or adds a digit, in any currency and language', () => {
    const currency = fc.constantFrom(
      ...DOCUMENTED_CURRENCIES,
      parseCurrency('NPR:Rs'),
      parseCurrency('X1:¤'),
    );
    fc.assert(
      fc.property(
        anyAmount,
        currency,
        fc.constantFrom('en' as const, 'fr' as const),
        fc.boolean(),
        (text, shown, language, negative) => {
          const amount = negative ? `-${text}` : text;
          const read = formatAmount(amount, shown, language)
            .replace(shown.symbol, '')
            .replace('\u00a0', '')
            .replaceAll(language === 'fr' ? '\u202f' : ',', '')
            .replace(',', '.');
          expect(compare(read, amount)).toBe(0);
        },
      ),
    );
  });
});
