import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CARD_ACTIONS, CARD_STATUSES, CARD_TRANSITIONS } from '../../src/contract/card-status.ts';
import { applyCardAction, chargeCard, fundCard, issueCard, testCardNumber } from '../../src/domain/card.ts';
import type { Card } from '../../src/domain/state.ts';
import { readCard } from '../../src/service/cards.ts';
import { CARD, context, merchant, NOW, state } from '../helpers/records.ts';

/** The command for a merchant's fields. */
function command(changes: Record<string, unknown> = {}) {
  return readCard({ fields: { ...CARD, amount: '100', ...changes }, text: '' });
}

function issued(changes: Record<string, unknown> = {}): Card {
  return issueCard(state(), merchant(), command(changes), context()).result;
}

describe('a new card', () => {
  it('rejects charges above its amount', () => {
    const rate = { percent: '0', fixed: '100' };
    const given = context({ charges: { payment: rate, card: rate, cardTransaction: rate } });
    const of = (amount: string) => () => issueCard(state(), merchant(), command({ amount }), given).result;
    expect(of('100')()).toMatchObject({ availableBalance: '0.00' });
    expect(of('99.99')).toThrowError(expect.objectContaining({ code: 'invalid_fields' }));
  });
});

it('a canceled card cannot be canceled again, and the error says so', () => {
  const canceled: Card = { ...issued(), status: 'canceled' };
  const change = (action: 'cancel' | 'activate') => () => applyCardAction(canceled, action, NOW);
  expect(change('cancel')).toThrow(`card ${canceled.id} was canceled already`);
  expect(change('activate')).toThrow(`card ${canceled.id} is canceled, which is final`);
});

it('rounds the charges of a card in a currency without decimals to whole units', () => {
  expect(issued({ amount: '15001', currency_code: 'GNF' })).toMatchObject({ charges: '150' });
});

describe('a card number', () => {
  // The test range, nine digits and the check digit, calculated by hand.
  it.each([
    ['000000000', '9999000000000004'],
    ['999999999', '9999009999999993'],
  ])('is made from %s: %s', (digits, number) => {
    expect(testCardNumber(digits)).toBe(number);
  });

  it('is replaced by another if a card already has it', () => {
    const current = state();
    const digits = ['000000001', '000000001', '000000002'];
    const once = context();
    const ids = { ...once.ids, cardDigits: () => digits.shift() ?? '' };
    const first = issueCard(current, merchant(), command(), { ...once, ids });
    current.apply(first.change);
    const second = issueCard(current, merchant(), command(), { ...once, ids }).result;
    expect([first.result.number, second.number]).toEqual([
      testCardNumber('000000001'),
      testCardNumber('000000002'),
    ]);
  });
});

describe('the states of a card', () => {
  const grid = CARD_STATUSES.flatMap((status) =>
    CARD_ACTIONS.map((trigger) => ({ status, trigger, next: CARD_TRANSITIONS[status][trigger] })),
  );

  it.each(grid)('$status + $trigger → $next', ({ status, trigger, next }) => {
    const card = { ...issued(), status };
    const later = NOW + 1_000;
    if (next === null) {
      expect(() => applyCardAction(card, trigger, later)).toThrowError(
        expect.objectContaining({ code: 'wrong_state' }),
      );
      return;
    }
    const { change, result } = applyCardAction(card, trigger, later);
    expect(result.status).toBe(next);
    expect(change).toEqual(next === status ? {} : { cards: [result] });
    expect(result.updatedAt).toBe(next === status ? card.updatedAt : new Date(later).toISOString());
  });
});

describe('a charge', () => {
  it.each([
    ['an inactive card', { status: 'inactive' as const }, { amount: '1' }, 'wrong_state', 'is inactive'],
    ['a canceled card', { status: 'canceled' as const }, { amount: '1' }, 'wrong_state', 'is canceled'],
    ['too small a balance', {}, { amount: '99.01' }, 'insufficient_funds', 'too small'],
    ['another currency', {}, { amount: '1', currency: 'EUR' }, 'wrong_state', 'is in USD, not in EUR'],
    ['an invalid amount', {}, { amount: '0' }, 'invalid_fields', 'greater than 0'],
  ])('is rejected for %s', (_, changes, input, code, message) => {
    expect(() => chargeCard({ ...issued(), ...changes }, input, context())).toThrowError(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  it('may lower the balance to exactly zero', () => {
    expect(chargeCard(issued(), { amount: '99' }, context()).result.card.availableBalance).toBe('0.00');
  });
});

describe('funding', () => {
  it('is rejected for a canceled card and for a balance that would not be exact', () => {
    expect(() => fundCard({ ...issued(), status: 'canceled' }, { amount: '1' }, context())).toThrow(
      'cannot be funded',
    );
    const rich = { ...issued(), availableBalance: '9999999999' };
    expect(() => fundCard(rich, { amount: '1' }, context())).toThrow('too large');
  });
});

it('keeps a balance of amount minus charges, minus spending with its charges, plus funding', () => {
  const money = fc.integer({ min: 1, max: 5_000_000 }).map((cents) => new Big(cents).div(100).toFixed(2));
  const rate = fc.record({
    percent: fc.constantFrom('0', '1', '2.5', '0.333'),
    fixed: fc.constantFrom('0', '0.3'),
  });
  const movement = fc.record({ kind: fc.constantFrom('charge', 'fund'), amount: money });
  fc.assert(
    fc.property(
      money,
      rate,
      rate,
      fc.array(movement, { maxLength: 20 }),
      (amount, card, cardTransaction, moves) => {
        const given = context({ charges: { payment: card, card, cardTransaction } });
        let current: Card;
        try {
          current = issueCard(state(), merchant(), command({ amount }), given).result;
        } catch {
          return;
        }
        let expected = new Big(current.amount).minus(current.charges);
        for (const { kind, amount: moved } of moves) {
          try {
            const rule = kind === 'charge' ? chargeCard : fundCard;
            const { card: after, transaction } = rule(current, { amount: moved }, given).result;
            const spent = new Big(transaction.amount).plus(transaction.charge);
            expected = transaction.type === '-' ? expected.minus(spent) : expected.plus(transaction.amount);
            current = after;
          } catch (error) {
            expect(error).toMatchObject({ code: expect.stringMatching(/insufficient_funds|invalid_fields/) });
          }
          expect(new Big(current.availableBalance).eq(expected)).toBe(true);
          expect(expected.gte(0)).toBe(true);
        }
      },
    ),
  );
});
