import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import type { AttemptFailure } from '../contract/delivery.ts';
import { describeFailure } from '../contract/describe-delivery.ts';
import { GatewayError } from '../contract/error.ts';
import { FORM_TYPE } from '../contract/media-types.ts';
import { VERSION } from '../system/package-info.ts';
import { pause, performance } from '../system/real-time.ts';
import { type Egress, EgressError } from './egress.ts';
import { ipnHeaders, MARK } from './ipn-headers.ts';
import {
  failureOf,
  headerPairs,
  IDENTITY,
  MAX_RESPONSE_BYTES,
  type Outgoing,
  open,
  readBody,
} from './sender.ts';

/** How a body is sent: whole with its length, in chunks, slowly, cut off, or without waiting for the response. */
type Manner = 'whole' | 'chunked' | 'slow' | 'truncated' | 'disconnected';

/** A request to the shop. */
export interface ExchangeRequest {
  method?: string;
  url: string;
  /** In addition to the headers that a gateway sends. */
  headers?: readonly (readonly [string, string])[];
  contentType?: string;
  body?: string | Buffer;
  manner?: Manner;
  /** Omits the header that identifies an emulator: a server that echoes headers would look like one. */
  unmarked?: boolean;
}

/** The shop's response. */
export interface Observation {
  /** Null if there was no response. */
  status: number | null;
  headers: readonly (readonly [string, string])[];
  /** The first 256 KiB, never decoded. */
  body: string;
  /** Why there was no complete response. */
  failure: AttemptFailure | null;
  /** The failure as text. */
  error: string | null;
  durationMs: number;
}

interface ClientOptions {
  /** For https with additional trusted certificates. */
  agent?: Agent | undefined;
  /** The fix for an untrusted certificate, if it differs from the fix for `start`. */
  trustBy?: string | undefined;
  /** Aborts running requests. */
  cancelled?: AbortSignal | undefined;
}
const DROPS = 5;
const DROP_EVERY_MS = 150;
/** Time for the shop to start processing before the sender disconnects. */
const LEAVE_AFTER_MS = 100;

/** Sends requests unchanged, each on its own connection, and reports the responses. */
export class ExchangeClient {
  readonly #egress: Egress;
  readonly #timeoutMs: number;
  readonly #options: ClientOptions;

  constructor(egress: Egress, timeoutMs: number, options: ClientOptions = {}) {
    this.#egress = egress;
    this.#timeoutMs = timeoutMs;
    this.#options = options;
  }

  /** Whether no server listens at an address. Connects, and sends nothing. */
  async isDown(url: string): Promise<boolean> {
    const leave = (request: ClientRequest) =>
      request.once('socket', (socket) => socket.once('connect', () => request.destroy()));
    const connection = { url, method: 'GET', headers: [], guard: this.#egress, agent: false as const };
    return open({ ...connection, body: leave, timeoutMs: this.#timeoutMs }).then(
      () => false,
      (error) => failureOf(error, url).code === 'connection_refused',
    );
  }

  /** Sends all requests without their last bytes, then the last bytes together. */
  async sendTogether(requests: readonly ExchangeRequest[]): Promise<Observation[]> {
    const ready: (() => void)[] = [];
    const all = Promise.all(requests.map(() => new Promise<void>((resolve) => ready.push(resolve))));
    return Promise.all(
      requests.map((sent, index) => this.send(sent, { all, ready: () => ready[index]?.() })),
    );
  }

  /** Whether the server responds to a request while a copy of it lacks its last byte. */
  async answersDuring(sent: ExchangeRequest, limitMs: number): Promise<boolean> {
    let complete = () => {};
    const all = new Promise<void>((resolve) => {
      complete = resolve;
    });
    let first: Promise<unknown> | undefined;
    await new Promise<void>((ready) => {
      first = this.send(sent, { all, ready });
    });
    const second = this.send(sent);
    const isAnswered = await Promise.race([second.then(() => true), pause(limitMs).then(() => false)]);
    complete();
    await Promise.all([first, second]);
    return isAnswered;
  }

  /**
   * @param start for one of several joint requests
   * @throws GatewayError `forbidden` for an address that the egress rules do not allow
   */
  async send(sent: ExchangeRequest, start?: JointStart): Promise<Observation> {
    const { url, method = sent.body === undefined ? 'GET' : 'POST' } = sent;
    const { agent, trustBy, cancelled } = this.#options;
    const began = performance.now();
    const seen: Observation = {
      status: null,
      headers: [],
      body: '',
      failure: null,
      error: null,
      durationMs: 0,
    };
    const fail = (error: unknown) => {
      seen.failure = failureOf(error, url);
      seen.error = describeFailure(seen.failure, { url }, trustBy);
    };
    try {
      const answer = await open({
        url,
        method,
        headers: headersOf(sent),
        asCurl: true,
        guard: this.#egress,
        timeoutMs: this.#timeoutMs,
        agent: (/^https:/i.test(url) && agent) || false,
        ...(cancelled && { signal: cancelled }),
        body: (request) => write(request, sent, start),
      });
      const { body, error } = await readBody(answer, MAX_RESPONSE_BYTES);
      seen.status = answer.statusCode ?? 0;
      seen.headers = headerPairs(answer.rawHeaders);
      seen.body = body.toString('utf8');
      if (error) fail(error);
    } catch (error) {
      if (error instanceof EgressError) throw error;
      fail(error);
    } finally {
      start?.ready();
    }
    seen.durationMs = Math.round(performance.now() - began);
    return seen;
  }
}

/** Holds back the last bytes of requests until the rest of all of them is sent, or has failed. */
interface JointStart {
  ready: () => void;
  all: Promise<unknown>;
}

/** The headers of a gateway's request, and those of this one, which replace them. */
export function headersOf({
  url,
  headers = [],
  contentType = FORM_TYPE,
  body,
  manner,
  unmarked,
}: ExchangeRequest): (readonly [string, string])[] {
  const own = ipnHeaders({ url, named: url }, { contentType: body === undefined ? null : contentType, body });
  const sent = own.flatMap((header): (readonly [string, string])[] => {
    const [name] = header;
    if ((unmarked && name === MARK[0]) || headers.some(([given]) => given === name)) return [];
    return manner === 'chunked' && name === 'Content-Length' ? [['Transfer-Encoding', 'chunked']] : [header];
  });
  return [...sent, ...headers];
}

async function write(
  request: ClientRequest,
  { body, manner = 'whole' }: ExchangeRequest,
  start?: JointStart,
): Promise<void> {
  const bytes = Buffer.from(body ?? '');
  const half = Math.ceil(bytes.length / 2);
  switch (manner) {
    case 'whole': {
      const last = start ? Math.max(bytes.length - 1, 0) : 0;
      if (last > 0) await new Promise((resolve) => request.write(bytes.subarray(0, last), resolve));
      start?.ready();
      await start?.all;
      request.end(bytes.subarray(last));
      return;
    }
    case 'chunked':
      request.write(bytes.subarray(0, half));
      request.end(bytes.subarray(half));
      return;
    case 'slow':
      for (let drop = 0; drop < DROPS && !request.destroyed; drop++) {
        const size = Math.ceil(bytes.length / DROPS);
        request.write(bytes.subarray(drop * size, (drop + 1) * size));
        await pause(DROP_EVERY_MS);
      }
      request.end();
      return;
    case 'truncated':
    case 'disconnected':
      await new Promise<void>((resolve) => {
        if (manner === 'truncated') request.write(bytes.subarray(0, half), () => resolve());
        else request.end(bytes, resolve);
      });
      await pause(LEAVE_AFTER_MS);
      request.destroy();
  }
}

const HEADERS = [
  ['User-Agent', `gateway-sim/${VERSION}`],
  ['Accept', '*/*'],
  IDENTITY,
  ['Connection', 'close'],
] as const;

/**
 * Sends a request to one of the user's addresses, which places or probes an order.
 *
 * @param read reads the needed part of the response
 * @param failed the error message before its cause
 * @throws GatewayError `forbidden` if the guard rejects the address, otherwise `check_failed`
 */
export async function ask<Result>(
  request: Pick<Outgoing, 'url' | 'method' | 'guard' | 'timeoutMs'> & { signal?: AbortSignal | undefined },
  read: (answer: IncomingMessage) => Result,
  failed: string,
): Promise<Awaited<Result>> {
  const headers = request.method === 'POST' ? [...HEADERS, ['Content-Length', '0'] as const] : HEADERS;
  try {
    const { signal, ...rest } = request;
    const answer = await open({ ...rest, headers, agent: false, ...(signal && { signal }) });
    try {
      return await read(answer);
    } finally {
      answer.destroy();
    }
  } catch (error) {
    if (error instanceof EgressError) throw error;
    request.signal?.throwIfAborted();
    const why = describeFailure(failureOf(error, request.url), request);
    throw new GatewayError('check_failed', `${failed}: ${why}`, { cause: error });
  }
}
