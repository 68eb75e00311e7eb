import { open, readFile, rename, unlink } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import * as z from 'zod/mini';
import { GatewayError, nearestName } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { COLLECTION_NAMES, COLLECTION_SCHEMAS, type CollectionName, type Records } from '../domain/state.ts';
import { isMissing, reason } from './file-error.ts';

/** Version of the file format; raised when records change so that older files need a migration. */
export const SNAPSHOT_VERSION = 1;

/** The whole state as plain records, as it stands in a snapshot file. */
export type Snapshot = { version: number } & { [Name in CollectionName]: readonly Records[Name][] };

const START_OVER = hint`Put back a good copy, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`;

/** A snapshot without any record. */
export function emptySnapshot(): Snapshot {
  const collections = Object.fromEntries(COLLECTION_NAMES.map((name) => [name, []]));
  return { version: SNAPSHOT_VERSION, ...collections } as unknown as Snapshot;
}

/**
 * Makes sure that parsed JSON is a snapshot of this version, record by record.
 *
 * @param source what to call it in an error: a file's path, or "the request body"
 * @throws GatewayError `state_damaged`, naming the first thing that is wrong
 */
export function parseSnapshot(json: unknown, source: string): Snapshot {
  if (typeof json !== 'object' || json === null || !('version' in json)) {
    throw new GatewayError('state_damaged', `${source} is not a gateway-sim state: it has no version`, {
      hint: START_OVER,
    });
  }
  requireKnownVersion(json.version, source);
  const given = json as Record<string, unknown>;
  const snapshot = Object.fromEntries(
    COLLECTION_NAMES.map((name) => [name, parseRecords(name, given[name] ?? [], source)]),
  );
  return { version: SNAPSHOT_VERSION, ...snapshot } as unknown as Snapshot;
}

function requireKnownVersion(version: unknown, source: string): void {
  const isVersion = Number.isInteger(version) && Number(version) >= 1;
  if (isVersion && Number(version) <= SNAPSHOT_VERSION) return;
  throw new GatewayError(
    'state_damaged',
    isVersion
      ? `${source} has the version ${version}; this gateway-sim reads up to ${SNAPSHOT_VERSION}`
      : `${source} is not a gateway-sim state: none has the version ${JSON.stringify(version)}`,
    {
      hint: isVersion
        ? hint`It was written by a newer gateway-sim: use that one, or another ${option('dataDir')}.`
        : START_OVER,
    },
  );
}

/**
 * Makes sure that a state that people write has no key that would be passed over in silence.
 *
 * @throws GatewayError `state_damaged`, with the known name nearest to an unknown one
 */
export function requireKnownKeys(json: unknown, source: string): void {
  const known = ['version', ...COLLECTION_NAMES];
  const unknown = Object.keys(json as object).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  const help = meant ? `did you mean ${meant}?` : `known: ${known.join(', ')}`;
  throw new GatewayError('state_damaged', `${source}: unknown key "${unknown.slice(0, 60)}": ${help}`);
}

const ARRAYS = Object.fromEntries(
  COLLECTION_NAMES.map((name) => [name, z.array(COLLECTION_SCHEMAS[name] as z.ZodMiniType)]),
) as unknown as Record<CollectionName, z.ZodMiniType<unknown[]>>;

function parseRecords(name: CollectionName, records: unknown, source: string): unknown[] {
  const parsed = ARRAYS[name].safeParse(records);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = [name, ...(issue?.path ?? [])].join('.');
  throw new GatewayError(
    'state_damaged',
    `${source} is damaged: ${where}: ${issue?.message ?? 'not valid'}`,
    {
      hint: START_OVER,
    },
  );
}

/** Parses one journal line: a change, with the same checks as a snapshot. */
export function parseChange(line: string, source: string): Partial<Snapshot> & { reset?: true } {
  const json = parseJson(line, source);
  if (typeof json !== 'object' || json === null) {
    throw new GatewayError('state_damaged', `${source} is damaged: not a change`, { hint: START_OVER });
  }
  const change: Record<string, unknown> = 'reset' in json ? { reset: true } : {};
  for (const [name, records] of Object.entries(json)) {
    if (Object.hasOwn(ARRAYS, name)) change[name] = parseRecords(name as CollectionName, records, source);
  }
  return change;
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GatewayError('state_damaged', `${source} is damaged: ${(error as Error).message}`, {
      hint: START_OVER,
      cause: error,
    });
  }
}

/**
 * Reads a snapshot file; fixtures come through the same door.
 *
 * @param options `knownKeysOnly`: for a file that people write
 * @returns null when there is no such file
 * @throws GatewayError `state_damaged`
 */
export async function readSnapshotFile(
  path: string,
  { knownKeysOnly = false } = {},
): Promise<Snapshot | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw new GatewayError('state_damaged', `${path} cannot be read: ${reason(error)}`, { cause: error });
  }
  const json = parseJson(text.replace(/^\uFEFF/, ''), path);
  const snapshot = parseSnapshot(json, path);
  if (knownKeysOnly) requireKnownKeys(json, path);
  return snapshot;
}

/** So many records are turned to text before the event loop gets its turn. */
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

/** lowdb's door to the snapshot file: read whole, written slice by slice to a new file that then takes its place. */
export class SnapshotFile implements Adapter<Snapshot> {
  readonly #path: string;
  /** The size of what was written last, in characters. */
  size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  read(): Promise<Snapshot | null> {
    return readSnapshotFile(this.#path);
  }

  async write(snapshot: Snapshot): Promise<void> {
    const temporary = `${this.#path}.tmp`;
    try {
      const file = await open(temporary, 'w', 0o600);
      try {
        let size = 0;
        for (const slice of snapshotText(snapshot)) {
          await file.appendFile(slice);
          size += slice.length;
        }
        this.size = size;
        // Without it a power cut after the rename could leave an empty file where a good one was.
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(temporary, this.#path);
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
  }
}
