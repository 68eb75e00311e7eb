import * as z from 'zod/mini';
import { didYouMean } from '../contract/error.ts';
import { check, describeIssue } from '../contract/input.ts';
import { COLLECTION_NAMES, COLLECTIONS, type CollectionName } from '../contract/state.ts';
import { damaged } from './files.ts';
import { type QuickCheck, quickCheck } from './quick-check.ts';

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
