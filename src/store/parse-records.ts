import * as z from 'zod/mini';
import { didYouMean } from '../contract/error.ts';
import { check, describeIssue } from '../contract/input.ts';
import { COLLECTIONS, type CollectionName } from '../contract/state.ts';
import { damaged } from './errors.ts';

/**
 * Validates the records of a collection with its schema, which does not change them.
 *
 * @throws GatewayError `state_damaged` with the first problem
 */
export function parseRecords(name: CollectionName, records: unknown, source: string): unknown[] {
  const list = check(z.array(z.unknown()), records);
  if (!list.success) throw invalid([name], list.error, source);
  for (const [index, record] of list.data.entries()) {
    const parsed = check<z.ZodMiniType>(COLLECTIONS[name][0], record);
    if (!parsed.success) throw invalid([name, index], parsed.error, source);
    const unknown = unknownKey(record, parsed.data);
    if (!unknown) continue;
    const [key = '', ...path] = unknown.path;
    const where = [name, index, ...path.reverse()].join('.');
    const meant = didYouMean(key, unknown.known);
    throw damaged(`${source} is damaged: ${where}: unknown key "${key.slice(0, 60)}"${meant}`);
  }
  return list.data;
}

function invalid(where: readonly PropertyKey[], { issues }: z.core.$ZodError, source: string) {
  const [problem] = issues.flatMap((issue) => describeIssue({ ...issue, path: [...where, ...issue.path] }));
  return damaged(`${source} is damaged: ${problem}`);
}

/** Finds the first key that the schema dropped. `path`: the key itself first, then those around it. */
function unknownKey(input: unknown, parsed: unknown): { path: string[]; known: string[] } | undefined {
  if (typeof input !== 'object' || input === null || typeof parsed !== 'object' || parsed === null)
    return undefined;
  for (const [key, value] of Object.entries(input)) {
    if (!Object.hasOwn(parsed, key)) return { path: [key], known: Object.keys(parsed) };
    const inside = unknownKey(value, parsed[key as keyof typeof parsed]);
    inside?.path.push(key);
    if (inside) return inside;
  }
  return undefined;
}

/** Whether a value is an object, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
