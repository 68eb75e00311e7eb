import { GatewayError } from '../contract/error.ts';

/** A part of a state's text: a member that is no list, the beginning of a list, or one item of it. */
export type StatePart =
  | { kind: 'value'; name: string; json: string }
  | { kind: 'list'; name: string }
  | { kind: 'item'; name: string; index: number; json: string };

/** Maximum bytes of one record, and of its values (chosen): beyond that, parsing alone would hold everything up. */
const MAX_RECORD_BYTES = 4 * 2 ** 20;
const MAX_RECORD_VALUES = 50_000;
const TOO_LARGE = 'the body has a record that is larger than any record of a state';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Takes the text of a state apart, record by record, without parsing it as a whole: what is read next is decided by who
 * reads.
 *
 * @throws GatewayError `unparseable_body` for what is no JSON object, or has a record that is larger than any
 */
export class StateText {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    if (BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte)) this.#at = BYTE_ORDER_MARK.length;
  }

  /** Bytes that were read so far. */
  get read(): number {
    return this.#at;
  }

  *parts(): Generator<StatePart> {
    this.#skipBlanks();
    if (this.#bytes[this.#at] !== OPEN) throw malformed('the body must be a JSON object');
    this.#at++;
    for (let count = 0; !this.#takes(CLOSE); count++) {
      if (count) this.#expect(COMMA, 'a comma');
      this.#skipBlanks();
      if (this.#bytes[this.#at] !== QUOTE) throw this.#unexpected('a name');
      const name = String(parsed(this.#value()));
      this.#expect(COLON, 'a colon');
      if (this.#takes(OPEN_LIST)) yield* this.#items(name);
      else yield { kind: 'value', name, json: this.#value() };
    }
    this.#skipBlanks();
    if (this.#at < this.#bytes.length) throw this.#unexpected('the end');
  }

  *#items(name: string): Generator<StatePart> {
    yield { kind: 'list', name };
    for (let index = 0; !this.#takes(CLOSE_LIST); index++) {
      if (index) this.#expect(COMMA, 'a comma');
      yield { kind: 'item', name, index, json: this.#value() };
    }
  }

  /** The text of the value that begins here. Whether it is one is found when it is parsed. */
  #value(): string {
    this.#skipBlanks();
    const start = this.#at;
    let depth = 0;
    let values = 0;
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte === QUOTE) this.#skipText();
      else if (byte === OPEN || byte === OPEN_LIST) depth++;
      else if (byte === CLOSE || byte === CLOSE_LIST) depth--;
      const isDone = depth === 0 && (byte === CLOSE || byte === CLOSE_LIST);
      const isEnd = depth < 0 || (depth === 0 && (byte === COMMA || byte === COLON));
      if (byte === COMMA) values++;
      if (this.#at - start > MAX_RECORD_BYTES || values > MAX_RECORD_VALUES || depth > MAX_RECORD_VALUES) {
        throw malformed(TOO_LARGE);
      }
      if (isDone) this.#at++;
      if (isDone || isEnd) break;
    }
    return this.#bytes.toString('utf8', start, this.#at);
  }

  /** To the closing quote of the text that begins here. */
  #skipText(): void {
    let end = this.#at;
    do {
      end = this.#bytes.indexOf(QUOTE, end + 1);
      if (end < 0) throw malformed('the body is not valid JSON: a text has no end');
      if (end - this.#at > MAX_RECORD_BYTES) throw malformed(TOO_LARGE);
    } while (this.#isEscaped(end));
    this.#at = end;
  }

  #isEscaped(at: number): boolean {
    let backslashes = 0;
    while (this.#bytes[at - 1 - backslashes] === BACKSLASH) backslashes++;
    return backslashes % 2 === 1;
  }

  #skipBlanks(): void {
    const start = this.#at;
    while (isBlank(this.#bytes[this.#at])) {
      if (++this.#at - start > MAX_RECORD_BYTES) throw malformed('the body has 4 MiB of nothing but blanks');
    }
  }

  #takes(byte: number): boolean {
    this.#skipBlanks();
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at++;
    return true;
  }

  #expect(byte: number, what: string): void {
    if (!this.#takes(byte)) throw this.#unexpected(what);
  }

  #unexpected(what: string): GatewayError {
    return malformed(`the body is not valid JSON: ${what} is missing at position ${this.#at}`);
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** @throws GatewayError `unparseable_body` */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new GatewayError('unparseable_body', `the body is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

const malformed = (message: string) => new GatewayError('unparseable_body', message);
