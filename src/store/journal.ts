import { ftruncateSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { fileId, openFile, replaced, replaceFile, type StoreFiles, syncFolder, unwritable } from './files.ts';
import { type Base, changeLine, firstLine, JournalLines, sealed, snapshotLine } from './journal-lines.ts';
import { chunksOf, LineSplitter, readIfThere } from './lines.ts';
import type { StoredChange } from './snapshot.ts';

/**
 * Reads a journal.
 *
 * @param onChange called with each change and the bytes of its line
 * @returns undefined if the file does not exist; `bytes`: the length of the complete lines; `isCut`: whether the last
 *   one has no newline
 * @throws GatewayError `state_damaged`
 */
export function readJournal(
  path: string,
  onChange: (change: StoredChange, bytes: number) => void,
  options: { chunkBytes?: number } = {},
) {
  return readIfThere(path, async (file) => {
    const lines = new JournalLines(path, onChange);
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

/** The end of a journal. */
interface End {
  bytes: number;
  /** The number of its last line. */
  last: number;
  /** Number of lines that are changes. */
  changes: number;
}

/** The append-only file of changes since the last snapshot. Each complete line is one change. */
export class Journal {
  readonly #path: string;
  readonly #fsync: boolean;
  readonly #assertFolder: () => void;
  #file: FileHandle;
  #id: string | undefined;
  #end: End;
  #broken = false;

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
   * Creates a journal without changes. Replaces an older one.
   *
   * @throws the file system's error
   */
  static async create(
    path: string,
    base: Base,
    options: Pick<StoreFiles, 'fsync' | 'assertOurs'>,
  ): Promise<Journal> {
    const line = sealed([firstLine(base)]);
    const file = await replaceFile(path, async (file) => {
      await file.appendFile(line);
      if (options.fsync) await file.datasync();
    });
    if (options.fsync) await syncFolder(path);
    return new Journal(path, file, { bytes: line.length, last: base.after, changes: 0 }, options);
  }

  /**
   * @param end the end of the complete lines. Anything after it is cut off.
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

  /** @throws GatewayError `storage_failed` if the journal or its folder was removed, moved or replaced */
  assertOurs(): void {
    this.#assertFolder();
    if (fileId(this.#path) !== this.#id) throw replaced(this.#path);
  }

  /** The current end. */
  get end(): Readonly<End> {
    return { ...this.#end };
  }

  /**
   * Appends changes, one line each. They are on disk only after `sync`.
   *
   * @throws the file system's error, after cutting off an incomplete write
   */
  append(changes: readonly string[]): void {
    const { last } = this.#end;
    this.#write(changes.map((change, index) => changeLine(last + 1 + index, change)));
    this.#end.changes += changes.length;
  }

  /**
   * Waits until the appended lines are on disk.
   *
   * @throws the same errors as `append`, with everything after `undone` cut off
   */
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

  /** Announces a new db.json. No batch may be waiting for a sync: a sync that fails also cuts off this line. */
  announce(base: Base): void {
    this.#write([snapshotLine(this.#end.last + 1, base)]);
  }

  /** Resolves when all current lines are on disk. */
  flush(): Promise<void> {
    return this.#file.datasync();
  }

  #write(lines: readonly string[]): void {
    const bytes = sealed(lines);
    if (this.#broken)
      throw new Error('the journal has an incomplete line that could not be removed: restart gateway-sim');
    this.assertOurs();
    try {
      // Synchronous: writing to the system's cache takes microseconds. The thread pool would delay each request that
      // waits for this batch by more than the write itself.
      for (let written = 0; written < bytes.length; ) written += writeSync(this.#file.fd, bytes, written);
    } catch (error) {
      this.#cut(this.#end);
      throw error;
    }
    this.#end.bytes += bytes.length;
    this.#end.last += lines.length;
  }

  /** Cuts off an incomplete line, to which the next one would be appended. */
  #cut(end: Readonly<End>): void {
    this.#end = { ...end };
    try {
      ftruncateSync(this.#file.fd, end.bytes);
    } catch {
      this.#broken = true;
    }
  }

  /**
   * Starts a new journal for another snapshot and keeps the lines after `since`. Nothing may be appended in the meantime.
   *
   * @returns closes the old journal: freeing the disk space of a large file is slow
   */
  async rebase(base: Base, since: Readonly<End>): Promise<() => Promise<void>> {
    const { bytes, last, changes } = this.#end;
    const first = sealed([firstLine(base)]);
    const old = this.#file;
    const source = await open(this.#path, 'r');
    try {
      this.#file = await replaceFile(this.#path, async (file) => {
        await file.appendFile(first);
        for await (const chunk of chunksOf(source, { from: since.bytes, to: bytes }))
          await file.appendFile(chunk);
        await file.datasync();
        this.assertOurs();
      });
    } finally {
      await source.close();
    }
    if (this.#fsync) await syncFolder(this.#path);
    this.#id = fileId(this.#path);
    this.#end = { bytes: first.length + bytes - since.bytes, last, changes: changes - since.changes };
    return () => old.close();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/**
 * Opens a journal for appending. A hard link, such as in a copied folder, is first replaced with a separate file, so the
 * other copy does not change.
 *
 * @param bytes the length of the complete lines
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
