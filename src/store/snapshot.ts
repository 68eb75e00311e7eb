import { nearestName } from '../contract/error.ts';
import { COLLECTION_NAMES, type CollectionName } from '../contract/state.ts';
import type { Change, State } from '../domain/state.ts';
import type { WholeState } from './consistency.ts';
import { damaged } from './errors.ts';
import { migrate, SNAPSHOT_VERSION } from './migrations.ts';
import { isRecord, parseRecords } from './parse-records.ts';

/** The whole state as plain records, as in a snapshot file. */
export type Snapshot = { version: number } & WholeState;

/** Creates a snapshot of the current version. */
function snapshotOf(recordsOf: (name: CollectionName) => readonly unknown[]): Snapshot {
  const collections = COLLECTION_NAMES.map((name) => [name, recordsOf(name)] as const);
  return { version: SNAPSHOT_VERSION, ...Object.fromEntries(collections) } as Snapshot;
}

/** A state as plain records, which later changes of the state do not affect. */
export function wholeState(state: State): Snapshot {
  return snapshotOf((name) => [...state[name].values()]);
}

export function emptySnapshot(): Snapshot {
  return snapshotOf(() => []);
}

const SNAPSHOT_KEYS: ReadonlySet<string> = new Set(['version', 'id', ...COLLECTION_NAMES]);

/**
 * Validates a snapshot that a person may have edited. Migrates an older version. Ignores the id that connects a db.json
 * with its journal.
 *
 * @param source the name of the snapshot, for errors: a file's path, or "the request body"
 * @throws GatewayError `state_damaged` with the first problem
 */
export function parseSnapshot(json: unknown, source: string): Snapshot {
  if (!isRecord(json) || !('version' in json)) {
    throw damaged(`${source} is not a gateway-sim state: it has no version`);
  }
  const migrated = migrate(json, json['version'], source);
  requireKnownKeys(migrated, SNAPSHOT_KEYS, source);
  return snapshotOf((name) => parseRecords(name, migrated[name] ?? [], source));
}

/** Rejects unknown keys: a changed byte may have turned a known key into another one. */
function requireKnownKeys(value: object, known: ReadonlySet<string>, source: string): void {
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  const help = meant ? `did you mean ${meant}?` : `known: ${[...known].join(', ')}`;
  throw damaged(`${source}: unknown key "${unknown.slice(0, 60)}": ${help}`);
}

/** Checksums of records, by collection and id. */
export type Checksums = { readonly [Name in CollectionName]?: Readonly<Record<string, string>> };

/** A change in the journal. `reset`: it replaces the whole state. `replaced`: the records that it replaces or removes. */
export type StoredChange = Change & { reset?: true; replaced?: Checksums | undefined };

/** A change as JSON for `parseChange`. */
export function changeText(change: StoredChange): string {
  return JSON.stringify({ version: SNAPSHOT_VERSION, ...change });
}

const CHANGE_KEYS = new Set([
  'line',
  'version',
  'reset',
  'removed',
  'replaced',
  'crc32',
  ...COLLECTION_NAMES,
]);
const COLLECTION_KEYS: ReadonlySet<string> = new Set(COLLECTION_NAMES);

/**
 * Validates a change, with the same checks as for a snapshot. The number and the checksum of its line are ignored. So are
 * the checksums of the records that it replaces: they are of another version if the change was migrated.
 */
export function parseChange(json: unknown, source: string): StoredChange {
  if (!isRecord(json)) throw damaged(`${source} is damaged: not a change`);
  const migrated = migrate(json, 'version' in json ? json['version'] : 1, source);
  requireKnownKeys(migrated, CHANGE_KEYS, source);
  const change: Record<string, unknown> = {};
  if ('reset' in migrated) {
    if (migrated['reset'] !== true) throw damaged(`${source} is damaged: reset is not true`);
    change['reset'] = true;
  }
  for (const name of COLLECTION_NAMES) {
    const records = migrated[name];
    if (records !== undefined) change[name] = parseRecords(name, records, source);
  }
  if ('removed' in migrated) change['removed'] = parseRemoved(migrated['removed'], source);
  return change;
}

/** Ids by collection. */
function parseRemoved(value: unknown, source: string): unknown {
  const isIds = (ids: unknown) => Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  if (!isRecord(value) || !Object.values(value).every(isIds)) {
    throw damaged(`${source} is damaged: removed is not a list of ids for each collection`);
  }
  requireKnownKeys(value, COLLECTION_KEYS, source);
  return value;
}

/** @throws GatewayError `state_damaged` */
export function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw damaged(`${source} is damaged: ${(error as Error).message}`, { cause: error });
  }
}
