import { ftruncateSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import {
  damaged,
  fileId,
  openFile,
  replaced,
  replaceFile,
  type StoreFiles,
  syncFolder,
  unwritable,
} from './files.ts';
import { chunksOf, LineSplitter, readIfThere, textOf } from './lines.ts';
import { isRecord } from './parse-records.ts';
import { parseChange, parseJson, type StoredChange } from './snapshot.ts';

/*
 * The format of a journal: JSON lines, each with a checksum. The first line names the db.json that the changes belong
 * to; db.json itself has no such mark, because people edit and copy it. Each later line has a number. It is a change, or
 * it names the db.json that is about to replace the one before.
 */

/** Version of this format. Version 1 had no first line, numbers or checksums. */
const FORMAT = 2;

/**
 * @param db SHA-256 of db.json
 * @param after the number of the last line that db.json includes
 */
const firstLine = (db: string, after: number): Buffer =>
  sealed([JSON.stringify({ journal: FORMAT, db, after })]);

/** @param change the text from `changeText`, which is never empty */
const changeLine = (number: number, change: string): string => `{"line":${number},${change.slice(1)}`;

const BEGINNING = '{"journal":';
const CLOSING_BRACE = 0x7d;
const SEAL = ',"crc32":"00000000"}';
const SEAL_BYTES = SEAL.length;
const LAST_DIGIT = SEAL.lastIndexOf('0');
const SEALED = /,"crc32":"[0-9a-f]{8}"\}/;
const seal = Buffer.from(SEAL);

/** The end of a line: its checksum. Valid until the next call. */
function sealOf(content: Buffer): Buffer {
  let checksum = crc32(content);
  for (let at = LAST_DIGIT; at > LAST_DIGIT - 8; at--) {
    seal[at] = '0123456789abcdef'.charCodeAt(checksum & 15);
    checksum >>>= 4;
  }
  return seal;
}

/** Lines of the file: each object gets its checksum as its last field. */
function sealed(objects: readonly string[]): Buffer {
  // One conversion for all lines is faster than one for each.
  const lines = Buffer.from(objects.map((json) => `${json.slice(0, -1)}${SEAL}\n`).join(''));
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(0x0a, from) - SEAL_BYTES;
    sealOf(lines.subarray(from, end)).copy(lines, end);
    from = end + SEAL_BYTES + 1;
  }
  return lines;
}

/** The object of a sealed line, without its checksum. Overwrites part of the line. @throws GatewayError `state_damaged` */
function unsealed(line: Buffer, source: string): Record<string, unknown> {
  const end = line.length - SEAL_BYTES;
  if (end < 0 || !sealOf(line.subarray(0, end)).equals(line.subarray(end)))
    throw damaged(`${source} is damaged: its checksum does not match`);
  // Parsing the checksum, too, would take a tenth longer, since each one is a new string.
  line[end] = CLOSING_BRACE;
  const json = parseJson(textOf(line.subarray(0, end + 1)), source);
  if (!isRecord(json)) throw damaged(`${source} is damaged: not a change`);
  return json;
}

/** The end of a journal. */
export interface End {
  bytes: number;
  /** The number of its last line. */
  last: number;
  /** Number of lines that are changes. */
  changes: number;
}

/**
 * Reads a journal.
 *
 * @param onChange called with each change and the length of its line
 * @returns undefined if the file does not exist; `dbs`: the hash of each db.json that the changes may belong to, none for
 *   a journal of format 1 or without lines; `end`: the end of the complete lines; `isCut`: whether the last one has no
 *   newline
 * @throws GatewayError `state_damaged`
 */
export function readJournal(path: string, onChange: (change: StoredChange, bytes: number) => void) {
  return readIfThere(path, async (file) => {
    // A kill can happen before or after one db.json replaces the other. Changes that the new one already includes are
    // harmless, because each line has whole records.
    const dbs: string[] = [];
    const end: End = { bytes: 0, last: 0, changes: 0 };
    let count = 0;
    const isFirst = (line: Buffer) =>
      count === 0 && line.toString('latin1', 0, BEGINNING.length) === BEGINNING;
    const push = (line: Buffer) => {
      const change = (json: unknown) => {
        end.changes++;
        onChange(parseChange(json, source), line.length);
      };
      const begins = isFirst(line);
      const source = `${path} line ${++count}`;
      end.bytes += line.length + 1;
      if (!begins && !dbs.length) return change(parseJson(textOf(line), source));
      const json = unsealed(line, source);
      if (begins) {
        const { journal, db, after } = json;
        if (journal !== FORMAT || typeof db !== 'string' || typeof after !== 'number')
          throw damaged(`${source} is not in a format that this gateway-sim can read`);
        dbs.push(db);
        end.last = after;
        return;
      }
      const { line: number, snapshot } = json;
      if (number !== ++end.last)
        throw damaged(`${source} is damaged: expected number ${end.last}, got ${number}`);
      if (isRecord(snapshot) && typeof snapshot['db'] === 'string') dbs.push(snapshot['db']);
      else change(json);
    };
    const lines = new LineSplitter(push);
    for await (const chunk of chunksOf(file)) lines.push(chunk);
    const { rest } = lines;
    // A complete line that lost its newline, or has another byte instead, may have been acknowledged. The first line is
    // never torn: it is written before the file is renamed to this path.
    const isCut = isFirst(rest) || (dbs.length > 0 && SEALED.test(rest.toString('latin1')));
    if (isCut) push(rest);
    return { dbs, end, isCut, tornBytes: isCut ? 0 : rest.length };
  });
}

/** The append-only file of changes since the last snapshot. Each complete line is one change. */
export class Journal {
  readonly #path: string;
  readonly #assertFolder: () => void;
  readonly fsync: boolean;
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
    this.fsync = fsync;
    this.#assertFolder = assertOurs;
  }

  /**
   * Creates a journal without changes. Replaces an older one.
   *
   * @param db SHA-256 of db.json
   * @param after the number of the line before the first one
   * @throws the file system's error
   */
  static async create(
    path: string,
    { db, after }: { db: string; after: number },
    options: Pick<StoreFiles, 'fsync' | 'assertOurs'>,
  ): Promise<Journal> {
    const line = firstLine(db, after);
    const file = await replaceFile(path, async (file) => {
      await file.appendFile(line);
      if (options.fsync) await file.datasync();
    });
    if (options.fsync) await syncFolder(path);
    return new Journal(path, file, { bytes: line.length, last: after, changes: 0 }, options);
  }

  /**
   * Opens a journal that was read. Anything after its complete lines is cut off.
   *
   * @throws GatewayError `storage_failed`
   */
  static async open(
    path: string,
    { end, isCut }: { end: End; isCut: boolean },
    options: Pick<StoreFiles, 'fsync' | 'assertOurs'>,
  ): Promise<Journal> {
    try {
      const bytes = isCut ? end.bytes - 1 : end.bytes;
      const file = await openAlone(path, bytes);
      await file.truncate(bytes);
      if (isCut) await file.appendFile('\n');
      return new Journal(path, file, end, options);
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
   * Announces the db.json that is about to replace the current one. No batch may be waiting for a sync: a sync that fails
   * also cuts off this line.
   */
  announce(db: string): void {
    this.#write([JSON.stringify({ line: this.#end.last + 1, snapshot: { db } })]);
  }

  /** Resolves when all current lines are on disk. */
  sync(): Promise<void> {
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
      this.cut(this.#end);
      throw error;
    }
    this.#end.bytes += bytes.length;
    this.#end.last += lines.length;
  }

  /** Cuts off lines that could not be written or synced. The next line would be appended to an incomplete one. */
  cut(end: Readonly<End>): void {
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
  async rebase(db: string, since: Readonly<End>): Promise<() => Promise<void>> {
    const { bytes, last, changes } = this.#end;
    const first = firstLine(db, since.last);
    const old = this.#file;
    this.#file = await replaceFile(this.#path, async (file) => {
      await file.appendFile(first);
      for await (const chunk of chunksOf(old, { from: since.bytes, to: bytes })) await file.appendFile(chunk);
      await file.datasync();
      this.assertOurs();
    });
    if (this.fsync) await syncFolder(this.#path);
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
  const shared = await openFile(path, 'append');
  if ((await shared.stat()).nlink === 1) return shared;
  try {
    return await replaceFile(path, async (own) => {
      for await (const chunk of chunksOf(shared, { to: bytes })) await own.appendFile(chunk);
      await own.datasync();
    });
  } finally {
    await shared.close();
  }
}
