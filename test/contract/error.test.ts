import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { GatewayError, nearestName } from '../../src/contract/error.ts';
import { parseInput } from '../../src/contract/input.ts';

describe('nearestName', () => {
  const KNOWN = ['identifier', 'ipn_url', 'success_url', 'cancel_url', 'amount', 'port'];

  it.each([
    ['identifer', 'identifier'],
    ['IPN_URL', 'ipn_url'],
    ['succes_url', 'success_url'],
    ['amuont', 'amount'],
    ['prot', 'port'],
    ['can', 'cancel_url'],
    ['xyzzy', undefined],
    ['', undefined],
  ])('matches %j to %s', (written, nearest) => {
    expect(nearestName(written, KNOWN)).toBe(nearest);
  });

  it('returns a known name or undefined, and matches a known name to itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string({ minLength: 1 })), (written, known) => {
        const nearest = nearestName(written, known);
        expect(nearest === undefined || known.includes(nearest)).toBe(true);
        if (known.includes(written)) expect(nearest?.toLowerCase()).toBe(written.toLowerCase());
      }),
    );
    expect(nearestName('a'.repeat(10_000), KNOWN)).toBeUndefined();
  });
});

describe('the problems of an error', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `problem ${index + 1}`);

  it.each([1, 20, 21, 1_000])('are at most 20, the last of which counts the others: %i', (count) => {
    const { problems } = new GatewayError('usage', 'm', { problems: many(count) });
    expect(problems).toEqual(count > 20 ? [...many(19), `and ${count - 19} more`] : many(count));
  });

  it('are in English, whatever language the application sets for its own schemas', () => {
    const { localeError } = z.config();
    onTestFinished(() => void z.config({ localeError }));
    z.config({ localeError: () => 'ungültig' });
    expect(() => parseInput(z.object({ at: z.array(z.string()) }), { at: {} })).toThrow(
      'at must be of the type array',
    );
  });
});
