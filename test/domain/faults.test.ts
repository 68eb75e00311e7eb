import { describe, expect, it } from 'vitest';
import { describeFault } from '../../src/contract/active-fault.ts';
import type { FaultRule } from '../../src/contract/fault.ts';
import { MAX_RULES } from '../../src/contract/fault-effects.ts';
import { type FaultSubject, Faults, globMatches } from '../../src/domain/faults.ts';

const INITIATE: FaultSubject = { route: 'initiate', path: '/payment/initiate' };
const IPN: FaultSubject = { route: 'ipn', path: null };

/** Active rules whose random numbers repeat a list. */
function faults(rules: FaultRule[], fractions: number[] = [0]): Faults {
  let drawn = 0;
  const set = new Faults({ fraction: () => fractions[drawn++ % fractions.length] ?? 0 });
  set.replace(rules);
  return set;
}

/** Whether the rules act on each of `count` equal subjects. */
function acting(set: Faults, subject: FaultSubject, count: number): boolean[] {
  return Array.from({ length: count }, () => set.take(subject) !== undefined);
}

describe('active fault rules', () => {
  it('act only on their route', () => {
    const dropping: FaultRule = { route: 'initiate', drop: true };
    const failing: FaultRule = { route: 'cards', status: 500 };
    const set = faults([dropping, failing]);
    expect(set.take(INITIATE)).toEqual(dropping);
    expect(set.take({ route: 'cards', path: '/api/cards' })).toEqual(failing);
    expect(set.take({ route: null, path: '/initiate' })).toBeUndefined();
    expect(set.take(IPN)).toBeUndefined();
  });

  it('act on their path, and never on an IPN', () => {
    const cards: FaultRule = { route: '/api/cards/*', drop: true };
    const all: FaultRule = { route: '/*', status: 500 };
    const set = faults([cards, all]);
    expect(set.take({ route: 'cards', path: '/api/cards/card_1' })).toEqual(cards);
    expect(set.take({ route: 'cards', path: '/api/cards' })).toEqual(all);
    expect(set.take(IPN)).toBeUndefined();
  });

  it('act the given number of times', () => {
    const set = faults([{ route: 'ipn', drop: true, times: 2 }]);
    expect(set.areOn).toBe(true);
    expect(acting(set, IPN, 4)).toEqual([true, true, false, false]);
    expect(set.areOn).toBe(false);
    expect(set.list).toMatchObject([{ used: 2 }]);
    expect(set.list.map(describeFault)).toEqual(['ipn: connection dropped, 2 times (used up)']);
  });

  it('count only the requests that they changed', () => {
    const set = faults([{ route: 'ipn', drop: true, times: 2, identifier: 'a' }]);
    const seen = ['b', 'a', 'b', 'a', 'a'].map(
      (identifier) => set.take({ ...IPN, identifier }) !== undefined,
    );
    expect(seen).toEqual([false, true, false, true, false]);
  });

  it('act with their probability, and repeat for the same random numbers', () => {
    const draws = [0.1, 0.6, 0.49, 0.5];
    const rule: FaultRule = { route: 'ipn', drop: true, probability: 0.5 };
    expect(acting(faults([rule], draws), IPN, 4)).toEqual([true, false, true, false]);
    expect(acting(faults([rule], draws), IPN, 4)).toEqual(acting(faults([rule], draws), IPN, 4));
  });

  it('try the next rule if one does not act, and apply only the first that does', () => {
    const set = faults([
      { route: 'ipn', status: 500, times: 1 },
      { route: 'ipn', status: 501 },
      { route: 'ipn', status: 502 },
    ]);
    expect([set.take(IPN), set.take(IPN)].map((rule) => rule?.status)).toEqual([500, 501]);
  });

  it('replace a rule with the same route and identifiers and reset its count', () => {
    const set = faults([
      { route: 'ipn', status: 500, times: 1 },
      { route: 'cards', drop: true },
    ]);
    set.take(IPN);
    set.set({ route: 'ipn', status: 503, times: 1 });
    set.set({ route: 'ipn', status: 504, identifier: 'a' });
    expect(set.list).toMatchObject([
      { rule: { route: 'ipn', status: 503 }, used: 0 },
      { rule: { route: 'cards' } },
      { rule: { route: 'ipn', identifier: 'a' } },
    ]);
  });

  it(`are at most ${MAX_RULES}`, () => {
    const set = faults(
      Array.from({ length: MAX_RULES }, (_, n): FaultRule => ({ route: `/${n}`, drop: true })),
    );
    expect(() => set.set({ route: '/one-more', drop: true })).toThrow(`at most ${MAX_RULES}`);
    expect(() => set.set({ route: '/0', status: 500 })).not.toThrow();
  });

  it('need the identifier only while a rule that can act has one', () => {
    const set = faults([
      { route: 'ipn', drop: true },
      { route: 'initiate', drop: true, identifier: 'a', times: 1 },
    ]);
    expect(set.needsIdentifier(IPN)).toBe(false);
    expect(set.needsIdentifier(INITIATE)).toBe(true);
    set.take({ ...INITIATE, identifier: 'a' });
    expect(set.needsIdentifier(INITIATE)).toBe(false);
  });

  it.each([
    [undefined, 0],
    ['2s', 2_000],
    ['100ms..2100ms', 600],
  ])('with latency %s and a draw of 0.25 wait %d ms', (latency, wait) => {
    const set = faults([], [0.25]);
    expect(set.latencyOf({ route: 'ipn', ...(latency && { latency }) })).toBe(wait);
  });
});

describe('a pattern', () => {
  it.each([
    ['order-1', 'order-11', false],
    ['order-*', 'order-', true],
    ['*-1', 'order-1', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['*', '', true],
    ['a.c', 'abc', false],
    ['(', '(', true],
  ])('%s matches %s: %s', (glob, text, fits) => {
    expect(globMatches(glob, text)).toBe(fits);
  });

  it('stays fast for a malicious text', () => {
    const glob = `${'a*'.repeat(99)}b`;
    expect(globMatches(glob, 'a'.repeat(1_000_000))).toBe(false);
  });
});
