import { command, hint, option } from '../contract/error.ts';
import { shortJson } from '../contract/text.ts';
import { COLLECTION_NAMES, type CollectionName } from '../contract/vocabulary.ts';
import type { Change, State } from '../domain/state.ts';
import type { WholeState } from './consistency.ts';
import { damaged } from './errors.ts';

/**
 * The format of db.json and journal.jsonl. Records that gateway-sim wrote are read without their schema, so it needs
 * another number if a stored key is renamed or removed, becomes required, or has another kind of value.
 */
export const SNAPSHOT_VERSION = 4;

/** The whole state as plain records, as in a snapshot file. */
export type Snapshot = { version: number } & WholeState;

/** Creates a snapshot of the current version. */
export function snapshotOf(recordsOf: (name: CollectionName) => readonly unknown[]): Snapshot {
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

/** @throws GatewayError `state_damaged` for another format than the current one */
export function requireFormat(found: unknown, source: string): void {
  if (found === SNAPSHOT_VERSION) return;
  throw damaged(
    `${source} has version ${shortJson(found)}, but this gateway-sim reads only version ${SNAPSHOT_VERSION}`,
    {
      hint: hint`Use the gateway-sim that wrote it, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
    },
  );
}

/** A change in the journal. `reset`: it replaces the whole state. */
export type StoredChange = Change & { reset?: true };

/** A change as JSON, for a line of the journal. */
export function changeText(change: StoredChange): string {
  return JSON.stringify({ version: SNAPSHOT_VERSION, ...change });
}

/** @throws GatewayError `state_damaged` */
export function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw damaged(`${source} is damaged: ${(error as Error).message}`, { cause: error });
  }
}

/** Whether a value is an object, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
