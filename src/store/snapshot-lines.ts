import { COLLECTION_NAMES } from '../contract/state.ts';
import { textOf } from './lines.ts';
import type { SnapshotImage } from './snapshot.ts';

/*
 * The format of a snapshot: valid JSON with one record per line. People can read and diff it. It is read and written in
 * pieces, at any size.
 */

/** Records to serialize before the event loop can run. */
const SLICE = 250;

/** The text of a snapshot in slices. */
export function* snapshotText(snapshot: SnapshotImage): Generator<string> {
  let text = `{"version":${snapshot.version}`;
  for (const name of COLLECTION_NAMES) {
    let count = 0;
    text += `,\n"${name}":[`;
    for (const record of snapshot[name]) {
      text += `${count++ ? ',' : ''}\n${JSON.stringify(record)}`;
      if (count % SLICE === 0) {
        yield text;
        text = '';
      }
    }
    text += count ? '\n]' : ']';
  }
  yield `${text}\n}\n`;
}

const FIRST_LINE = /^\{"version":(\d{1,9}),$/;
const LIST_LINE = /^"(\w+)":\[(\],?)?$/;
const COMMA = 0x2c;
const BRACE = 0x7b;

/** Reads the output of `snapshotText` line by line, with the same result as `JSON.parse`. */
export class SnapshotLines {
  readonly #json: Record<string, unknown> = {};
  /** The list that is being read, and whether another record must follow. */
  #list: unknown[] | undefined;
  #isOpen = false;
  /** The expected kind of the next line. */
  #next: 'first' | 'list' | 'last' | 'none' = 'first';
  /** Whether the file has another format, because a person edited it or it is damaged. */
  isOtherFormat = false;

  push(line: Buffer): void {
    if (this.isOtherFormat) return;
    this.isOtherFormat = !(this.#list
      ? this.#record(line, this.#list)
      : this.#frame(line.toString('latin1')));
  }

  /** Undefined for another format. */
  end(rest: Buffer): Record<string, unknown> | undefined {
    return this.isOtherFormat || rest.length || this.#next !== 'none' ? undefined : this.#json;
  }

  #record(line: Buffer, list: unknown[]): boolean {
    if (line[0] !== BRACE) {
      if (this.#isOpen || !/^\],?$/.test(line.toString('latin1'))) return false;
      this.#endList(line.length > 1);
      return true;
    }
    if (!this.#isOpen) return false;
    this.#isOpen = line.at(-1) === COMMA;
    const json = this.#isOpen ? line.subarray(0, -1) : line;
    try {
      list.push(JSON.parse(textOf(json)));
      return true;
    } catch {
      return false;
    }
  }

  #frame(line: string): boolean {
    if (this.#next === 'list') return this.#beginList(LIST_LINE.exec(line));
    if (this.#next === 'last' && line === '}') {
      this.#next = 'none';
      return true;
    }
    const version = this.#next === 'first' && FIRST_LINE.exec(line);
    if (!version) return false;
    this.#json['version'] = Number(version[1]);
    this.#next = 'list';
    return true;
  }

  #beginList(found: RegExpExecArray | null): boolean {
    const [, name = '', end] = found ?? [];
    if (!found || Object.hasOwn(this.#json, name) || name === '__proto__') return false;
    const list: unknown[] = [];
    this.#json[name] = list;
    if (end !== undefined) {
      this.#next = end === '],' ? 'list' : 'last';
      return true;
    }
    this.#list = list;
    this.#isOpen = true;
    return true;
  }

  #endList(isFollowed: boolean): void {
    this.#list = undefined;
    this.#next = isFollowed ? 'list' : 'last';
  }
}
