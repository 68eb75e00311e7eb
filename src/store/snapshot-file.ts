import { createHash } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import { type FileHandle, readFile, stat } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import { GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import { damaged, replaceFile, syncFolder } from './files.ts';
import { chunksOf, LineSplitter, readIfThere } from './lines.ts';
import { parseJson, parseSnapshot, type SnapshotImage } from './snapshot.ts';
import { SnapshotLines, snapshotText } from './snapshot-lines.ts';

/** What people wrote otherwise than one record a line is one text in memory, and a text has a limit. */
const WHOLE_BYTES = 2 ** 28;

/**
 * Reads a snapshot at any size. Fixtures come through the same door.
 *
 * @returns null when there is no such file
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
      if (!shape.isOther) lines.push(chunk);
    }
    return shape.end(lines.rest) ?? (await readWhole(path));
  };
  const json = await readIfThere(path, read, { follows: true });
  if (json === undefined) return null;
  return { snapshot: parseSnapshot(json, path), size, sha256: hash.digest('hex') };
}

async function readWhole(path: string): Promise<unknown> {
  const { size } = await stat(path);
  if (size > WHOLE_BYTES) {
    const problem = 'it is not written one record a line, and too large to be read otherwise';
    throw damaged(`${path} is damaged: ${problem}`);
  }
  return parseJson(await readFile(path, 'utf8'), path);
}

/**
 * Writes a snapshot slice by slice to a new file that then takes the place of the old one.
 *
 * @param announce called before it does
 * @param isSynced whether the disk itself has it when this resolves
 */
export async function writeSnapshotFile(
  path: string,
  snapshot: SnapshotImage,
  announce: (sha256: string) => Promise<void> = async () => {},
  isSynced = true,
): Promise<{ size: number; sha256: string; stamp: string }> {
  const hash = createHash('sha256');
  let size = 0;
  let sha256 = '';
  let stamp = '';
  const file = await replaceFile(
    path,
    async (file) => {
      for (const text of snapshotText(snapshot)) {
        const slice = Buffer.from(text);
        hash.update(slice);
        await file.appendFile(slice);
        size += slice.length;
      }
      sha256 = hash.digest('hex');
      // Without it a power cut after the rename could leave an empty file where a good one was.
      if (isSynced) await file.datasync();
    },
    async (file, rename) => {
      await announce(sha256);
      // Not of what is at the path afterwards: somebody may edit it at once.
      stamp = stampText(await file.stat({ bigint: true }));
      await rename();
    },
  );
  await file.close();
  // Before anything relies on the new one.
  if (isSynced) await syncFolder(path);
  return { size, sha256, stamp };
}

/** `db.json`, as lowdb wants it. */
export class SnapshotFile implements Adapter<SnapshotImage> {
  readonly #path: string;
  /** In bytes. */
  size = 0;
  sha256 = '';
  /** Called before a new file takes the place of the old one. */
  announce: (sha256: string) => Promise<void> = async () => {};
  /** Whether the disk itself must have what is written: where there was nothing before, nothing can be lost. */
  isSynced = true;
  /** Of the file as it was read or written last. */
  #stamp: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<SnapshotImage | null> {
    const stamp = stampOf(this.#path);
    const read = await readSnapshotFile(this.#path);
    if (!read) return null;
    this.size = read.size;
    this.sha256 = read.sha256;
    this.#stamp = stamp;
    return read.snapshot;
  }

  /** @throws GatewayError `storage_failed` when somebody has edited the file meanwhile, with the edit in place */
  async write(image: SnapshotImage): Promise<void> {
    this.#assertUnedited();
    const announce = async (sha256: string) => {
      this.#assertUnedited();
      await this.announce(sha256);
    };
    const written = await writeSnapshotFile(this.#path, image, announce, this.isSynced);
    this.size = written.size;
    this.sha256 = written.sha256;
    this.#stamp = written.stamp;
  }

  #assertUnedited(): void {
    const stamp = stampOf(this.#path);
    if (stamp === undefined || this.#stamp === undefined || stamp === this.#stamp) return;
    throw new GatewayError(
      'storage_failed',
      `${this.#path} was edited while gateway-sim runs on it: the edit is left in place and takes no effect, and journal.jsonl beside it holds what changes from now on`,
      { hint: hint`Edit a state while nothing runs on it, or use: ${command('state import')}` },
    );
  }
}

/** What changes with every edit; undefined without a file. */
function stampOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && stampText(found);
}

const stampText = ({ ino, size, mtimeNs }: BigIntStats) => `${ino}:${size}:${mtimeNs}`;
