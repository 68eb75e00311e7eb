import { describe, expect, it } from 'vitest';
import { matches } from '../../src/system/match-pattern.ts';

describe('a pattern from a user', () => {
  it('matches a text', () => {
    expect([matches(/^pa(id)$/i, 'PAID'), matches(/^paid$/, 'unpaid')]).toEqual([true, false]);
  });

  // An audit meets /^(a+)+$/.
  it('is aborted if it takes too long', () => {
    expect(() => matches(/(?<=b(a+)+)!/, `${'a'.repeat(100_000)}!`)).toThrow(
      expect.objectContaining({ code: 'check_failed', message: expect.stringContaining('takes too long') }),
    );
  });

  it('searches only the first 256 Ki characters', () => {
    const text = ' '.repeat(256 * 1024);
    expect([matches(/b/, `${text.slice(1)}b`), matches(/b/, `${text}b`)]).toEqual([true, false]);
  });
});
