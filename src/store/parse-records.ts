import * as z from 'zod/mini';
import { didYouMean } from '../contract/error.ts';
import { check, describeIssue } from '../contract/input.ts';
import { COLLECTION_NAMES, COLLECTIONS, type CollectionName } from '../contract/state.ts';
import { damaged } from './files.ts';

const QUICK = new Map<CollectionName, QuickCheck>(
  COLLECTION_NAMES.map((name) => [name, quickCheck(COLLECTIONS[name][0])]),
);

/**
 * Validates the records of a collection. Valid records stay the same objects. A record that lacks a field with a
 * default is replaced in the list.
 *
 * @throws GatewayError `state_damaged` with the first problem
 */
export function parseRecords(name: CollectionName, records: unknown, source: string): unknown[] {
  if (!Array.isArray(records)) throw invalid([name], check(z.array(z.unknown()), records).error, source);
  const isValid = QUICK.get(name);
  for (let index = 0; index < records.length; index++) {
    if (!isValid?.(records[index])) records[index] = parseRecord(name, records[index], index, source);
  }
  return records;
}

function parseRecord(name: CollectionName, input: unknown, index: number, source: string): unknown {
  const parsed = check<z.ZodMiniType>(COLLECTIONS[name][0], input);
  if (!parsed.success) throw invalid([name, index], parsed.error, source);
  const unknown = unknownKey(input, parsed.data, [name, index]);
  if (unknown !== undefined) throw damaged(`${source} is damaged: ${unknown}`);
  return parsed.data;
}

function invalid(
  where: readonly PropertyKey[],
  error: z.core.$ZodError | undefined,
  source: string,
): ReturnType<typeof damaged> {
  const [issue] = error?.issues ?? [];
  const [problem] = issue ? describeIssue({ ...issue, path: [...where, ...issue.path] }) : [];
  return damaged(`${source} is damaged: ${problem ?? `${where.join('.')} is not valid`}`);
}

/** Describes the first key that the schema dropped. */
function unknownKey(input: unknown, parsed: unknown, where: readonly PropertyKey[]): string | undefined {
  if (typeof input !== 'object' || input === null || typeof parsed !== 'object' || parsed === null)
    return undefined;
  const kept = new Map<string, unknown>(Object.entries(parsed));
  for (const [key, value] of Object.entries(input)) {
    if (!kept.has(key)) {
      const meant = didYouMean(key, kept.keys());
      return `${where.join('.')}: unknown key "${key.slice(0, 60)}"${meant}`;
    }
    const inside = unknownKey(value, kept.get(key), [...where, key]);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** Whether a value is valid as it is: its schema would not change it, and it has no unknown keys. */
type QuickCheck = (value: unknown) => boolean;

/**
 * Creates a check from a schema, for millions of records. It is several times as fast as the schema, because it copies
 * nothing and reports no problems. It may reject valid values but never accepts invalid ones. The schema then parses
 * rejected values and decides.
 */
function quickCheck(schema: z.core.$ZodType): QuickCheck {
  // Missing values are rejected here and get their default from the schema.
  if (schema instanceof z.ZodMiniDefault) return quickCheck(schema.def.innerType);
  if (schema instanceof z.ZodMiniNullable) {
    const inner = quickCheck(schema.def.innerType);
    return (value) => value === null || inner(value);
  }
  const checks = (schema._zod.def.checks ?? []).map(({ _zod }) => _zod.def);
  if (schema instanceof z.ZodMiniString) {
    const patterns = checks.map((check) => ('pattern' in check ? check.pattern : undefined));
    if (!patterns.every((pattern) => pattern instanceof RegExp)) return bySchema(schema);
    if (!patterns.length) return (value) => typeof value === 'string';
    return (value) => typeof value === 'string' && patterns.every((pattern) => pattern.test(value));
  }
  if (checks.length) return bySchema(schema);
  if (schema instanceof z.ZodMiniObject) return objectCheck(schema.def.shape);
  if (schema instanceof z.ZodMiniArray) {
    const item = quickCheck(schema.def.element);
    return (value) => Array.isArray(value) && value.every(item);
  }
  if (schema instanceof z.ZodMiniTuple && schema.def.rest === null) {
    const items = schema.def.items.map(quickCheck);
    return (value) =>
      Array.isArray(value) &&
      value.length === items.length &&
      items.every((check, index) => check(value[index]));
  }
  if (schema instanceof z.ZodMiniEnum) {
    const known = new Set<unknown>(Object.values(schema.def.entries));
    return (value) => known.has(value);
  }
  return bySchema(schema);
}

function objectCheck(shape: Readonly<Record<string, z.core.$ZodType>>): QuickCheck {
  const checks = new Map<string, QuickCheck>();
  const required: string[] = [];
  for (const [name, schema] of Object.entries(shape)) {
    const isOptional = schema instanceof z.ZodMiniOptional;
    checks.set(name, quickCheck(isOptional ? schema.def.innerType : schema));
    if (!isOptional) required.push(name);
  }
  // Records of one kind have their keys in the same order. Checking values by index takes two thirds of the time of
  // looking up each key.
  let last: { names: readonly string[]; checks: readonly QuickCheck[] } | undefined;
  return (value) => {
    if (!isRecord(value)) return false;
    const names = Object.keys(value);
    if (names.length !== last?.names.length || names.some((name, index) => name !== last?.names[index])) {
      const known = names.flatMap((name) => checks.get(name) ?? []);
      if (known.length < names.length || !required.every((name) => Object.hasOwn(value, name))) return false;
      last = { names, checks: known };
    }
    const values = Object.values(value);
    for (let index = 0; index < values.length; index++) {
      if (!last.checks[index]?.(values[index])) return false;
    }
    return true;
  };
}

/** Whether a value is an object, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For rare schemas. Rejects objects, because the schema would copy them and the copy might differ. */
function bySchema(schema: z.core.$ZodType): QuickCheck {
  return (value) => {
    if (typeof value === 'object') return false;
    const { success, data } = z.safeParse(schema, value);
    return success && data === value;
  };
}
