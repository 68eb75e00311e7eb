import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { damaged } from './files.ts';
import { textOf } from './lines.ts';
import { isRecord } from './quick-check.ts';
import { parseChange, parseJson, type StoredChange } from './snapshot.ts';

/*
 * The format of a journal: JSON lines, each with a number and a checksum. The first line names the db.json that the
 * changes belong to. db.json itself has no such mark, because people edit and copy it.
 */

/** Version of this format. Version 1 had no first line, numbers or checksums. */
const FORMAT = 2;

const Base = z.strictObject({
  /** Counts the snapshots of this folder. */
  generation: z.int().check(z.positive()),
  /** SHA-256 of db.json. */
  db: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  /** Number of the last line that db.json includes. */
  after: z.int().check(z.nonnegative()),
});
/** The snapshot that the changes of a journal belong to. */
export type Base = z.output<typeof Base>;

const FirstLine = z.extend(Base, { journal: z.literal(FORMAT) });
const Announced = z.strictObject({ line: z.int(), snapshot: Base });

const BEGINNING = '{"journal":';
const CLOSING_BRACE = 0x7d;
const SEALED = /,"crc32":"[0-9a-f]{8}"\}/;

/** The first line of a journal, as an object. */
export const firstLine = (base: Base): string => JSON.stringify({ journal: FORMAT, ...base });

/** @param change the text from `changeText` */
export const changeLine = (number: number, change: string): string =>
  `{"line":${number}${change === '{}' ? '}' : `,${change.slice(1)}`}`;

/** Announces the db.json that is about to replace the one named in the first line. */
export const snapshotLine = (number: number, base: Base): string =>
  JSON.stringify({ line: number, snapshot: base });

const SEAL = ',"crc32":"00000000"}';
const SEAL_BYTES = SEAL.length;
const LAST_DIGIT = SEAL.lastIndexOf('0');
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
export function sealed(objects: readonly string[]): Buffer {
  // One conversion for all lines is faster than one for each.
  const lines = Buffer.from(objects.map((json) => `${json.slice(0, -1)}${SEAL}\n`).join(''));
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(0x0a, from) - SEAL_BYTES;
    sealOf(lines.subarray(from, end)).copy(lines, end);
    from = end + SEAL_BYTES + 1;
  }
  return lines;
}

function isSealed(line: Buffer): boolean {
  const end = line.length - SEAL_BYTES;
  return end >= 0 && sealOf(line.subarray(0, end)).equals(line.subarray(end));
}

/** Reads the lines of a journal in order. */
export class JournalLines {
  readonly #path: string;
  readonly #onChange: (change: StoredChange, bytes: number) => void;
  /** Lines of the file. */
  #count = 0;
  /** Each db.json that the lines may belong to: a kill can happen before or after one replaces the other. */
  readonly #known: Base[] = [];
  /** The number of the last line. */
  last = 0;
  /** Number of lines that are changes. */
  changes = 0;

  /** @param onChange called with each change and the length of its line */
  constructor(path: string, onChange: (change: StoredChange, bytes: number) => void) {
    this.#path = path;
    this.#onChange = onChange;
  }

  /** From the first line; undefined in a journal of format 1 or without lines. */
  get base(): Base | undefined {
    return this.#known[0];
  }

  /** Whether the lines belong to this db.json. It may already include some, as each line has whole records. */
  belongsTo(sha256: string): boolean {
    return this.#known.some(({ db }) => db === sha256);
  }

  /** Reads a line, and overwrites part of it. @throws GatewayError `state_damaged` */
  push(line: Buffer): void {
    this.#count++;
    if (this.#count === 1 && line.toString('latin1', 0, BEGINNING.length) === BEGINNING) this.#first(line);
    else if (this.base) this.#numbered(line);
    else this.#change(parseJson(textOf(line), this.#source), line);
  }

  /**
   * Reads the bytes after the last newline.
   *
   * @returns whether they are a complete line without its newline. If not, the process was killed during the write, and
   *   the line was never acknowledged.
   * @throws GatewayError `state_damaged` for a complete line that was edited
   */
  end(rest: Buffer): boolean {
    const isFirst = this.#count === 0 && rest.toString('latin1', 0, BEGINNING.length) === BEGINNING;
    if (!this.base && !isFirst) return false;
    // The first line is never torn: it is written before the file is renamed to this path.
    if (!isFirst && !SEALED.test(rest.toString('latin1'))) return false;
    this.push(rest);
    return true;
  }

  get #source(): string {
    return `${this.#path} line ${this.#count}`;
  }

  #open(line: Buffer): unknown {
    if (!isSealed(line)) throw damaged(`${this.#source} is damaged: its checksum does not match`);
    // Parsing the checksum, too, would take a tenth longer, since each one is a new string.
    const end = line.length - SEAL_BYTES;
    line[end] = CLOSING_BRACE;
    return parseJson(textOf(line.subarray(0, end + 1)), this.#source);
  }

  #first(line: Buffer): void {
    const { generation, db, after } = this.#parse(FirstLine, this.#open(line));
    this.#known.push({ generation, db, after });
    this.last = after;
  }

  #numbered(line: Buffer): void {
    const json = this.#open(line);
    if (!isRecord(json)) throw damaged(`${this.#source} is damaged: not a change`);
    const { line: number, snapshot } = json;
    if (number !== ++this.last) {
      throw damaged(`${this.#source} is damaged: expected number ${this.last}, got ${number}`);
    }
    if (snapshot === undefined) this.#change(json, line, 'line');
    else this.#known.push(this.#parse(Announced, json).snapshot);
  }

  #parse<Schema extends z.ZodMiniType>(schema: Schema, json: unknown): z.output<Schema> {
    const parsed = z.safeParse(schema, json);
    if (parsed.success) return parsed.data;
    throw damaged(`${this.#source} is not in a format that this gateway-sim can read`);
  }

  #change(json: unknown, line: Buffer, extra?: string): void {
    this.changes++;
    this.#onChange(parseChange(json, this.#source, extra), line.length + 1);
  }
}
