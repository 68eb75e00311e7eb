import * as z from 'zod/mini';
import { COLLECTIONS } from '../../src/contract/state.ts';
import { COLLECTION_NAMES, type CollectionName, SETTLED_BY } from '../../src/contract/vocabulary.ts';
import { testCardNumber } from '../../src/domain/card.ts';
import type { Snapshot } from '../../src/store/snapshot.ts';
import { emptySnapshot } from '../../src/store/snapshot.ts';

/*
 * Records of every collection that together have every key, and every kind of value of each key. They are made from the
 * schemas, so that a new key needs no new example.
 */

const TIME = '2026-01-15T10:30:00.123Z';

/** A text or number of each kind that a schema may require. */
const VALUES = ['text', '12.50', TIME, '2s', 7, 500, 0.5];
/** Texts that the rules for whole states require. */
const BY_NAME: Readonly<Record<string, string>> = {
  currency: 'USD',
  route: 'ipn',
  ...Object.fromEntries(
    ['ipnUrl', 'successUrl', 'cancelUrl', 'siteLogo', 'url'].map((name) => [
      name,
      `http://127.0.0.1:3000/${name}`,
    ]),
  ),
};
const REFERENCES: Readonly<Record<string, CollectionName>> = {
  merchantId: 'merchants',
  walletId: 'wallets',
  messageId: 'messages',
  paymentId: 'payments',
  deliveryId: 'deliveries',
  cardId: 'cards',
};

const idOf = (name: CollectionName, index: number) => `${name}-${index}`;

/** A state with these records. It fits together, as if it had been used. */
export function storedExamples(): Snapshot {
  const lists = COLLECTION_NAMES.map((name) => {
    const records = examples(COLLECTIONS[name][0], name) as Record<string, unknown>[];
    // Twice: some combinations of values are not possible, and are replaced.
    return [name, [...records, ...records].map((record, index) => fitting(name, record, index))];
  });
  return { ...emptySnapshot(), ...Object.fromEntries(lists) } as Snapshot;
}

function fitting(name: CollectionName, record: Record<string, unknown>, index: number) {
  const fixed: Record<string, unknown> = { ...record };
  if (name !== 'clock') fixed['id'] = idOf(name, index);
  for (const [key, to] of Object.entries(REFERENCES))
    if (typeof fixed[key] === 'string') fixed[key] = idOf(to, 0);
  if (name === 'merchants') Object.assign(fixed, { publicKey: `pub-${index}`, secretKey: `sec-${index}` });
  if (name === 'cards') fixed['number'] = testCardNumber(String(index).padStart(9, '0'));
  if (name === 'payments') {
    const isPending = fixed['status'] === 'pending';
    fixed['settledAt'] = isPending ? null : TIME;
    fixed['settledBy'] = isPending ? null : SETTLED_BY[index % SETTLED_BY.length];
  }
  return fixed;
}

/** Values that together are every kind of value of a schema. @param name the key of the value */
function examples(schema: z.core.$ZodType, name = ''): unknown[] {
  if (schema instanceof z.ZodMiniOptional) return [...examples(schema.def.innerType, name), undefined];
  if (schema instanceof z.ZodMiniNullable) return [...examples(schema.def.innerType, name), null];
  if (schema instanceof z.ZodMiniArray) return [examples(schema.def.element), []];
  if (schema instanceof z.ZodMiniTuple) return [schema.def.items.map((item) => examples(item)[0])];
  if (schema instanceof z.ZodMiniRecord) return [{ USD: examples(schema.def.valueType)[0] }, {}];
  if (schema instanceof z.ZodMiniEnum) return Object.values(schema.def.entries);
  if (schema instanceof z.ZodMiniLiteral) return schema.def.values;
  if (schema instanceof z.ZodMiniBoolean) return [true, false];
  if (isUnion(schema)) return schema.def.options.flatMap((option) => examples(option, name));
  if (schema instanceof z.ZodMiniObject) return objects(schema);
  const value = [BY_NAME[name], ...VALUES].find((one) => z.safeParse(schema, one).success);
  if (value === undefined) throw new Error(`no example for ${name}, a ${schema._zod.def.type}`);
  return [value];
}

const isUnion = (schema: z.core.$ZodType) =>
  schema instanceof z.ZodMiniUnion || schema instanceof z.ZodMiniDiscriminatedUnion;

function objects(schema: z.ZodMiniObject): unknown[] {
  const all = Object.entries(schema.def.shape).map(([key, value]) => [key, examples(value, key)] as const);
  const most = Math.max(...all.map(([, values]) => values.length));
  const pick = (index: number, keys = all) =>
    Object.fromEntries(keys.map(([key, values]) => [key, values[index % values.length]]));
  const isValid = (one: unknown) => z.safeParse(schema, one).success;
  const made = Array.from({ length: most }, (_, index) => pick(index));
  if (made.every(isValid)) return made;
  // Its keys exclude each other: each optional one alone, or with another one that it needs.
  const [optional, required] = [true, false].map((is) =>
    all.filter(([, values]) => values.includes(undefined) === is),
  );
  return (optional ?? []).flatMap((one) => {
    const tried = [one, ...(optional ?? [])].map((other) => pick(0, [...(required ?? []), one, other]));
    return tried.find(isValid) ?? [];
  });
}

/**
 * Every kind of value in a record, with the path of its key; `undefined` for an optional key. Texts count by value, because
 * many are closed sets.
 */
export function* kindsIn(value: unknown, path: string): Generator<[path: string, kind: string]> {
  if (Array.isArray(value)) for (const one of value) yield* kindsIn(one, `${path}[]`);
  else if (typeof value === 'object' && value !== null)
    for (const [key, one] of Object.entries(value)) yield* kindsIn(one, `${path}.${key}`);
  else if (typeof value === 'string') yield [path, `"${value.replace(/\d+/g, '0')}"`];
  else yield [path, value === null ? 'null' : typeof value];
}
