import { nearestName } from '../contract/error.ts';
import { COLLECTION_NAMES, type CollectionName } from '../contract/state.ts';
import type { Change } from '../domain/state.ts';
import { damaged } from './files.ts';
import type { WholeState } from './integrity.ts';
import { migrate, SNAPSHOT_VERSION } from './migrations.ts';
import { parseRecords } from './parse-records.ts';

/** The whole state as plain records, as it is in a snapshot file. */
export type Snapshot = { version: number } & WholeState;

/** A snapshot of this version, collection by collection. */
export function snapshotOf(recordsOf: (name: CollectionName) => readonly unknown[]): Snapshot {
  const collections = COLLECTION_NAMES.map((name) => [name, recordsOf(name)] as const);
  return { version: SNAPSHOT_VERSION, ...Object.fromEntries(collections) } as Snapshot;
}

export function emptySnapshot(): Snapshot {
  return snapshotOf(() => []);
}

/**
 * Makes sure that parsed JSON is a snapshot, record by record. An older version is migrated. Records that are valid as
 * they are become part of the result.
 *
 * @param source what to call it in an error: a file's path, or "the request body"
 * @throws GatewayError `state_damaged`, naming the first thing that is wrong
 */
export function parseSnapshot(json: unknown, source: string): Snapshot {
  if (typeof json !== 'object' || json === null || !('version' in json)) {
    throw damaged(`${source} is not a gateway-sim state: it has no version`);
  }
  const given = migrate({ ...json }, json.version, source);
  requireKnownKeys(given, ['version', ...COLLECTION_NAMES], source);
  return snapshotOf((name) => parseRecords(name, given[name] ?? [], source));
}

/** A key that is passed over in silence may be one that a changed byte made of another. */
function requireKnownKeys(given: object, known: readonly string[], source: string): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  const help = meant ? `did you mean ${meant}?` : `known: ${known.join(', ')}`;
  throw damaged(`${source}: unknown key "${unknown.slice(0, 60)}": ${help}`);
}

/** A change of the journal. `reset`: it is the whole state that takes the place of the one before. */
export type StoredChange = Change & { reset?: true };

/** The text of a journal line, as `parseChange` reads it. */
export function changeText(change: StoredChange): string {
  const line = SNAPSHOT_VERSION === 1 ? change : { version: SNAPSHOT_VERSION, ...change };
  return `${JSON.stringify(line)}\n`;
}

const CHANGE_KEYS = ['version', 'reset', ...COLLECTION_NAMES];

/** Parses one journal line: a change, with the same checks as a snapshot. */
export function parseChange(line: string, source: string): StoredChange {
  const json = parseJson(line, source);
  if (typeof json !== 'object' || json === null) {
    throw damaged(`${source} is damaged: not a change`);
  }
  const given = migrate({ ...json }, 'version' in json ? json.version : 1, source);
  requireKnownKeys(given, CHANGE_KEYS, source);
  const change: Record<string, unknown> = {};
  if ('reset' in given) {
    if (given['reset'] !== true) throw damaged(`${source} is damaged: reset is not true`);
    change['reset'] = true;
  }
  for (const name of COLLECTION_NAMES) {
    const records = given[name];
    if (records !== undefined) change[name] = parseRecords(name, records, source);
  }
  return change;
}

/** @throws GatewayError `state_damaged` */
export function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw damaged(`${source} is damaged: ${(error as Error).message}`, { cause: error });
  }
}
