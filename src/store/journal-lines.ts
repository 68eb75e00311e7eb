import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { damaged } from './files.ts';
import { textOf } from './lines.ts';
import { isRecord } from './quick-check.ts';
import { parseChange, parseJson, type StoredChange } from './snapshot.ts';

/*
 * How a journal is written: JSON lines, each numbered and with a checksum of all that stands before it. The first one
 * says which db.json the others are changes to, which never says so itself: people may edit and copy it.
 */

/** Version of this format. The one before had no first line, no numbers and no checksums. */
const FORMAT = 2;

const Base = z.strictObject({
  /** Counts the snapshots of this folder. */
  generation: z.int().check(z.positive()),
  /** SHA-256 of db.json. */
  db: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  /** Number of the last line that db.json holds. */
  after: z.int().check(z.nonnegative()),
});
/** What the lines of a journal are changes to. */
export type Base = z.output<typeof Base>;

const FirstLine = z.extend(Base, { journal: z.literal(FORMAT) });
const Announced = z.strictObject({ line: z.int(), snapshot: Base });

const BEGINNING = '{"journal":';
/** `,"crc32":"0123abcd"}` */
const SEAL_BYTES = 20;
const CLOSING_BRACE = 0x7d;
const SEAL = /,"crc32":"[0-9a-f]{8}"\}/;

function seal(content: Buffer): string {
  return `,"crc32":"${crc32(content).toString(16).padStart(8, '0')}"}`;
}

const UNSIGNED = Buffer.from(',"crc32":"________"}');
const [BLANK] = Buffer.from('_');
const HEX_DIGITS = Buffer.from('0123456789abcdef');

/** Whether it ends with the seal of what stands before, in half the time that comparing texts would take. */
function isSealed(line: Buffer): boolean {
  const end = line.length - SEAL_BYTES;
  if (end < 0) return false;
  let checksum = crc32(line.subarray(0, end));
  for (let at = SEAL_BYTES - 1; at >= 0; at--) {
    const isDigit = UNSIGNED[at] === BLANK;
    if (line[end + at] !== (isDigit ? HEX_DIGITS[checksum & 15] : UNSIGNED[at])) return false;
    if (isDigit) checksum >>>= 4;
  }
  return true;
}

/** Usual batches fit into it. What was made larger for another one does not stay. */
const BATCH_BYTES = 2 ** 16;

/** Lines as they go to the file, all in one buffer, which is used again and again. */
export class SealedLines {
  #buffer = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #used = 0;
  #count = 0;

  /**
   * @param beginning of an object's JSON
   * @param rest of it: joining the two would copy it once more. The checksum becomes the last field
   */
  #add(beginning: string, rest: string): void {
    const most = 3 * (beginning.length + rest.length) + SEAL_BYTES;
    if (most >= this.#buffer.length - this.#used) {
      this.#makeRoom(Buffer.byteLength(beginning) + Buffer.byteLength(rest) + SEAL_BYTES + 1);
    }
    const buffer = this.#buffer;
    const restAt = this.#used + buffer.write(beginning, this.#used);
    const end = restAt + buffer.write(rest, restAt) - 1;
    this.#used = end + buffer.write(`${seal(buffer.subarray(this.#used, end))}\n`, end, 'latin1');
    this.#count++;
  }

  /** The first line of a journal. */
  addFirst(base: Base): void {
    this.#add('', JSON.stringify({ journal: FORMAT, ...base }));
  }

  /** @param change what `changeText` gave */
  addChange(number: number, change: string): void {
    if (change === '{}') this.#add(`{"line":${number}`, '}');
    else this.#add(`{"line":${number},`, change.slice(1));
  }

  /** Says that a db.json is about to take the place of the one that the first line names. */
  addSnapshot(number: number, base: Base): void {
    this.#add('', JSON.stringify({ line: number, snapshot: base }));
  }

  #makeRoom(bytes: number): void {
    if (this.#buffer.length - this.#used >= bytes) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#buffer.length, this.#used + bytes));
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }

  /** Takes them out. The bytes are valid until the next `add`. */
  take(): { bytes: Buffer; count: number } {
    const taken = { bytes: this.#buffer.subarray(0, this.#used), count: this.#count };
    if (this.#buffer.length > BATCH_BYTES) this.#buffer = Buffer.allocUnsafeSlow(BATCH_BYTES);
    this.#used = 0;
    this.#count = 0;
    return taken;
  }
}

/** Reads the lines of a journal, one after the other. */
export class JournalLines {
  readonly #path: string;
  readonly #take: (change: StoredChange, bytes: number) => void;
  /** Lines of the file. */
  #count = 0;
  /** Every db.json that the lines may be changes to: a kill may have come before one took the other's place, or after. */
  readonly #known: Base[] = [];
  /** The number of the last line. */
  last = 0;
  /** How many lines are changes. */
  changes = 0;

  /** @param take called with each change and the length of its line */
  constructor(path: string, take: (change: StoredChange, bytes: number) => void) {
    this.#path = path;
    this.#take = take;
  }

  /** What the first line says; undefined in a journal of the format before, or one without lines. */
  get base(): Base | undefined {
    return this.#known[0];
  }

  /** Whether the lines are changes to this db.json. As each carries whole records, it may hold some of them already. */
  belongsTo(sha256: string): boolean {
    return this.#known.some(({ db }) => db === sha256);
  }

  /** @param line is changed @throws GatewayError `state_damaged` */
  push(line: Buffer): void {
    this.#count++;
    if (this.#count === 1 && line.toString('latin1', 0, BEGINNING.length) === BEGINNING) this.#first(line);
    else if (this.base) this.#numbered(line);
    else this.#change(parseJson(textOf(line), this.#source), line);
  }

  /**
   * Takes what is behind the last newline.
   *
   * @returns whether it is a whole line that only lacks its newline; else it was being written when the process was
   *   killed, and never acknowledged
   * @throws GatewayError `state_damaged` for a whole line that was changed
   */
  end(rest: Buffer): boolean {
    const isFirst = this.#count === 0 && rest.toString('latin1', 0, BEGINNING.length) === BEGINNING;
    if (!this.base && !isFirst) return false;
    // The first line came into its place as a whole.
    if (!isFirst && !SEAL.test(rest.toString('latin1'))) return false;
    this.push(rest);
    return true;
  }

  get #source(): string {
    return `${this.#path} line ${this.#count}`;
  }

  #open(line: Buffer): unknown {
    if (!isSealed(line)) throw damaged(`${this.#source} is damaged: its checksum does not fit`);
    // Parsing the checksum, too, costs a tenth of the time: no two are alike.
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
      throw damaged(`${this.#source} is damaged: number ${this.last} is missing, it has number ${number}`);
    }
    if (snapshot === undefined) this.#change(json, line, 'line');
    else this.#known.push(this.#parse(Announced, json).snapshot);
  }

  #parse<Schema extends z.ZodMiniType>(schema: Schema, json: unknown): z.output<Schema> {
    const parsed = z.safeParse(schema, json);
    if (parsed.success) return parsed.data;
    throw damaged(`${this.#source} is not one that this gateway-sim can read`);
  }

  #change(json: unknown, line: Buffer, extra?: string): void {
    this.changes++;
    this.#take(parseChange(json, this.#source, extra), line.length + 1);
  }
}
