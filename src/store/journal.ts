import { ftruncateSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { fileId, openFile, replaced, replaceFile, type StoreFiles, syncFolder, unwritable } from './files.ts';
import { type Base, JournalLines, SealedLines } from './journal-lines.ts';
import { chunksOf, LineSplitter, readIfThere } from './lines.ts';
import type { StoredChange } from './snapshot.ts';

/**
 * Reads a journal.
 *
 * @param take called with each change and the bytes of its line
 * @returns undefined when there is no such file; `bytes`: of the whole lines; `isCut`: the last one lacks its newline
 * @throws GatewayError `state_damaged`
 */
export function readJournal(
  path: string,
  take: (change: StoredChange, bytes: number) => void,
  options: { chunkBytes?: number } = {},
) {
  return readIfThere(path, async (file) => {
    const lines = new JournalLines(path, take);
    let bytes = 0;
    const splitter = new LineSplitter((line) => {
      bytes += line.length + 1;
      lines.push(line);
    });
    for await (const chunk of chunksOf(file, options)) splitter.push(chunk);
    const rest = splitter.rest.length;
    const isCut = rest > 0 && lines.end(splitter.rest);
    return { lines, bytes: isCut ? bytes + rest : bytes, tornBytes: isCut ? 0 : rest, isCut };
  });
}

/** Where a journal ends. */
interface End {
  bytes: number;
  /** The number of its last line. */
  last: number;
  /** How many of its lines are changes. */
  changes: number;
}

/** The append-only file of changes since the last snapshot. One line is one change; it counts once it is whole. */
export class Journal {
  readonly #path: string;
  readonly #fsync: boolean;
  readonly #assertFolder: () => void;
  #file: FileHandle;
  #id: string | undefined;
  #end: End;
  #broken = false;
  readonly #lines = new SealedLines();
  /** How often its end was cut off. */
  #cuts = 0;

  private constructor(
    path: string,
    file: FileHandle,
    end: End,
    { fsync, assertOurs = () => {} }: Pick<StoreFiles, 'fsync' | 'assertOurs'>,
  ) {
    this.#path = path;
    this.#file = file;
    this.#id = fileId(path);
    this.#end = end;
    this.#fsync = fsync;
    this.#assertFolder = assertOurs;
  }

  /**
   * @param end of its whole lines; anything behind them is cut off
   * @throws GatewayError `storage_failed`
   */
  static async open(
    path: string,
    end: End & { isCut: boolean },
    options: Pick<StoreFiles, 'fsync' | 'assertOurs'>,
  ): Promise<Journal> {
    try {
      const file = await openAlone(path, end.bytes);
      await file.truncate(end.bytes);
      if (end.isCut) await file.appendFile('\n');
      return new Journal(path, file, { ...end, bytes: end.bytes + (end.isCut ? 1 : 0) }, options);
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  /** @throws GatewayError `storage_failed` when it, or its folder, was removed, moved or replaced */
  assertOurs(): void {
    this.#assertFolder();
    if (fileId(this.#path) !== this.#id) throw replaced(this.#path);
  }

  /** As of this moment. */
  get end(): Readonly<End> {
    return { ...this.#end };
  }

  /**
   * Appends changes, one line each. The system has them then; the disk after `sync`.
   *
   * @throws the file system's error, after cutting off what was written in part
   */
  append(changes: readonly string[]): void {
    let { last } = this.#end;
    for (const change of changes) this.#lines.addChange(++last, change);
    this.#write();
    this.#end.changes += changes.length;
  }

  /** With fsync: waits until the disk has what was appended. @throws as `append`, with `undone` cut off */
  async sync(undone: Readonly<End>): Promise<void> {
    try {
      await this.flush();
    } catch (error) {
      this.#cut(undone);
      throw error;
    }
  }

  get fsync(): boolean {
    return this.#fsync;
  }

  /** Says that a db.json is about to be replaced. No batch may be waiting for its sync, which could take this back. */
  announce(base: Base): void {
    this.#lines.addSnapshot(this.#end.last + 1, base);
    this.#write();
  }

  /** Resolves when the disk has every line of now. */
  flush(): Promise<void> {
    return this.#file.datasync();
  }

  /** Writes the lines that were added. */
  #write(): void {
    const { bytes, count } = this.#lines.take();
    if (this.#broken)
      throw new Error('the journal has a torn line that could not be cut off: restart gateway-sim');
    this.assertOurs();
    try {
      // Into the system's cache, which takes microseconds: a trip through the thread pool would cost every request
      // that waits for this batch more than the write itself.
      for (let written = 0; written < bytes.length; ) written += writeSync(this.#file.fd, bytes, written);
    } catch (error) {
      this.#cut(this.#end);
      throw error;
    }
    this.#end.bytes += bytes.length;
    this.#end.last += count;
  }

  /** A half-written line would swallow the next one. */
  #cut(end: Readonly<End>): void {
    this.#cuts++;
    this.#end = { ...end };
    try {
      ftruncateSync(this.#file.fd, end.bytes);
    } catch {
      this.#broken = true;
    }
  }

  /**
   * Begins anew with another snapshot, and keeps the lines behind `since`. Most of them are copied while more are
   * appended: only the last ones need the journal to themselves.
   *
   * @param alone does its work while nothing is appended
   */
  async rebase(
    base: Base,
    since: Readonly<End>,
    alone: (work: () => Promise<void>) => Promise<void> = (work) => work(),
  ): Promise<void> {
    const source = await open(this.#path, 'r');
    let copied = since.bytes;
    const cuts = this.#cuts;
    /** Copies what is there now: chasing a writer that is as fast would never end. */
    const catchUp = async (file: FileHandle) => {
      const { bytes } = this.#end;
      for await (const chunk of chunksOf(source, { from: copied, to: bytes })) await file.appendFile(chunk);
      copied = bytes;
      if (this.#cuts !== cuts) throw new Error('lines were rolled back while they were copied');
    };
    const first = firstLine(base);
    const old = this.#file;
    try {
      await replaceFile(
        this.#path,
        async (file) => {
          await file.appendFile(first);
          await catchUp(file);
          // Where nothing was before, nothing can be lost.
          if (this.#fsync || since.bytes) await file.datasync();
          await catchUp(file);
        },
        (file, rename) =>
          alone(async () => {
            await catchUp(file);
            if (this.#fsync) await file.datasync();
            this.assertOurs();
            await rename();
            // What is appended from now on is found by the new name only.
            if (this.#fsync) await syncFolder(this.#path);
            this.#file = file;
            this.#id = fileId(this.#path);
            this.#end = {
              bytes: first.length + this.#end.bytes - since.bytes,
              last: this.#end.last,
              changes: this.#end.changes - since.changes,
            };
          }),
      );
      // The system takes back the room of a large file then, which takes its time.
      await old.close();
    } finally {
      await source.close();
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/**
 * Opens a journal for appending. One that is in another folder, too, as hard links in a copy are, stays as it is there.
 *
 * @param bytes of its whole lines
 */
async function openAlone(path: string, bytes: number): Promise<FileHandle> {
  const file = await openFile(path, 'append');
  if ((await file.stat()).nlink === 1) return file;
  await file.close();
  const shared = await openFile(path, 'read');
  try {
    return await replaceFile(path, async (own) => {
      for await (const chunk of chunksOf(shared, { to: bytes })) await own.appendFile(chunk);
      await own.datasync();
    });
  } finally {
    await shared.close();
  }
}

/** The line by which a journal names the snapshot that it goes with. */
function firstLine(base: Base): Buffer {
  const lines = new SealedLines();
  lines.addFirst(base);
  return lines.take().bytes;
}
