import * as z from 'zod/mini';
import { GatewayError, nearestName } from '../contract/error.ts';
import { COLLECTION_NAMES, COLLECTIONS, type CollectionName } from '../contract/state.ts';
import type { Change } from '../domain/state.ts';
import { damaged, readIfThere, replaceFile } from './files.ts';
import type { WholeState } from './integrity.ts';
import { migrate, SNAPSHOT_VERSION } from './migrations.ts';

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
 * Makes sure that parsed JSON is a snapshot, record by record. An older version is migrated.
 *
 * @param source what to call it in an error: a file's path, or "the request body"
 * @param options `knownKeysOnly`: it was written by people, so no key may be passed over in silence
 * @throws GatewayError `state_damaged`, naming the first thing that is wrong
 */
export function parseSnapshot(json: unknown, source: string, { knownKeysOnly = false } = {}): Snapshot {
  if (typeof json !== 'object' || json === null || !('version' in json)) {
    throw damaged(`${source} is not a gateway-sim state: it has no version`);
  }
  const given = migrate({ ...json }, json.version, source);
  const snapshot = snapshotOf((name) => parseRecords(name, given[name] ?? [], source));
  if (knownKeysOnly) requireKnownKeys(given, source);
  return snapshot;
}

function requireKnownKeys(given: object, source: string): void {
  const known = ['version', ...COLLECTION_NAMES];
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  const help = meant ? `did you mean ${meant}?` : `known: ${known.join(', ')}`;
  throw new GatewayError('state_damaged', `${source}: unknown key "${unknown.slice(0, 60)}": ${help}`);
}

const ARRAYS = new Map<string, z.ZodMiniArray>(
  COLLECTION_NAMES.map((name) => [name, z.array(COLLECTIONS[name][0])]),
);

function parseRecords(name: string, records: unknown, source: string): unknown[] {
  const parsed = ARRAYS.get(name)?.safeParse(records);
  if (parsed?.success) return parsed.data;
  const issue = parsed?.error.issues[0];
  const where = [name, ...(issue?.path ?? [])].join('.');
  throw damaged(`${source} is damaged: ${where}: ${issue?.message ?? 'not valid'}`);
}

/** A change of the journal. `reset`: it is the whole state that takes the place of the one before. */
export type StoredChange = Change & { reset?: true };

/** The text of a journal line, as `parseChange` reads it. */
export function changeText(change: StoredChange): string {
  const line = SNAPSHOT_VERSION === 1 ? change : { version: SNAPSHOT_VERSION, ...change };
  return `${JSON.stringify(line)}\n`;
}

/** Parses one journal line: a change, with the same checks as a snapshot. */
export function parseChange(line: string, source: string): StoredChange {
  const json = parseJson(line, source);
  if (typeof json !== 'object' || json === null) {
    throw damaged(`${source} is damaged: not a change`);
  }
  const change: Record<string, unknown> = 'reset' in json ? { reset: true } : {};
  const given = migrate({ ...json }, 'version' in json ? json.version : 1, source);
  for (const [name, records] of Object.entries(given)) {
    if (ARRAYS.has(name)) change[name] = parseRecords(name, records, source);
  }
  return change;
}

function parseJson(text: string | Buffer, source: string): unknown {
  try {
    return JSON.parse(text.toString().replace(/^\uFEFF/, ''));
  } catch (error) {
    throw damaged(`${source} is damaged: ${(error as Error).message}`, { cause: error });
  }
}

/** Null when there is no such file; fixtures come through the same door. @throws GatewayError `state_damaged` */
export async function readSnapshotFile(
  path: string,
  options: { knownKeysOnly?: boolean } = {},
): Promise<Snapshot | null> {
  const text = await readIfThere(path);
  return text ? parseSnapshot(parseJson(text, path), path, options) : null;
}

/** Records that are turned to text before the event loop gets its turn. */
const SLICE = 250;

/** The text of a snapshot in slices: valid JSON with one record a line, which people can read and diff. */
export function* snapshotText(snapshot: Snapshot): Generator<string> {
  let text = `{"version":${snapshot.version}`;
  for (const name of COLLECTION_NAMES) {
    const records = snapshot[name];
    text += `,\n"${name}":[`;
    for (let index = 0; index < records.length; index++) {
      text += `${index ? ',' : ''}\n${JSON.stringify(records[index])}`;
      if (index % SLICE === SLICE - 1) {
        yield text;
        text = '';
      }
    }
    text += records.length ? '\n]' : ']';
  }
  yield `${text}\n}\n`;
}

/** Writes a snapshot slice by slice to a new file that then takes the place of the old one. Returns its characters. */
export async function writeSnapshotFile(path: string, snapshot: Snapshot): Promise<number> {
  let size = 0;
  const file = await replaceFile(path, async (file) => {
    for (const slice of snapshotText(snapshot)) {
      await file.appendFile(slice);
      size += slice.length;
    }
    // Without it a power cut after the rename could leave an empty file where a good one was.
    await file.datasync();
  });
  await file.close();
  return size;
}
