import { nearestName } from '../contract/error.ts';
import { COLLECTION_NAMES, type CollectionName, type Records } from '../contract/state.ts';
import type { Change, State } from '../domain/state.ts';
import { damaged } from './files.ts';
import { assertConsistent, type WholeState } from './integrity.ts';
import { migrate, SNAPSHOT_VERSION } from './migrations.ts';
import { parseRecords } from './parse-records.ts';
import { isRecord } from './quick-check.ts';

/** The whole state as plain records, as it is in a snapshot file. */
export type Snapshot = { version: number } & WholeState;

/** A state as it is written: its records may still be somewhere else. */
export type SnapshotImage = { version: number } & { [Name in CollectionName]: Iterable<Records[Name]> };

/** A snapshot of this version, collection by collection. */
export function snapshotOf(recordsOf: (name: CollectionName) => readonly unknown[]): Snapshot {
  const collections = COLLECTION_NAMES.map((name) => [name, recordsOf(name)] as const);
  return { version: SNAPSHOT_VERSION, ...Object.fromEntries(collections) } as Snapshot;
}

/** Holds a state that people wrote to the rules that ours keep. @throws GatewayError `state_damaged` */
export function assertOurRules(state: State, path: string, currencies: Iterable<string> = []): void {
  assertConsistent(
    snapshotOf((name) => [...state[name].values()]),
    path,
    currencies,
  );
}

/** Whether a state holds the records of a snapshot, in that order, and nothing else. */
export function isSame(state: State, snapshot: SnapshotImage): boolean {
  return COLLECTION_NAMES.every((name) => {
    const held = state[name].values();
    for (const record of snapshot[name]) {
      const { value } = held.next();
      if (value !== record && JSON.stringify(value) !== JSON.stringify(record)) return false;
    }
    return held.next().done === true;
  });
}

/** A state as of now, to be written while it goes on changing, until `thaw`. */
export function frozen(state: State): { image: SnapshotImage; thaw: () => void } {
  const image = {
    version: SNAPSHOT_VERSION,
    merchants: state.merchants.freeze(),
    wallets: state.wallets.freeze(),
    payments: state.payments.freeze(),
    messages: state.messages.freeze(),
    deliveries: state.deliveries.freeze(),
    attempts: state.attempts.freeze(),
    cards: state.cards.freeze(),
    cardTransactions: state.cardTransactions.freeze(),
    clock: state.clock.freeze(),
  };
  return {
    image,
    thaw() {
      for (const name of COLLECTION_NAMES) state[name].thaw();
    },
  };
}

export function emptySnapshot(): Snapshot {
  return snapshotOf(() => []);
}

const SNAPSHOT_KEYS: ReadonlySet<string> = new Set(['version', ...COLLECTION_NAMES]);

/**
 * Makes sure that parsed JSON is a snapshot, record by record. An older version is migrated. Records that are valid as
 * they are become part of the result.
 *
 * @param source what to call it in an error: a file's path, or "the request body"
 * @throws GatewayError `state_damaged`, naming the first thing that is wrong
 */
export function parseSnapshot(json: unknown, source: string): Snapshot {
  if (!isRecord(json) || !('version' in json)) {
    throw damaged(`${source} is not a gateway-sim state: it has no version`);
  }
  const given = migrate(json, json['version'], source);
  requireKnownKeys(given, SNAPSHOT_KEYS, source);
  return snapshotOf((name) => parseRecords(name, given[name] ?? [], source));
}

/** A key that is passed over in silence may be one that a changed byte made of another. */
function requireKnownKeys(given: object, known: ReadonlySet<string>, source: string, extra?: string): void {
  const unknown = Object.keys(given).find((key) => !known.has(key) && key !== extra);
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  const help = meant ? `did you mean ${meant}?` : `known: ${[...known].join(', ')}`;
  throw damaged(`${source}: unknown key "${unknown.slice(0, 60)}": ${help}`);
}

/** A change of the journal. `reset`: it is the whole state that takes the place of the one before. */
export type StoredChange = Change & { reset?: true };

/** A change as JSON, as `parseChange` takes it. */
export function changeText(change: StoredChange): string {
  return JSON.stringify({ version: SNAPSHOT_VERSION, ...change });
}

const CHANGE_KEYS = new Set(['reset', 'removed', ...SNAPSHOT_KEYS]);
const COLLECTION_KEYS: ReadonlySet<string> = new Set(COLLECTION_NAMES);

/**
 * Makes sure that parsed JSON is a change, with the same checks as a snapshot.
 *
 * @param extra a key that it has beside those of a change
 */
export function parseChange(json: unknown, source: string, extra?: string): StoredChange {
  if (!isRecord(json)) throw damaged(`${source} is damaged: not a change`);
  const given = migrate(json, 'version' in json ? json['version'] : 1, source);
  requireKnownKeys(given, CHANGE_KEYS, source, extra);
  const change: Record<string, unknown> = {};
  if ('reset' in given) {
    if (given['reset'] !== true) throw damaged(`${source} is damaged: reset is not true`);
    change['reset'] = true;
  }
  for (const name of COLLECTION_NAMES) {
    const records = given[name];
    if (records !== undefined) change[name] = parseRecords(name, records, source);
  }
  if ('removed' in given) change['removed'] = parseRemoved(given['removed'], source);
  return change;
}

/** Ids by collection. */
function parseRemoved(given: unknown, source: string): unknown {
  const isIds = (ids: unknown) => Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  if (!isRecord(given) || !Object.values(given).every(isIds)) {
    throw damaged(`${source} is damaged: removed is not a list of ids for each collection`);
  }
  requireKnownKeys(given, COLLECTION_KEYS, source);
  return given;
}

/** @throws GatewayError `state_damaged` */
export function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw damaged(`${source} is damaged: ${(error as Error).message}`, { cause: error });
  }
}
