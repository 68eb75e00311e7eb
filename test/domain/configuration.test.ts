import { expect, it } from 'vitest';
import { readTerms } from '../../src/domain/configuration.ts';

it('charges 2 % of a payment and 1 % of a new card, unless told otherwise', () => {
  const free = { percent: '0', fixed: '0' };
  const { charges } = readTerms({});
  expect(charges).toEqual({
    payment: { percent: '2', fixed: '0' },
    card: { percent: '1', fixed: '0' },
    cardTransaction: free,
  });
  expect(readTerms({ charges: { payment: {}, card: { fixed: '1.50' } } }).charges).toMatchObject({
    payment: free,
    card: { percent: '0', fixed: '1.50' },
  });
});

it('calls a currency by its code, with two decimals, unless told otherwise', () => {
  const { currencies } = readTerms({
    currencies: [{ code: 'NPR' }, { code: 'JPY', name: 'Yen', symbol: '¥', decimals: 0 }],
  });
  expect(currencies).toEqual([
    { code: 'NPR', name: 'NPR', symbol: 'NPR', decimals: 2 },
    { code: 'JPY', name: 'Yen', symbol: '¥', decimals: 0 },
  ]);
});
