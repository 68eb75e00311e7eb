import { ftruncateSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { fileId, openFile, replaceFile, syncFile, syncFolder, unwritable } from '../system/files.ts';
import { damaged, replaced } from './errors.ts';
import { SNAPSHOT_VERSION } from './migrations.ts';
import { isRecord } from './parse-records.ts';
import { chunksOf, linesOf, NEWLINE, readIfThere } from './read-lines.ts';
import { parseChange, parseJson, type StoredChange } from './snapshot.ts';

/*
 * The format of a journal: JSON lines, each with a checksum. The first line names the db.json that the changes belong
 * to. Each later line has a number. It is a change, or it names the db.json that is about to replace the one before.
 */

/**
 * Version of this format. Version 1 had no first line, numbers or checksums. In version 2, the first line could also name
 * a db.json as a person had written it. Before version 4, a db.json had no id.
 */
const FORMAT = 4;

/** The db.json that changes belong to. */
export interface Mark {
  /** The random id in the file, which an edit does not change; undefined in older formats. */
  id: string | undefined;
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
}

const firstLine = (mark: Mark): string => sealed(JSON.stringify({ journal: FORMAT, ...mark }));

/** @param change the text from `changeText`, which is never empty */
const changeLine = (number: number, change: string): string => sealed(`{"line":${number},${change.slice(1)}`);

const BEGINNING = '{"journal":';
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

/** The object of a sealed line. @throws GatewayError `state_damaged` */
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

export interface JournalContent {
  /**
   * Each db.json that the changes may belong to; none in format 1 or without lines. A kill can happen before or after one
   * db.json replaces the other.
   */
  marks: readonly Mark[];
  /** The hashes of those that are certainly in our own format. */
  written: readonly string[];
  /** Whether the journal can be continued as it is. */
  isCurrent: boolean;
  /** Each with the number of its line. */
  changes: readonly { change: StoredChange; number: number }[];
  /** The end of the complete lines. */
  end: End;
  /** Whether the last line lacks its newline. */
  isCut: boolean;
  /** The length of an incomplete last line. */
  tornBytes: number;
}

/**
 * Reads a journal.
 *
 * @returns undefined if the file does not exist
 * @throws GatewayError `state_damaged`
 */
export function readJournal(path: string): Promise<JournalContent | undefined> {
  return readIfThere(path, async (file) => {
    const marks: Mark[] = [];
    const changes: { change: StoredChange; number: number }[] = [];
    const end: End = { bytes: 0, last: 0, changes: 0 };
    let format = 1;
    let count = 0;
    let isCut = false;
    let tornBytes = 0;
    for await (const read of linesOf(file)) {
      isCut = read.at(-1) !== NEWLINE;
      const line = isCut ? read : read.subarray(0, -1);
      const isFirst = count === 0 && line.toString('latin1', 0, BEGINNING.length) === BEGINNING;
      const isSealed = isFirst || marks.length > 0;
      // A complete line that lost its newline, or has another byte instead, may have been acknowledged. The first line is
      // never torn: it is written before the file is renamed to this path.
      if (isCut && !isFirst && !(isSealed && SEAL.test(line.toString('latin1')))) {
        isCut = false;
        tornBytes = line.length;
        break;
      }
      const source = `${path} line ${++count}`;
      end.bytes += line.length + 1;
      if (!isSealed) {
        const json = parseJson(line.toString(), source);
        changes.push({ change: parseChange(json, source), number: count });
        continue;
      }
      const json = unsealed(line, source);
      if (isFirst) {
        const mark = markIn(json);
        if (!mark || !FORMATS.includes(json['journal']))
          throw damaged(`${source} is not in a format that this gateway-sim can read`);
        marks.push(mark);
        format = Number(json['journal']);
        end.last = mark.after;
        continue;
      }
      const { line: number, snapshot, version } = json;
      if (number !== ++end.last)
        throw damaged(`${source} is damaged: expected number ${end.last}, got ${number}`);
      const mark = isRecord(snapshot) && markIn({ after: marks[0]?.after, ...snapshot });
      if (mark) marks.push(mark);
      else {
        // The checksum proves that gateway-sim wrote it. Its records need a schema only if they were migrated.
        const change = version === SNAPSHOT_VERSION ? (json as StoredChange) : parseChange(json, source);
        changes.push({ change, number: end.last });
      }
    }
    end.changes = changes.length;
    const written = format > 2 ? marks.map(({ db }) => db) : [];
    return { marks, written, isCurrent: format === FORMAT, changes, end, isCut, tornBytes };
  });
}

/** The formats with a first line. */
const FORMATS: readonly unknown[] = [2, 3, FORMAT];

function markIn({ id, db, after }: Record<string, unknown>): Mark | undefined {
  if (typeof db !== 'string' || typeof after !== 'number') return undefined;
  return { id: typeof id === 'string' ? id : undefined, db, after };
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
    { fsync, assertOurs = () => {} }: JournalOptions,
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
   * @throws the file system's error
   */
  static async create(path: string, mark: Mark, options: JournalOptions): Promise<Journal> {
    const line = Buffer.from(firstLine(mark));
    const file = await replaceFile(path, async (file) => {
      await file.appendFile(line);
      if (options.fsync) await syncFile(file);
    });
    if (options.fsync) await syncFolder(path);
    return new Journal(path, file, { bytes: line.length, last: mark.after, changes: 0 }, options);
  }

  /**
   * Opens a journal that was read. Anything after its complete lines is cut off.
   *
   * @throws GatewayError `storage_failed`
   */
  static async open(
    path: string,
    { end, isCut }: { end: End; isCut: boolean },
    options: JournalOptions,
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
  announce(mark: Mark): void {
    this.#write([sealed(JSON.stringify({ line: this.#end.last + 1, snapshot: mark }))]);
  }

  /** Resolves when all current lines are on disk. */
  sync(): Promise<void> {
    return syncFile(this.#file);
  }

  #write(lines: readonly string[]): void {
    const bytes = Buffer.from(lines.join(''));
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
  async rebase(mark: Mark, since: Readonly<End>): Promise<() => Promise<void>> {
    const { bytes, last, changes } = this.#end;
    const first = Buffer.from(firstLine(mark));
    const old = this.#file;
    this.#file = await replaceFile(this.#path, async (file) => {
      await file.appendFile(first);
      for await (const chunk of chunksOf(old, { from: since.bytes, to: bytes })) await file.appendFile(chunk);
      await syncFile(file);
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
      await syncFile(own);
    });
  } finally {
    await shared.close();
  }
}
