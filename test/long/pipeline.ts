import { connect, type Socket } from 'node:net';
import { readHead } from '../helpers/raw.ts';
import type { Budget } from './trial.ts';

/** One of many responses on a connection. */
export interface Answer {
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: Buffer;
}

/** The result of several requests that were sent together. */
export interface Answers {
  /** In the order of the requests. If the connection was closed early, the last ones are missing. */
  answers: Answer[];
  /** Whether the server neither responded nor closed the connection in time. */
  hung: boolean;
}

/** The bytes of a request. @param headers the lines of the headers, without line ends */
export function requestBytes(
  method: string,
  target: string,
  headers: readonly string[],
  body: Buffer | string = '',
): Buffer {
  const head = [`${method} ${target} HTTP/1.1`, ...headers].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
}

/** The bytes of a POST with a form. */
export function formRequest(path: string, fields: Readonly<Record<string, string>>): Buffer {
  const body = new URLSearchParams(fields).toString();
  const type = 'Content-Type: application/x-www-form-urlencoded';
  return requestBytes('POST', path, ['Host: 127.0.0.1', type, `Content-Length: ${body.length}`], body);
}

/** A keep-alive connection that sends requests without waiting for earlier responses. */
export class Pipeline {
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** @param limitMs if the responses take longer, the requests count as hung */
  send(requests: readonly Buffer[], limitMs = 60_000): Promise<Answers> {
    const socket = this.#open();
    return new Promise((resolve) => {
      const answers: Answer[] = [];
      let rest: Buffer = Buffer.alloc(0);
      const finish = (hung: boolean) => {
        clearTimeout(timer);
        socket.off('data', read).off('close', closed);
        if (hung || answers.length < requests.length) this.close();
        resolve({ answers, hung });
      };
      const closed = () => finish(false);
      const read = (chunk: Buffer) => {
        rest = rest.length ? Buffer.concat([rest, chunk]) : chunk;
        for (let next = parsed(rest); next; next = parsed(rest)) {
          if (next.answer.status >= 200) answers.push(next.answer);
          rest = rest.subarray(next.length);
        }
        if (answers.length >= requests.length) finish(false);
      };
      const timer = setTimeout(() => finish(true), limitMs);
      socket.on('data', read).on('close', closed);
      socket.write(Buffer.concat(requests));
    });
  }

  /**
   * Sends requests and counts the responses. A missing response is a failure.
   *
   * @param mayClose whether a response may close the connection before the next one
   */
  async exchange(budget: Budget, requests: readonly Buffer[], mayClose = false): Promise<Answer[]> {
    const { answers, hung } = await this.send(requests);
    const next = requests[answers.length];
    if (next && (hung || !mayClose))
      budget.fail(hung ? 'hang' : 'lost', `no answer to ${next.toString('latin1', 0, 700)}`);
    budget.cases(answers.length);
    budget.requests(answers.length);
    return answers;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    if (this.#socket && !this.#socket.destroyed && this.#socket.writable) return this.#socket;
    this.#socket = connect(this.#port, '127.0.0.1');
    this.#socket.setMaxListeners(0).on('error', () => {});
    return this.#socket;
  }
}

/** The first complete response in these bytes, and its length. */
function parsed(bytes: Buffer): { answer: Answer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const { status, headers } = readHead(bytes.toString('latin1', 0, end));
  const start = end + 4;
  const hasNone = status < 200 || status === 204 || status === 304;
  const found = hasNone
    ? { body: Buffer.alloc(0), end: start }
    : headers['transfer-encoding'] === 'chunked'
      ? dechunked(bytes, start)
      : sized(bytes, start, Number(headers['content-length'] ?? 0));
  return found && { answer: { status, headers, body: found.body }, length: found.end };
}

function sized(bytes: Buffer, start: number, length: number) {
  const end = start + length;
  return bytes.length < end ? undefined : { body: bytes.subarray(start, end), end };
}

function dechunked(bytes: Buffer, start: number) {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    const end = line + 2 + size;
    if (bytes.length < end + 2) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), end: end + 2 };
    chunks.push(bytes.subarray(line + 2, end));
    at = end + 2;
  }
}
