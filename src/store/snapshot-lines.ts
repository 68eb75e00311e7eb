import { COLLECTION_NAMES } from '../contract/state.ts';
import { textOf } from './lines.ts';
import type { SnapshotImage } from './snapshot.ts';

/*
 * How a snapshot is written: valid JSON with one record a line, which people can read and diff, and which is read and
 * written piece by piece at any size.
 */

/** Records that are turned to text before the event loop gets its turn. */
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

/** Reads what `snapshotText` wrote, line by line, as `JSON.parse` would read the whole. */
export class SnapshotLines {
  readonly #json: Record<string, unknown> = {};
  /** The list whose records are being read, and whether there must be one more. */
  #list: unknown[] | undefined;
  #isOpen = false;
  /** What the next line must be. */
  #next: 'first' | 'list' | 'last' | 'none' = 'first';
  /** Written otherwise: by people, or damaged. */
  isOther = false;

  push(line: Buffer): void {
    if (this.isOther) return;
    this.isOther = !(this.#list ? this.#record(line, this.#list) : this.#frame(line.toString('latin1')));
  }

  /** Undefined for what was written otherwise. */
  end(rest: Buffer): Record<string, unknown> | undefined {
    return this.isOther || rest.length || this.#next !== 'none' ? undefined : this.#json;
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
