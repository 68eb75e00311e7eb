import { constants } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import { type BigIntStats, linkSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { COLLECTION_NAMES } from '../contract/vocabulary.ts';
import { replaceFile, syncFile, syncFolder } from '../system/files.ts';
import { damaged } from './errors.ts';
import type { Mark } from './journal.ts';
import { chunksOf, linesOf, readIfThere } from './read-lines.ts';
import { isRecord, parseJson, type Snapshot } from './snapshot.ts';

/*
 * The format of a snapshot: valid JSON with one record per line. People can read, diff and edit it. It is read and
 * written in pieces, at any size. If its hash proves that gateway-sim wrote it, its records need no schema. In db.json,
 * each snapshot has a random id, which an edit does not change and which no other folder has.
 */

/** Records to serialize before the event loop can run. */
const SLICE = 250;

/** The text of a snapshot in slices. @param id only for db.json: an exported state belongs to no journal */
export function* snapshotText(snapshot: Snapshot, id?: string): Generator<string> {
  let text = JSON.stringify({ version: snapshot.version, id }).slice(0, -1);
  for (const name of COLLECTION_NAMES) {
    let count = 0;
    text += `,\n"${name}":[`;
    for (const record of snapshot[name]) {
      text += `${count++ ? ',' : ''}\n${JSON.stringify(record)}`;
      if (count % SLICE === 0) {
        yield text;
        text = '';
      }
    }
    text += count ? '\n]' : ']';
  }
  yield `${text}\n}\n`;
}

/** Parses the output of `snapshotText` line by line, since a string cannot hold every state. */
async function parseLines(file: FileHandle): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {};
  let records: unknown[] = [];
  for await (const line of linesOf(file)) {
    const text = line.toString().replace(/,?\n$/, '');
    if (!('version' in state)) Object.assign(state, JSON.parse(`${text}}`));
    else if (text.startsWith('{')) records.push(JSON.parse(text));
    else if (text.startsWith('"')) {
      records = [];
      state[text.slice(1, text.indexOf('"', 1))] = records;
    }
  }
  return state;
}

/** Parses any other JSON, such as an edited file. */
async function parseWhole(file: FileHandle, path: string): Promise<unknown> {
  const limit = constants.MAX_STRING_LENGTH;
  if ((await file.stat()).size > limit)
    throw damaged(`${path} is too large: an edited state may have up to ${Math.ceil(limit / 2 ** 20)} MiB`);
  return parseJson(await file.readFile('utf8'), path);
}

async function validated(json: unknown, source: string): Promise<Snapshot> {
  return (await import('./parse-snapshot.ts')).parseSnapshot(json, source);
}

/**
 * Reads fixtures, or a state that a person may have edited.
 *
 * @returns undefined if the file does not exist
 * @throws GatewayError `state_damaged`
 */
export function readSnapshotFile(path: string): Promise<Snapshot | undefined> {
  const read = async (file: FileHandle) => validated(await parseWhole(file, path), path);
  return readIfThere(path, read, { follows: true });
}

/** The file `db.json`. */
export class SnapshotFile {
  readonly #path: string;
  /** The id in the file when it was last read or written; undefined if it has none. */
  id: string | undefined;
  /** The hash of the file when it was last read or written; undefined if it does not exist. */
  sha256: string | undefined;
  /** Its length in bytes at that time; 0 if it does not exist. */
  size = 0;
  /** The file's stamp after the last read or write. */
  #stamp: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * @param written hashes of files that gateway-sim wrote
   * @returns undefined if the file does not exist
   * @throws GatewayError `state_damaged`
   */
  async read(written: readonly string[]): Promise<Snapshot | undefined> {
    const stamp = stampOf(this.#path);
    return readIfThere(this.#path, async (file) => {
      const hash = createHash('sha256');
      for await (const chunk of chunksOf(file)) hash.update(chunk);
      this.sha256 = hash.digest('hex');
      this.size = (await file.stat()).size;
      this.#stamp = stamp;
      const isOurs = written.includes(this.sha256);
      const parsed = await (isOurs ? parseLines(file) : parseWhole(file, this.#path));
      const { id, ...state } = isRecord(parsed) ? parsed : {};
      this.id = typeof id === 'string' ? id : undefined;
      return isOurs ? (state as Snapshot) : validated(parsed, this.#path);
    });
  }

  /**
   * Writes a snapshot in slices to a new file, which then replaces the old one. An old file that was edited since it was
   * last read or written is kept under another name.
   *
   * @throws the file system's error, with the old file unchanged
   */
  async write(snapshot: Snapshot, { isSynced, announce, assertOurs, onEdit }: Replacing): Promise<void> {
    const id = randomBytes(8).toString('hex');
    const hash = createHash('sha256');
    let sha256 = '';
    let size = 0;
    let stamp = '';
    const write = async (file: FileHandle) => {
      for (const text of snapshotText(snapshot, id)) {
        const slice = Buffer.from(text);
        hash.update(slice);
        size += slice.length;
        await file.appendFile(slice);
      }
      sha256 = hash.digest('hex');
      // Without this, a power cut after the rename could leave an empty file instead of the old one.
      if (isSynced) await syncFile(file);
      await announce({ id, db: sha256 });
      // Before the rename, since a user may edit the file right after it.
      stamp = stampText(await file.stat({ bigint: true }));
    };
    const check = () => {
      assertOurs();
      const found = stampOf(this.#path);
      if (found !== undefined && found !== this.#stamp) onEdit(keepEdited(this.#path));
    };
    const file = await replaceFile(this.#path, write, check);
    await file.close();
    // Before anything relies on the new file.
    if (isSynced) await syncFolder(this.#path);
    this.id = id;
    this.sha256 = sha256;
    this.size = size;
    this.#stamp = stamp;
  }
}

/** What happens while db.json is replaced. */
interface Replacing {
  /** Whether to wait until the new file is on disk. */
  isSynced: boolean;
  /** Called before the new file replaces the old one. */
  announce: (written: Pick<Mark, 'id' | 'db'>) => Promise<void>;
  /** Throws if the folder is no longer the locked one. Called immediately before the replacement. */
  assertOurs: () => void;
  /** Called with the copy of a file that was edited. */
  onEdit: (kept: string) => void;
}

/**
 * Keeps a file that a person edited under another name, before it is replaced. It becomes a link, which also gets what an
 * editor has yet to write.
 *
 * @returns the new path
 * @throws the file system's error
 */
function keepEdited(path: string): string {
  const time = new Date(Date.now()).toISOString().replaceAll(':', '-');
  const kept = join(dirname(path), `db.edited-${time}.json`);
  linkSync(path, kept);
  return kept;
}

/** A value that changes with each edit; undefined if there is no file. */
function stampOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && stampText(found);
}

const stampText = ({ ino, size, mtimeNs }: BigIntStats) => `${ino}:${size}:${mtimeNs}`;
