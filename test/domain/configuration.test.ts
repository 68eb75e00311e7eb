import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { readStructures } from '../../src/domain/configuration.ts';

it('charges 2 % of a payment and 1 % of a new card by default', () => {
  const free = { percent: '0', fixed: '0' };
  const { charges } = readStructures({});
  expect(charges).toEqual({
    payment: { percent: '2', fixed: '0' },
    card: { percent: '1', fixed: '0' },
    cardTransaction: free,
  });
  expect(readStructures({ charges: { payment: {}, card: { fixed: '1.50' } } }).charges).toMatchObject({
    payment: free,
    card: { percent: '0', fixed: '1.50' },
  });
});

it('uses the code of a currency as its name and symbol, and two decimals, by default', () => {
  const { currencies } = readStructures({
    currencies: [{ code: 'NPR' }, { code: 'JPY', name: 'Yen', symbol: '¥', decimals: 0 }],
  });
  expect(currencies).toEqual([
    { code: 'NPR', name: 'NPR', symbol: 'NPR', decimals: 2 },
    { code: 'JPY', name: 'Yen', symbol: '¥', decimals: 0 },
  ]);
});

describe('an outcome rule', () => {
  it.each([
    [[{ outcome: 'fail' }], 'outcomes.0 needs at least one of identifier, email and amount'],
    [[{ identifier: 'a' }], 'outcomes.0.outcome must be one of approve, cancel, fail, expire, pending'],
    [[{ identifer: 'a', outcome: 'fail' }], 'unknown field outcomes.0.identifer: did you mean identifier?'],
    [[{ email: '*', outcome: 'fail', delay: '721h' }], 'outcomes.0.delay must be a duration'],
  ])('%j is rejected with an error that names the place', (outcomes, message) => {
    const act = () => readStructures({ outcomes });
    expect(act).toThrow(GatewayError);
    expect(act).toThrow(message);
  });
});
