import * as z from 'zod/mini';
import { didYouMean, nearestName } from '../contract/error.ts';
import { check, describeIssue } from '../contract/input.ts';
import { COLLECTIONS } from '../contract/state.ts';
import { COLLECTION_NAMES, type CollectionName } from '../contract/vocabulary.ts';
import { damaged } from './errors.ts';
import { isRecord, requireFormat, type Snapshot, snapshotOf } from './snapshot.ts';

/*
 * Loaded only for a snapshot that a person may have edited, because the schemas of all records load slowly.
 */

const SNAPSHOT_KEYS: ReadonlySet<string> = new Set(['version', 'id', ...COLLECTION_NAMES]);

/**
 * Validates a snapshot that a person may have edited. Ignores the id that connects a db.json with its journal.
 *
 * @param source the name of the snapshot, for errors: a file's path, or "the request body"
 * @throws GatewayError `state_damaged` with the first problem
 */
export function parseSnapshot(json: unknown, source: string): Snapshot {
  if (!isRecord(json) || !('version' in json)) {
    throw damaged(`${source} is not a gateway-sim state: it has no version`);
  }
  requireFormat(json['version'], source);
  // A changed byte may have turned a known key into another one.
  const unknown = Object.keys(json).find((key) => !SNAPSHOT_KEYS.has(key));
  if (unknown !== undefined) {
    const meant = nearestName(unknown, SNAPSHOT_KEYS);
    const help = meant ? `did you mean ${meant}?` : `known: ${[...SNAPSHOT_KEYS].join(', ')}`;
    throw damaged(`${source}: unknown key "${unknown.slice(0, 60)}": ${help}`);
  }
  return snapshotOf((name) => parseRecords(name, json[name] ?? [], source));
}

/**
 * Validates the records of a collection with its schema, which does not change them.
 *
 * @throws GatewayError `state_damaged` with the first problem
 */
function parseRecords(name: CollectionName, records: unknown, source: string): unknown[] {
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
