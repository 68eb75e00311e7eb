import { createHash } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import { command, GatewayError, hint } from '../contract/error.ts';
import { COLLECTION_NAMES } from '../contract/state.ts';
import { damaged, replaceFile, syncFolder } from './files.ts';
import { chunksOf, LineSplitter, readIfThere, textOf } from './lines.ts';
import { isRecord } from './parse-records.ts';
import { parseJson, parseSnapshot, type Snapshot, type SnapshotImage } from './snapshot.ts';

/*
 * The format of a snapshot: valid JSON with one record per line. People can read and diff it. It is read and written in
 * pieces, at any size.
 */

/** Records to serialize before the event loop can run. */
const SLICE = 250;

/** The text of a snapshot in slices. */
export function* snapshotText(snapshot: SnapshotImage): Generator<string> {
  let text = `{"version":${snapshot.version}`;
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

const COMMA = 0x2c;
const BRACE = 0x7b;
/** Much larger than the text around the records. */
const MAX_FRAME = 2 ** 16;

/** Parses the output of `snapshotText` line by line, with the same result as `JSON.parse`. */
export class SnapshotLines {
  /** Records on consecutive lines. */
  readonly #runs: unknown[][] = [];
  /** The text with the number of a run instead of its lines. No JSON string contains a line break, so no line is in one. */
  #frame = '';
  /** The run that continues on the next line. */
  #run: unknown[] | undefined;

  push(line: Buffer): void {
    const isFollowed = line.at(-1) === COMMA;
    // The first line begins the object that has the lists.
    const record =
      this.#frame && line[0] === BRACE ? parsed(isFollowed ? line.subarray(0, -1) : line) : undefined;
    if (record === undefined) {
      this.#endRun(true);
      if (!this.isOtherFormat) this.#frame += `${line}\n`;
      return;
    }
    this.#run ??= [];
    this.#run.push(record);
    if (!isFollowed) this.#endRun(false);
  }

  /** Whether most of the file is not one record per line, because a person edited it or it is damaged. */
  get isOtherFormat(): boolean {
    return this.#frame.length > MAX_FRAME;
  }

  #endRun(isFollowed: boolean): void {
    if (!this.#run) return;
    this.#frame += `${this.#runs.push(this.#run) - 1}${isFollowed ? ',' : ''}\n`;
    this.#run = undefined;
  }

  /** @returns undefined if the whole text must be parsed */
  end(rest: Buffer): Record<string, unknown> | undefined {
    this.#endRun(true);
    if (this.isOtherFormat || rest.length > MAX_FRAME) return undefined;
    const frame = parsed(Buffer.from(`${this.#frame}${rest}`));
    if (!isRecord(frame)) return undefined;
    const lists = Object.entries(frame);
    const runs = lists.flatMap(([, list]) => (Array.isArray(list) ? list.filter(isNumber) : []));
    // A run is not in a list of the outer object, or there is another number.
    if (runs.length !== this.#runs.length || runs.some((run, index) => run !== index)) return undefined;
    const records = (item: unknown) => (isNumber(item) ? (this.#runs[item] ?? []) : [item]);
    return Object.fromEntries(
      lists.map(([name, list]) => [name, Array.isArray(list) ? list.flatMap(records) : list]),
    );
  }
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Undefined for text that is not JSON. */
function parsed(json: Buffer): unknown {
  try {
    return JSON.parse(textOf(json));
  } catch {
    return undefined;
  }
}

/** Maximum size of a file that is not one record per line: it is read into one string, whose length is limited. */
const WHOLE_BYTES = 2 ** 28;

/**
 * Reads a snapshot or fixtures of any size.
 *
 * @returns null if the file does not exist
 * @throws GatewayError `state_damaged`
 */
export async function readSnapshotFile(path: string, options: { chunkBytes?: number } = {}) {
  const hash = createHash('sha256');
  let size = 0;
  const read = async (file: FileHandle) => {
    const lines = new SnapshotLines();
    const splitter = new LineSplitter((line) => lines.push(line));
    for await (const chunk of chunksOf(file, options)) {
      hash.update(chunk);
      size += chunk.length;
      if (!lines.isOtherFormat) splitter.push(chunk);
    }
    const json = lines.end(splitter.rest);
    if (json) return json;
    if (size <= WHOLE_BYTES) return parseJson(await file.readFile('utf8'), path);
    throw damaged(
      `${path} is too large: above ${WHOLE_BYTES / 2 ** 20} MiB, it must have one record per line`,
    );
  };
  const json = await readIfThere(path, read, { follows: true });
  if (json === undefined) return null;
  return { snapshot: parseSnapshot(json, path), sha256: hash.digest('hex'), size };
}

/** How a snapshot is written. */
interface Writing {
  /** Called before the new file replaces the old one. */
  announce?: (sha256: string) => Promise<unknown>;
  /** Whether to wait until the file is on disk. Not needed for the first file, which replaces nothing. */
  isSynced?: boolean;
}

/** The file `db.json`. */
export class SnapshotFile {
  readonly #path: string;
  /** The hash of the file when it was last read or written; undefined if it does not exist. */
  sha256: string | undefined;
  /** Its length in bytes at that time; 0 if it does not exist. */
  size = 0;
  /** The file's stamp after the last read or write. */
  #stamp: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** lowdb's adapter for this file. */
  adapter(writing: Writing = {}) {
    return {
      read: () => this.#read(),
      write: (image: SnapshotImage) => this.#write(image, writing),
    } satisfies Adapter<SnapshotImage>;
  }

  async #read(): Promise<Snapshot | null> {
    const stamp = stampOf(this.#path);
    const read = await readSnapshotFile(this.#path);
    if (!read) return null;
    this.sha256 = read.sha256;
    this.size = read.size;
    this.#stamp = stamp;
    return read.snapshot;
  }

  /**
   * Writes a snapshot in slices to a new file, which then replaces the old one.
   *
   * @throws GatewayError `storage_failed` if the file was edited in the meantime. The edited file stays.
   */
  async #write(image: SnapshotImage, { announce = async () => {}, isSynced = true }: Writing): Promise<void> {
    const hash = createHash('sha256');
    let sha256 = '';
    let size = 0;
    let stamp = '';
    const file = await replaceFile(
      this.#path,
      async (file) => {
        for (const text of snapshotText(image)) {
          const slice = Buffer.from(text);
          hash.update(slice);
          size += slice.length;
          await file.appendFile(slice);
        }
        sha256 = hash.digest('hex');
        // Without this, a power cut after the rename could leave an empty file instead of the old one.
        if (isSynced) await file.datasync();
      },
      async (file, rename) => {
        const found = stampOf(this.#path);
        if (found !== undefined && this.#stamp !== undefined && found !== this.#stamp) {
          throw new GatewayError(
            'storage_failed',
            `${this.#path} was edited while gateway-sim was using it: the edit is kept but has no effect, and new changes are in journal.jsonl next to it`,
            {
              hint: hint`Stop the emulator before you edit its state, or use: ${command('state import')}`,
            },
          );
        }
        await announce(sha256);
        // Before the rename, since a user may edit the file right after it.
        stamp = stampText(await file.stat({ bigint: true }));
        await rename();
      },
    );
    await file.close();
    // Before anything relies on the new file.
    if (isSynced) await syncFolder(this.#path);
    this.sha256 = sha256;
    this.size = size;
    this.#stamp = stamp;
  }
}

/** A value that changes with each edit; undefined if there is no file. */
function stampOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && stampText(found);
}

const stampText = ({ ino, size, mtimeNs }: BigIntStats) => `${ino}:${size}:${mtimeNs}`;
