import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { COLLECTION_NAMES, COLLECTIONS, type CollectionName } from '../../src/contract/state.ts';
import { quickCheck } from '../../src/store/quick-check.ts';
import { fullSnapshot } from '../helpers/records.ts';

const samples = fullSnapshot();
const isQuick = Object.fromEntries(COLLECTION_NAMES.map((name) => [name, quickCheck(COLLECTIONS[name][0])]));

/** Whether the schema takes a value and would change nothing about it. */
function isKept(schema: z.ZodMiniType, value: unknown): boolean {
  const { success, data } = z.safeParse(schema, value);
  if (!success) return false;
  try {
    expect(data).toStrictEqual(value);
    return true;
  } catch {
    return false;
  }
}

/** What fields may turn into: other values of fields among them, so that some are valid. */
const VALUES = COLLECTION_NAMES.flatMap((name): unknown[] => Object.values(samples[name][0] ?? {}));
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(...VALUES),
  fc.jsonValue(),
  fc.constantFrom<unknown>('', null, -1, 1.5, 1e300, [], {}, '1.00', '2026-02-30T00:00:00Z', [
    ['a', 'b', 'c'],
  ]),
);

/** A record of a collection in which some fields were changed, added or dropped. */
const changed = fc.constantFrom(...COLLECTION_NAMES).chain((name) => {
  const sample: Record<string, unknown> = { ...samples[name][0] };
  const field = fc.oneof(fc.constantFrom(...Object.keys(sample)), fc.string());
  const changes = fc.array(fc.tuple(field, fc.oneof(anyValue, fc.constant(undefined))), { maxLength: 3 });
  return changes.map((list): [CollectionName, unknown] => {
    const record = { ...sample };
    for (const [key, value] of list) {
      if (value === undefined) delete record[key];
      else
        Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return [name, record];
  });
});

describe('a quick check', () => {
  it.each(COLLECTION_NAMES.filter((name) => name !== 'merchants'))('passes %s as they are stored', (name) => {
    expect(samples[name]).not.toEqual([]);
    expect(samples[name].map((one: unknown) => isQuick[name]?.(one))).not.toContain(false);
  });

  it.each(COLLECTION_NAMES)(
    'of %s does not depend on what it saw before, nor on the order of keys',
    (name) => {
      const schema = COLLECTIONS[name][0];
      const sample: Record<string, unknown> = { ...samples[name][0] };
      const backwards = Object.fromEntries(Object.entries(sample).reverse());
      const lacking = Object.keys(sample).map((key) => ({ ...sample, [key]: undefined }));
      const others = lacking.map((one) => JSON.parse(JSON.stringify(one)));
      const used = quickCheck(schema);
      for (const value of [{}, sample, {}, backwards, ...others, sample, ...lacking]) {
        expect(used(value), JSON.stringify(value)).toBe(quickCheck(schema)(value));
        if (!isKept(schema, value)) expect(used(value), JSON.stringify(value)).toBe(false);
      }
    },
  );

  it('agrees with the schema about records with any change', () => {
    fc.assert(
      fc.property(changed, ([name, record]) => {
        const kept = isKept(COLLECTIONS[name][0], record);
        const quick = isQuick[name]?.(record);
        // What merchants have on their balances is for the schema alone.
        expect(quick).toBe(name === 'merchants' ? false : kept);
      }),
      { numRuns: 3_000 },
    );
  });

  it('agrees with the schema about anything else', () => {
    fc.assert(
      fc.property(fc.constantFrom(...COLLECTION_NAMES), fc.jsonValue(), (name, value) => {
        expect(isQuick[name]?.(value)).toBe(isKept(COLLECTIONS[name][0], value));
      }),
    );
  });

  it.each([
    ['a pattern', z.string().check(z.regex(/^a+$/)), ['a', 'aaa', 'b', '', 7, null, ['a']]],
    ['two patterns', z.string().check(z.regex(/a/), z.regex(/b/)), ['ab', 'a', 'b', 7]],
    ['another check of text', z.string().check(z.maxLength(2)), ['a', 'abc', 7]],
    ['a count', z.int().check(z.nonnegative()), [0, 1, -1, 1.5, Number.NaN, '1', 2 ** 53]],
    ['a list with a check', z.array(z.string()).check(z.maxLength(1)), [7, 'a', null]],
    ['a tuple with a rest', z.tuple([z.string()], z.string()), [7, 'a', null]],
    ['a boolean', z.boolean(), [true, false, 'true', 0, undefined]],
    ['a default', z._default(z.nullable(z.string()), null), ['a', null, 7]],
  ])('is right about %s', (_, schema, values: readonly unknown[]) => {
    const check = quickCheck(schema);
    for (const value of values) expect([value, check(value)]).toEqual([value, isKept(schema, value)]);
  });
});
