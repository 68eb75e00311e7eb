import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { COLLECTION_NAMES, COLLECTIONS, type CollectionName } from '../../src/contract/state.ts';
import { parseRecords } from '../../src/store/parse-records.ts';
import { fullSnapshot } from '../helpers/records.ts';

const samples = fullSnapshot();

/** A record parsed by its schema; undefined if the schema rejects it or would drop a part. */
function bySchema(name: CollectionName, record: object): unknown {
  const { success, data } = z.safeParse(COLLECTIONS[name][0] as z.ZodMiniType, record);
  if (!success) return undefined;
  try {
    expect(data).toMatchObject(record);
    return data;
  } catch {
    return undefined;
  }
}

/** Any value, including values of other fields, some of which are valid. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    ...COLLECTION_NAMES.flatMap((name): unknown[] => Object.values(samples[name][0] ?? {})),
  ),
  fc.jsonValue(),
  fc.constantFrom<unknown>('', null, -1, 1.5, 1e300, [], {}, '1.00', '2026-02-30T00:00:00Z', [
    ['a', 'b', 'c'],
  ]),
);

/** A record with some fields changed, added, dropped or moved. */
function changed(name: CollectionName): fc.Arbitrary<object> {
  const sample = Object.entries(samples[name][0] ?? {});
  const key = fc.oneof(fc.constantFrom(...sample.map(([one]) => one)), fc.string());
  const changes = fc.array(fc.tuple(key, fc.option(value, { nil: undefined })), { maxLength: 2 });
  return fc.tuple(changes, fc.boolean()).map(([list, isBackwards]) => {
    const fields = new Map<string, unknown>(isBackwards ? sample.toReversed() : sample);
    for (const [name, value] of list) {
      if (value === undefined) fields.delete(name);
      else fields.set(name, value);
    }
    return Object.fromEntries(fields);
  });
}

it.each(COLLECTION_NAMES)('%s are valid if and only if the schema accepts each record', (name) => {
  const seen = { good: 0, bad: 0 };
  fc.assert(
    fc.property(fc.array(changed(name), { minLength: 1, maxLength: 2 }), (records) => {
      const expected = records.map((record) => bySchema(name, record));
      if (expected.includes(undefined)) {
        seen.bad++;
        expect(() => parseRecords(name, [...records], 'it')).toThrow('it is damaged');
      } else {
        seen.good++;
        expect(parseRecords(name, [...records], 'it')).toEqual(expected);
      }
    }),
  );
  expect(Math.min(seen.good, seen.bad)).toBeGreaterThan(5);
});
