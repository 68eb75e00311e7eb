import { writeSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { GatewayError } from '../contract/error.ts';
import { isMissing, reason } from './file-error.ts';

export interface JournalContent {
  lines: string[];
  /** Bytes of the whole lines. */
  bytes: number;
  tornBytes: number;
}

/**
 * Reads a journal. A last line without a newline was being written when the process was killed: it was never
 * acknowledged, so it is dropped.
 * A file that does not exist is an empty one.
 */
export async function readJournal(path: string): Promise<JournalContent> {
  let content: Buffer;
  try {
    content = await readFile(path);
  } catch (error) {
    if (isMissing(error)) return { lines: [], bytes: 0, tornBytes: 0 };
    throw new GatewayError('state_damaged', `${path} cannot be read: ${reason(error)}`, { cause: error });
  }
  const bytes = content.lastIndexOf(0x0a) + 1;
  const text = content.toString('utf8', 0, bytes);
  return {
    lines: text === '' ? [] : text.slice(0, -1).split('\n'),
    bytes,
    tornBytes: content.length - bytes,
  };
}

/** The append-only file of changes since the last snapshot. One line is one change; it counts once its newline is there. */
export class Journal {
  readonly #path: string;
  readonly #fsync: boolean;
  #file: FileHandle;
  #bytes: number;
  #broken = false;

  private constructor(path: string, file: FileHandle, bytes: number, fsync: boolean) {
    this.#path = path;
    this.#file = file;
    this.#bytes = bytes;
    this.#fsync = fsync;
  }

  /**
   * Opens a journal for appending behind its last whole line.
   *
   * @param bytes the length of its whole lines; anything behind them is cut off
   * @param fsync wait until the disk itself has each batch
   */
  static async open(path: string, bytes: number, fsync: boolean): Promise<Journal> {
    try {
      const file = await open(path, 'a', 0o600);
      await file.truncate(bytes);
      return new Journal(path, file, bytes, fsync);
    } catch (error) {
      throw new GatewayError('storage_failed', `${path} cannot be written: ${reason(error)}`, {
        cause: error,
      });
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Appends lines, each with its newline; resolves when the system has them (with fsync: when the disk has).
   *
   * @throws the file system's error, after cutting off what was written in part
   */
  async append(text: string): Promise<void> {
    if (this.#broken)
      throw new Error('the journal has a torn line that could not be cut off: restart gateway-sim');
    const length = Buffer.byteLength(text);
    try {
      // Into the system's cache, which takes microseconds: a trip through the thread pool would cost every request
      // that waits for this batch more than the write itself.
      let written = writeSync(this.#file.fd, text);
      if (written < length) {
        const batch = Buffer.from(text);
        while (written < length) written += writeSync(this.#file.fd, batch, written);
      }
      if (this.#fsync) await this.#file.datasync();
    } catch (error) {
      // A half-written line would swallow the next one.
      await this.#file.truncate(this.#bytes).catch(() => {
        this.#broken = true;
      });
      throw error;
    }
    this.#bytes += length;
  }

  /** Forgets the lines before an offset, which a snapshot holds now. Nothing may be appended meanwhile. */
  async dropBefore(offset: number): Promise<void> {
    const tail = (await readFile(this.#path)).subarray(offset, this.#bytes);
    const temporary = `${this.#path}.tmp`;
    await rm(temporary, { force: true });
    // Opened for appending before it takes the old one's place: no later failure can leave us writing to a lost file.
    const next = await open(temporary, 'a', 0o600);
    try {
      await next.appendFile(tail);
      await next.datasync();
      await rename(temporary, this.#path);
    } catch (error) {
      await next.close();
      throw error;
    }
    const old = this.#file;
    this.#file = next;
    this.#bytes = tail.length;
    await old.close();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
