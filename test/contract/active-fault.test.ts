import { describe, expect, it } from 'vitest';
import {
  describeEffects,
  describeFault,
  retryAfterSeconds,
  statusOfFault,
} from '../../src/contract/active-fault.ts';
import type { FaultRule } from '../../src/contract/fault.ts';

describe('an active fault', () => {
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

  it('has status 429 and whole seconds for a Retry-After without a status', () => {
    expect(statusOfFault({ route: 'ipn', retryAfter: '1500ms' })).toBe(429);
    expect(statusOfFault({ route: 'ipn', retryAfter: '1s', status: 503 })).toBe(503);
    expect(statusOfFault({ route: 'ipn', drop: true })).toBeUndefined();
    expect(retryAfterSeconds({ route: 'ipn', retryAfter: '1500ms' })).toBe('2');
  });
});
