import { describe, expect, it } from 'vitest';
import { CardTransactionInput } from '../../src/contract/card.ts';

describe('a transaction of a card', () => {
  const CHARGE = { type: 'charge', amount: '1' };

  it.each([
    ['an unknown type', { ...CHARGE, type: 'refund' }],
    ['an unknown field', { ...CHARGE, amuont: '2' }],
    ['details of 256 characters', { ...CHARGE, details: 'x'.repeat(256) }],
  ])('must not have %s', (_, transaction) => {
    expect(CardTransactionInput.safeParse(CHARGE).success).toBe(true);
    expect(CardTransactionInput.safeParse(transaction).success).toBe(false);
  });
});
