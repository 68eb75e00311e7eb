import { describe, expect, it } from 'vitest';
import {
  describeEffects,
  describeFault,
  retryAfterSeconds,
  statusOfFault,
} from '../../src/contract/active-fault.ts';
import { FaultRule, FaultRules, MAX_RULES } from '../../src/contract/fault.ts';
import { type FaultSubject, Faults, globMatches } from '../../src/domain/faults.ts';
import { corruptSignature } from '../../src/wire/documented/ipn.ts';

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

describe('a fault rule', () => {
  it.each<FaultRule>([
    { route: 'initiate', status: 503, times: 2 },
    { route: 'checkout', truncate: true, latency: '2s' },
    { route: 'cards', malformed: true, probability: 0.5 },
    { route: '/api/cards/*', latency: '100ms..2s' },
    { route: 'cards', retryAfter: '90s', status: 503 },
    { route: 'ipn', drop: true, identifier: 'order-*' },
    { route: 'ipn', delay: '1h', duplicate: true, corruptSignature: true },
    { route: 'ipn', reorder: true },
  ])('may be %j', (rule) => {
    expect(FaultRule.parse(rule)).toEqual(rule);
  });

  it.each([
    [{}, 'route', ''],
    [{ route: 'inititae', status: 500 }, 'route', 'did you mean initiate?'],
    [{ route: '/_sim', drop: true }, 'route', '/_sim'],
    [{ route: 'initiate', status: 99 }, 'status', 'from 200 to 599'],
    [{ route: 'initiate', status: '503' }, 'status', ''],
    [{ route: 'initiate', drop: true, times: 0 }, 'times', 'from 1 to'],
    [{ route: 'initiate', drop: true, probability: 0 }, 'probability', 'greater than 0'],
    [{ route: 'initiate', drop: true, identifier: '' }, 'identifier', '1 to 200 characters'],
    [{ route: 'initiate', latency: '2' }, 'latency', 'such as 2s, or a range such as 100ms..2s'],
    [{ route: 'initiate', latency: '2s..1s' }, 'latency', 'from the shorter to the longer'],
    [{ route: 'initiate', latency: '11m' }, 'latency', 'at most 10m'],
    [{ route: 'initiate', drop: false }, 'drop', ''],
    [{ route: 'initiate', drop: true, status: 500 }, 'drop', 'cannot be combined with status'],
    [{ route: 'checkout', malformed: true }, 'malformed', 'use truncate'],
    [{ route: 'ipn', delay: '1s', reorder: true }, 'reorder', 'combined with delay'],
    [{ route: 'initiate', corruptSignature: true }, 'corruptSignature', 'works only with the route ipn'],
  ])('must not be %j', (rule, field, message) => {
    const { error } = FaultRule.safeParse(rule);
    const issue = error?.issues.find(({ path }) => path[0] === field);
    expect(issue?.message).toContain(message);
  });

  it('rejects an unknown field', () => {
    expect(FaultRule.safeParse({ route: 'ipn', drop: true, tiems: 2 }).success).toBe(false);
  });

  it(`is rejected if there are ${MAX_RULES} others`, () => {
    const rules = Array.from({ length: MAX_RULES }, (_, n): FaultRule => ({ route: `/${n}`, drop: true }));
    expect(FaultRules.safeParse({ faults: rules }).success).toBe(true);
    expect(FaultRules.safeParse({ faults: [...rules, rules[0]] }).success).toBe(false);
    const set = faults(rules);
    expect(() => set.set({ route: '/one-more', drop: true })).toThrow(`at most ${MAX_RULES}`);
    expect(() => set.set({ route: '/0', status: 500 })).not.toThrow();
  });

  it.each([
    [{ route: 'initiate', status: 503, times: 2 }, 'initiate: status 503, 2 times (2 left)'],
    [{ route: 'initiate', status: 503, times: 1 }, 'initiate: status 503, once (1 left)'],
    [{ route: 'cards', retryAfter: '90s' }, 'cards: status 429, Retry-After 90s'],
    [
      { route: 'ipn', drop: true, probability: 0.5, identifier: 'a-*' } as const,
      'ipn: connection dropped, identifier a-*, probability 0.5',
    ],
  ] satisfies [FaultRule, string][])('%j is described as %s', (rule, words) => {
    expect(describeFault({ rule, used: 0 })).toBe(words);
  });

  it('is described with all of its effects', () => {
    const effects = { truncate: true, duplicate: true, delay: '5m', corruptSignature: true } as const;
    expect(describeEffects({ route: 'ipn', latency: '1s..2s', ...effects })).toBe(
      'latency 1s..2s, body truncated, sent twice, delayed by 5m, signature corrupted',
    );
  });
});

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
    expect(set.list.map(describeFault)).toEqual(['ipn: connection dropped, 2 times (spent)']);
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

  it('can be cleared by route or all together', () => {
    const set = faults([
      { route: 'ipn', drop: true },
      { route: 'cards', drop: true },
      { route: 'ipn', drop: true, identifier: 'a' },
    ]);
    expect(set.clear('ipn')).toBe(2);
    expect(set.list).toMatchObject([{ rule: { route: 'cards' } }]);
    expect(set.clear()).toBe(1);
    expect(set.areOn).toBe(false);
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

describe('an effect', () => {
  it.each([
    [
      'status=success&signature=0AB&identifier=signature=1',
      'status=success&signature=1AB&identifier=signature=1',
    ],
    ['signature=FAB', 'signature=0AB'],
    ['{"status":"success","signature":"FAB"}', '{"status":"success","signature":"0AB"}'],
    ['status=success', 'status=success'],
  ])('corrupts the signature of %s', (body, expected) => {
    expect(corruptSignature(body)).toBe(expected);
  });

  it('has status 429 and whole seconds for a Retry-After without a status', () => {
    expect(statusOfFault({ route: 'ipn', retryAfter: '1500ms' })).toBe(429);
    expect(statusOfFault({ route: 'ipn', retryAfter: '1s', status: 503 })).toBe(503);
    expect(statusOfFault({ route: 'ipn', drop: true })).toBeUndefined();
    expect(retryAfterSeconds({ route: 'ipn', retryAfter: '1500ms' })).toBe('2');
  });
});
