import { GatewayError, MAX_PROBLEMS } from '../contract/error.ts';
import { SURROGATE_ESCAPE } from '../contract/input.ts';
import { COLLECTION_NAMES, type CollectionName } from '../contract/state.ts';
import { parseSnapshot, type Snapshot, snapshotOf } from '../store/snapshot.ts';
import { parsed, type StatePart, StateText } from './state-text.ts';

/** What is read before everybody else is served, in bytes and in records: some milliseconds of work. */
const SLICE_BYTES = 256 * 2 ** 10;
const SLICE_RECORDS = 200;

/** Records of one list, and where they are in it. */
interface Batch {
  name: string;
  first: number;
  records: unknown[];
}

/**
 * Reads the text of a whole state in slices: other requests are answered meanwhile. Each record is held
 * against the rules of a state, and what is wrong is collected until an error can name no more of it.
 *
 * @param source what to call it in an error
 * @throws GatewayError `unparseable_body`, or `state_damaged` with the first problems
 */
export async function readState(bytes: Buffer, source: string): Promise<Snapshot> {
  const version = await versionOf(bytes);
  const reader = new RecordReader(version, source);
  for await (const part of slicesOf(bytes)) reader.take(part);
  return reader.end();
}

/** It may stand behind the records that it is needed for. */
async function versionOf(bytes: Buffer): Promise<unknown> {
  for await (const part of slicesOf(bytes)) {
    if (part.name === 'version' && part.kind === 'value') return parsed(part.json);
  }
  return undefined;
}

/** The parts of a text, with a turn of the event loop after each slice of it. */
async function* slicesOf(bytes: Buffer): AsyncGenerator<StatePart> {
  const text = new StateText(bytes);
  let served = 0;
  let records = 0;
  for (const part of text.parts()) {
    yield part;
    if (text.read - served < SLICE_BYTES && ++records < SLICE_RECORDS) continue;
    served = text.read;
    records = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

class RecordReader {
  readonly #version: unknown;
  readonly #source: string;
  readonly #lists = new Map<string, unknown[]>();
  readonly #problems: string[] = [];
  #batch: Batch = { name: '', first: 0, records: [] };

  constructor(version: unknown, source: string) {
    this.#version = version;
    this.#source = source;
  }

  take(part: StatePart): void {
    if (part.kind === 'item') this.#takeRecord(part);
    else {
      this.#check(0, part.name);
      if (part.kind === 'list') {
        this.#parse(part.name, []);
        this.#lists.set(part.name, []);
      } else if (part.name !== 'version') this.#parse(part.name, parsed(part.json));
    }
  }

  #takeRecord({ name, index, json }: StatePart & { kind: 'item' }): void {
    const record = parsed(json);
    const place = SURROGATE_ESCAPE.test(json) ? findLoneSurrogate(record) : undefined;
    if (!place) this.#batch.records.push(record);
    if (place || this.#batch.records.length >= SLICE_RECORDS) this.#check(index + 1);
    if (!place) return;
    const path = [name, index, ...place].join('.');
    const problem = `${path} has a lone surrogate, half of a character that no file can hold`;
    this.#report([`${this.#source} is damaged: ${problem}`]);
  }

  /** @throws GatewayError `state_damaged` */
  end(): Snapshot {
    this.#check(0);
    if (this.#problems.length) throw this.#damaged(this.#problems);
    // What is no object, or of no version, is said by who knows.
    if (!this.#lists.size) this.#parse('merchants', []);
    return snapshotOf((name) => this.#lists.get(name) ?? []);
  }

  /** Holds the records that were taken against the rules; those of one list come next, from a place on. */
  #check(next: number, name = this.#batch.name): void {
    const { name: checked, first, records } = this.#batch;
    this.#batch = { name, first: next, records: [] };
    if (!records.length) return;
    try {
      this.#keep(checked, this.#parse(checked, records));
    } catch {
      for (const [place, record] of records.entries()) this.#checkOne(checked, first + place, record);
    }
  }

  #checkOne(name: string, index: number, record: unknown): void {
    try {
      this.#keep(name, this.#parse(name, [record]));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // It was alone in its list, and so the first one there.
      this.#report(error.problems.map((problem) => problem.replace(`${name}.0`, `${name}.${index}`)));
    }
  }

  /** @throws GatewayError `state_damaged` once there are more problems than it names */
  #report(problems: readonly string[]): void {
    this.#problems.push(...problems);
    if (this.#problems.length < MAX_PROBLEMS) return;
    throw this.#damaged([
      ...this.#problems.slice(0, MAX_PROBLEMS - 1),
      'and more: the rest was not looked at',
    ]);
  }

  #keep(name: string, records: readonly unknown[]): void {
    const list = this.#lists.get(name);
    for (const record of records) list?.push(record);
  }

  /** @throws GatewayError `state_damaged` */
  #parse(name: string, records: unknown): readonly unknown[] {
    const given = { ...(this.#version !== undefined && { version: this.#version }), [name]: records };
    const snapshot = parseSnapshot(given, this.#source);
    return isCollection(name) ? snapshot[name] : [];
  }

  #damaged(problems: readonly string[]): GatewayError {
    return new GatewayError('state_damaged', problems[0] ?? '', { problems });
  }
}

/** What lies deeper is refused as unknown, whatever it is. */
const MAX_DEPTH = 20;

/** Where a text of a value has one; undefined where none has. */
function findLoneSurrogate(value: unknown, depth = 0): string[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : [];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  for (const [name, inside] of Object.entries(value)) {
    const place = findLoneSurrogate(name) ?? findLoneSurrogate(inside, depth + 1);
    if (place) return [name.toWellFormed(), ...place];
  }
  return undefined;
}

function isCollection(name: string): name is CollectionName {
  return COLLECTION_NAMES.some((one) => one === name);
}
