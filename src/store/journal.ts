import { writeSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { replaceFile, unwritable } from './files.ts';
import { chunksOf, LineSplitter, readIfThere } from './lines.ts';

/**
 * Reads a journal. A last line without a newline was being written when the process was killed: it was never
 * acknowledged, so it is dropped. A file that does not exist is an empty one.
 *
 * @param take called with each line and its number
 * @returns `bytes`: of the whole lines
 */
export async function readJournal(path: string, take: (line: string, number: number) => void) {
  let bytes = 0;
  let count = 0;
  const lines = new LineSplitter((line) => {
    bytes += line.length + 1;
    take(line.toString(), ++count);
  });
  await readIfThere(path, async (file) => {
    for await (const chunk of chunksOf(file)) lines.push(chunk);
  });
  return { bytes, tornBytes: lines.rest.length };
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
   * @param bytes the length of its whole lines; anything behind them is cut off
   * @param fsync wait until the disk itself has each batch
   * @throws GatewayError `storage_failed`
   */
  static async open(path: string, bytes: number, fsync: boolean): Promise<Journal> {
    try {
      const file = await open(path, 'a', 0o600);
      await file.truncate(bytes);
      return new Journal(path, file, bytes, fsync);
    } catch (error) {
      throw unwritable(path, error);
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
    const old = this.#file;
    this.#file = await replaceFile(this.#path, async (file) => {
      await file.appendFile(tail);
      await file.datasync();
    });
    this.#bytes = tail.length;
    await old.close();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
