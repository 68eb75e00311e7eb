import { createHash } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import { GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import { damaged, replaceFile, syncFolder } from './files.ts';
import { chunksOf, LineSplitter, readIfThere } from './lines.ts';
import { parseJson, parseSnapshot, type SnapshotImage } from './snapshot.ts';
import { SnapshotLines, snapshotText } from './snapshot-lines.ts';

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
    const shape = new SnapshotLines();
    const lines = new LineSplitter((line) => shape.push(line));
    for await (const chunk of chunksOf(file, options)) {
      hash.update(chunk);
      size += chunk.length;
      if (!shape.isOtherFormat) lines.push(chunk);
    }
    return shape.end(lines.rest) ?? (await readWhole(path, file, size));
  };
  const json = await readIfThere(path, read, { follows: true });
  if (json === undefined) return null;
  return { snapshot: parseSnapshot(json, path), size, sha256: hash.digest('hex') };
}

/** Reads a file that was read in chunks, so that its position is still at the beginning. */
async function readWhole(path: string, file: FileHandle, size: number): Promise<unknown> {
  if (size > WHOLE_BYTES) {
    throw damaged(
      `${path} is too large: above ${WHOLE_BYTES / 2 ** 20} MiB, it must have one record per line`,
    );
  }
  return parseJson(await file.readFile('utf8'), path);
}

/** How a snapshot is written. */
export interface Writing {
  /** Called before the new file replaces the old one. */
  announce?: (sha256: string) => Promise<void>;
  /** Whether to wait until the file is on disk. Not needed for the first file, which replaces nothing. */
  isSynced?: boolean;
}

/** The file `db.json`. */
export class SnapshotFile {
  readonly #path: string;
  /** In bytes. */
  size = 0;
  sha256 = '';
  /** The file's stamp after the last read or write. */
  #stamp: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** lowdb's adapter for this file. */
  adapter(writing: Writing = {}): Adapter<SnapshotImage> {
    return { read: () => this.#read(), write: (image) => this.#write(image, writing) };
  }

  async #read(): Promise<SnapshotImage | null> {
    const stamp = stampOf(this.#path);
    const read = await readSnapshotFile(this.#path);
    if (!read) return null;
    this.size = read.size;
    this.sha256 = read.sha256;
    this.#stamp = stamp;
    return read.snapshot;
  }

  /**
   * Writes a snapshot in slices to a new file, which then replaces the old one.
   *
   * @throws GatewayError `storage_failed` if the file was edited in the meantime. The edited file stays.
   */
  async #write(image: SnapshotImage, { announce = async () => {}, isSynced = true }: Writing): Promise<void> {
    this.#assertUnedited();
    const hash = createHash('sha256');
    let size = 0;
    let sha256 = '';
    let stamp = '';
    const file = await replaceFile(
      this.#path,
      async (file) => {
        for (const text of snapshotText(image)) {
          const slice = Buffer.from(text);
          hash.update(slice);
          await file.appendFile(slice);
          size += slice.length;
        }
        sha256 = hash.digest('hex');
        // Without this, a power cut after the rename could leave an empty file instead of the old one.
        if (isSynced) await file.datasync();
      },
      async (file, rename) => {
        this.#assertUnedited();
        await announce(sha256);
        // Before the rename, since a user may edit the file right after it.
        stamp = stampText(await file.stat({ bigint: true }));
        await rename();
      },
    );
    await file.close();
    // Before anything relies on the new file.
    if (isSynced) await syncFolder(this.#path);
    this.size = size;
    this.sha256 = sha256;
    this.#stamp = stamp;
  }

  #assertUnedited(): void {
    const stamp = stampOf(this.#path);
    if (stamp === undefined || this.#stamp === undefined || stamp === this.#stamp) return;
    throw new GatewayError(
      'storage_failed',
      `${this.#path} was edited while gateway-sim was using it: the edit is kept but has no effect, and new changes are in journal.jsonl next to it`,
      { hint: hint`Stop the emulator before you edit its state, or use: ${command('state import')}` },
    );
  }
}

/** A value that changes with each edit; undefined if there is no file. */
function stampOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && stampText(found);
}

const stampText = ({ ino, size, mtimeNs }: BigIntStats) => `${ino}:${size}:${mtimeNs}`;
