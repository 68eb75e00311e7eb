import { describe, expect, it } from 'vitest';
import { FaultRule, FaultRules } from '../../src/contract/fault.ts';
import { MAX_RULES } from '../../src/contract/fault-effects.ts';

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
  });
});
