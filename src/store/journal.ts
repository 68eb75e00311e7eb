import { ftruncateSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { fileId, openFile, replaceFile, syncFile, syncFolder, unwritable } from '../system/files.ts';
import { damaged, replaced } from './errors.ts';
import { chunksOf, linesOf, NEWLINE, readIfThere } from './read-lines.ts';
import { isRecord, parseJson, requireFormat, SNAPSHOT_VERSION, type StoredChange } from './snapshot.ts';

/*
 * The format of a journal: JSON lines, each with a checksum. The first line names the db.json that the changes belong
 * to. Each later line has a number. It is a change, or it names the db.json that is about to replace the one before.
 */

/** The db.json that changes belong to. */
export interface Mark {
  /** The random id in the file, which an edit does not change. */
  id: string;
  /** SHA-256 of the file as gateway-sim wrote it. */
  db: string;
  /** The number of the last line that it includes. */
  after: number;
}

export interface JournalOptions {
  /** Whether a write waits until the disk has the data. */
  fsync: boolean;
  /** Throws if the folder is no longer the locked one. Called before each batch, so it must take only microseconds. */
  assertOurs?: () => void;
  /** Whether another process may use the same files. */
  isTakenOver?: () => boolean;
}

const firstLine = (mark: Mark): string => sealed(JSON.stringify({ journal: SNAPSHOT_VERSION, ...mark }));

/** @param change the text from `changeText`, which is never empty */
const changeLine = (number: number, change: string): string => sealed(`{"line":${number},${change.slice(1)}`);

const FIRST = /^\{"journal":(\d+),/;
const SEAL = /,"crc32":"[0-9a-f]{8}"\}/;
const SEAL_BYTES = ',"crc32":"00000000"}'.length;

/** The end of a line: the checksum of everything before it. */
const sealOf = (content: string | Buffer): string =>
  `,"crc32":"${crc32(content).toString(16).padStart(8, '0')}"}`;

/** A line of the file: an object with its checksum as its last field. */
function sealed(json: string): string {
  const content = json.slice(0, -1);
  return `${content}${sealOf(content)}\n`;
}

/** The object of a sealed line. Its checksum proves that gateway-sim wrote it. @throws GatewayError `state_damaged` */
function unsealed(line: Buffer, source: string): Record<string, unknown> {
  const content = line.subarray(0, Math.max(0, line.length - SEAL_BYTES));
  if (line.toString('latin1', content.length) !== sealOf(content))
    throw damaged(`${source} is damaged: its checksum does not match`);
  const json = parseJson(line.toString(), source);
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

/** Where a journal that was read can be continued. */
export interface JournalEnd {
  /** The end of the complete lines. */
  end: End;
  /** Whether the last line lacks its newline. */
  isCut: boolean;
}

export interface JournalContent extends JournalEnd {
  /** Each db.json that the changes may belong to. A kill can happen before or after one replaces the other. */
  marks: readonly Mark[];
  /** Each with the number of its line. */
  changes: readonly { change: StoredChange; number: number }[];
  /** The length of an incomplete last line. */
  tornBytes: number;
}

/**
 * Reads a journal.
 *
 * @returns undefined if the file does not exist or is empty
 * @throws GatewayError `state_damaged`
 */
export async function readJournal(path: string): Promise<JournalContent | undefined> {
  const content = await readIfThere(path, async (file) => {
    const marks: Mark[] = [];
    const changes: { change: StoredChange; number: number }[] = [];
    const end: End = { bytes: 0, last: 0, changes: 0 };
    let isCut = false;
    let tornBytes = 0;
    let count = 0;
    for await (const read of linesOf(file)) {
      isCut = read.at(-1) !== NEWLINE;
      const line = isCut ? read : read.subarray(0, -1);
      // The first line is never torn: it is written before the file is renamed to this path. A later line that only
      // lost its newline, or has another byte instead, may have been acknowledged.
      if (isCut && count && !SEAL.test(line.toString('latin1'))) {
        isCut = false;
        tornBytes = line.length;
        break;
      }
      const source = `${path} line ${++count}`;
      if (count === 1) {
        const mark = firstMark(line, source);
        marks.push(mark);
        end.last = mark.after;
      } else {
        const { line: number, snapshot, ...change } = unsealed(line, source);
        if (number !== ++end.last)
          throw damaged(`${source} is damaged: expected number ${end.last}, got ${number}`);
        if (snapshot) marks.push(snapshot as Mark);
        else changes.push({ change: change as StoredChange, number: end.last });
      }
      end.bytes += read.length;
    }
    end.changes = changes.length;
    return { marks, changes, end, isCut, tornBytes };
  });
  return content?.end.bytes ? content : undefined;
}

function firstMark(line: Buffer, source: string): Mark {
  // Another format may have no checksum.
  const [, format] = FIRST.exec(line.toString('latin1', 0, 30)) ?? [];
  if (format !== undefined) requireFormat(Number(format), source);
  const { id, db, after } = unsealed(line, source);
  if (typeof id !== 'string' || typeof db !== 'string' || typeof after !== 'number')
    throw damaged(`${source} is damaged: it does not name a db.json`);
  return { id, db, after };
}

/** The append-only file of changes since the last snapshot. Each complete line is one change. */
export class Journal {
  readonly #path: string;
  readonly #assertFolder: () => void;
  readonly #isTakenOver: () => boolean;
  readonly fsync: boolean;
  #file: FileHandle | undefined;
  #id: string | undefined;
  #end: End = { bytes: 0, last: 0, changes: 0 };
  #broken = false;

  constructor(path: string, { fsync, assertOurs = () => {}, isTakenOver = () => false }: JournalOptions) {
    this.#path = path;
    this.fsync = fsync;
    this.#assertFolder = assertOurs;
    this.#isTakenOver = isTakenOver;
  }

  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  get end(): Readonly<End> {
    return { ...this.#end };
  }

  /**
   * Creates a journal without changes. Replaces an older one.
   *
   * @throws the file system's error
   */
  async create(mark: Mark): Promise<void> {
    const line = Buffer.from(firstLine(mark));
    await this.#replace([line], { isSynced: this.fsync, check: this.#assertFolder });
    this.#end = { bytes: line.length, last: mark.after, changes: 0 };
  }

  /**
   * Opens a journal that was read. Anything after its complete lines is cut off.
   *
   * @throws GatewayError `storage_failed`
   */
  async open({ end, isCut }: JournalEnd): Promise<void> {
    try {
      const file = await openFile(this.#path, 'append');
      this.#use(file);
      // A hard link, such as in a copied folder: the other copy must not change.
      if ((await file.stat()).nlink > 1) {
        await this.#replace(chunksOf(file), { isSynced: true, check: this.#assertFolder });
        await file.close();
      }
      await this.#opened.truncate(end.bytes);
      if (isCut) await this.#opened.appendFile('\n');
      this.#end = { ...end, bytes: isCut ? end.bytes + 1 : end.bytes };
    } catch (error) {
      throw unwritable(this.#path, error);
    }
  }

  /** Writes a new file and uses it instead of the old one. */
  async #replace(
    chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
    { isSynced, check }: { isSynced: boolean; check: () => void },
  ): Promise<void> {
    const write = async (file: FileHandle) => {
      for await (const chunk of chunks) await file.appendFile(chunk);
      if (isSynced) await syncFile(file);
    };
    this.#use(await replaceFile(this.#path, write, check));
    if (this.fsync) await syncFolder(this.#path);
  }

  #use(file: FileHandle): void {
    this.#file = file;
    this.#id = fileId(file.fd);
  }

  get #opened(): FileHandle {
    if (!this.#file) throw new Error('the journal is not open');
    return this.#file;
  }

  /** @throws GatewayError `storage_failed` if the journal or its folder was removed, moved or replaced */
  assertOurs(): void {
    this.#assertFolder();
    if (fileId(this.#path) !== this.#id) throw replaced(dirname(this.#path));
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
  announce(mark: Mark): void {
    this.#write([sealed(JSON.stringify({ line: this.#end.last + 1, snapshot: mark }))]);
  }

  /** Resolves when all current lines are on disk. */
  sync(): Promise<void> {
    return syncFile(this.#opened);
  }

  #write(lines: readonly string[]): void {
    const bytes = Buffer.from(lines.join(''));
    if (this.#broken) throw new Error('the journal has lines that could not be removed: restart gateway-sim');
    this.assertOurs();
    try {
      // Synchronous: writing to the system's cache takes microseconds. The thread pool would delay each request that
      // waits for this batch by more than the write itself.
      for (let written = 0; written < bytes.length; ) written += writeSync(this.#opened.fd, bytes, written);
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
      // The next owner has read these lines, and may have appended more.
      this.#broken = this.#isTakenOver();
      if (!this.#broken) ftruncateSync(this.#opened.fd, end.bytes);
    } catch {
      this.#broken = true;
    }
  }

  /**
   * Starts a new journal for another snapshot and keeps the lines after `since`. Nothing may be appended in the meantime.
   *
   * @returns closes the old journal: freeing the disk space of a large file is slow
   */
  async rebase(mark: Mark, since: Readonly<End>): Promise<() => Promise<void>> {
    const { bytes, last, changes } = this.#end;
    const first = Buffer.from(firstLine(mark));
    const old = this.#opened;
    async function* lines() {
      yield first;
      yield* chunksOf(old, { from: since.bytes, to: bytes });
    }
    await this.#replace(lines(), { isSynced: true, check: () => this.assertOurs() });
    this.#end = { bytes: first.length + bytes - since.bytes, last, changes: changes - since.changes };
    return () => old.close();
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
