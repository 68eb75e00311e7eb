import * as http from 'node:http';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { describeFailure } from '../contract/describe-delivery.ts';
import { GatewayError } from '../contract/error.ts';
import type { AttemptFailure } from '../contract/failure.ts';
import { type Egress, EgressError } from './egress.ts';

/*
 * The one client: whatever this program sends goes out here, and each caller says by which guard. Node's own client
 * instead of fetch, whose parts take as long to load as all the rest of a command.
 */

/** A request, byte for byte. */
export interface Outgoing {
  url: string;
  method: string;
  /** In the order in which they go out. Host is added where it is missing. */
  headers: readonly (readonly [string, string])[];
  /** Or what writes it and ends the request. */
  body?: string | Buffer | ((request: http.ClientRequest) => unknown);
  /** What decides over the address. Null where the user named that one server, as the emulator of a command. */
  guard: Pick<Egress, 'admit'> | null;
  /** Real time for everything: resolving, connecting, sending, the whole answer. Default: no limit. */
  timeoutMs?: number | undefined;
  /** Real time without a byte, in either direction. Default: no limit. */
  silenceMs?: number;
  signal?: AbortSignal;
  /** Default: Node's own; `false`: a connection for this request only. */
  agent?: http.Agent | false;
  /** What is asked of TLS, for an https address. */
  tls?: Pick<TlsOptions, 'servername' | 'checkServerIdentity'>;
}

/** What was answered. */
export interface Answer {
  status: number;
  headers: [string, string][];
  body: Buffer;
}

/** Answers to orders, probes, attacks and lines of a manifest are read no further than this. */
export const MAX_ANSWER_BYTES = 256 * 1024;

/** Asks for an answer as it is: what is sent encoded all the same is not decoded, since a little of it can be a lot. */
export const IDENTITY = ['Accept-Encoding', 'identity'] as const;

/**
 * Sends one request as it is, no redirect is followed, and reads the answer to its end, so that the connection can be
 * used again.
 *
 * @param keepBytes no more of its body is kept
 * @param address of `outgoing`, where it was parsed already
 * @throws as `open`
 */
export async function send(outgoing: Outgoing, keepBytes: number, address?: URL): Promise<Answer> {
  const answer = await open(outgoing, address);
  const { body, error } = await readBody(answer, keepBytes, true);
  if (error) throw error;
  return { status: answer.statusCode ?? 0, headers: headerPairs(answer.rawHeaders), body };
}

/**
 * Sends one request as it is: no header is added but what the protocol needs, no redirect is followed.
 *
 * @param address of `outgoing`, where it was parsed already
 * @returns the answer when it begins, whose body is still to be read, or to be destroyed
 * @throws GatewayError `forbidden` by the guard, `timed_out`; else what `failureOf` reads
 */
export function open(outgoing: Outgoing, address = new URL(outgoing.url)): Promise<http.IncomingMessage> {
  return attempt(outgoing, address, performance.now(), false);
}

/** @param started when the time-out began, on the clock of `performance.now()`: the same for a retry */
async function attempt(
  outgoing: Outgoing,
  address: URL,
  started: number,
  isRetry: boolean,
): Promise<http.IncomingMessage> {
  const { method, body, guard, signal, agent, timeoutMs, silenceMs } = outgoing;
  signal?.throwIfAborted();
  const lookup = guard?.admit(address);
  // TLS is only loaded for who needs it.
  const client = address.protocol === 'https:' ? await import('node:https') : http;
  return new Promise((resolve, reject) => {
    const request = client.request(address, {
      method,
      headers: headersOf(outgoing, address),
      agent,
      lookup,
      timeout: silenceMs,
      ...outgoing.tls,
    });
    const abort = () => request.destroy(signal?.reason);
    const giveUp = (limitMs: number) => request.destroy(new TooLate(address, limitMs));
    const left = timeoutMs && Math.max(started + timeoutMs - performance.now(), 0);
    const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, left, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    if (silenceMs !== undefined) request.on('timeout', () => giveUp(silenceMs));
    let answer: http.IncomingMessage | undefined;
    const begin = (begun: http.IncomingMessage) => {
      answer = begun;
      resolve(begun);
    };
    request.on('response', begin);
    // Nobody asked to switch protocols: an answer like any other, and no connection to keep.
    request.on('upgrade', (begun, socket) => {
      socket.destroy();
      begin(begun);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // What reads it hears of the reason, such as a time-out.
      if (answer) return void answer.destroy(error);
      // The server closed a kept-alive connection just as it was used again: that is no attempt yet.
      const isStale = request.reusedSocket && error.code === 'ECONNRESET' && !isRetry;
      resolve(isStale ? attempt(outgoing, address, started, true) : Promise.reject(error));
    });
    request.on('close', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      // An end without an answer or an error must not leave anybody waiting.
      if (!answer) reject(brokenOff());
    });
    if (typeof body === 'function') body(request);
    else request.end(body);
  });
}

function headersOf({ headers }: Outgoing, { host }: URL): string[] {
  const hasHost = headers.some(([name]) => name.toLowerCase() === 'host');
  return [...(hasHost ? [] : ['Host', host]), ...headers.flat()];
}

class TooLate extends GatewayError {
  readonly limitMs: number;

  constructor({ href: url }: URL, limitMs: number) {
    super('timed_out', describeFailure({ code: 'timed_out', limitMs }, { url }));
    this.limitMs = limitMs;
  }
}

const brokenOff = () =>
  Object.assign(new Error('closed before the end of the answer'), { code: 'ECONNRESET' });

/**
 * What comes of an answer's body.
 *
 * @param keepBytes no more of it is kept
 * @param readsOn whether the rest is read all the same; else the connection is closed
 * @returns the beginning of the body, and why that is all where it broke off
 */
export function readBody(
  answer: http.IncomingMessage,
  keepBytes: number,
  readsOn = false,
): Promise<{ body: Buffer; error: Error | undefined }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let kept = 0;
    let isEnough = false;
    const finish = (error?: Error) => resolve({ body: Buffer.concat(chunks).subarray(0, keepBytes), error });
    const isSwitched = answer.statusCode === 101;
    if (isSwitched || answer.destroyed) return finish(isSwitched ? undefined : brokenOff());
    answer.on('data', (chunk: Buffer) => {
      if (kept < keepBytes) chunks.push(chunk);
      kept += chunk.length;
      isEnough = kept >= keepBytes && !readsOn;
      if (isEnough) answer.destroy();
    });
    answer.on('error', finish);
    answer.on('end', () => finish());
    answer.on('close', () => {
      if (!answer.readableEnded && !answer.errored) finish(isEnough ? undefined : brokenOff());
    });
  });
}

/**
 * The whole body as text.
 *
 * @throws GatewayError `body_too_large`, or `check_failed` for one that is encoded; else what `failureOf` reads
 */
export async function readText(answer: http.IncomingMessage, maxBytes = MAX_ANSWER_BYTES): Promise<string> {
  const { 'content-encoding': coding = 'identity' } = answer.headers;
  if (coding.toLowerCase() !== 'identity') {
    answer.destroy();
    throw new GatewayError('check_failed', `the answer is encoded (${coding}), which was not asked for`);
  }
  const { body, error } = await readBody(answer, maxBytes + 1);
  if (error) throw error;
  if (body.length <= maxBytes) return body.toString('utf8');
  throw new GatewayError('body_too_large', `the answer has more than ${size(maxBytes)}`);
}

const size = (bytes: number) =>
  bytes < 2 ** 20 ? `${bytes / 1024} KiB` : `${Math.round(bytes / 2 ** 20)} MiB`;

/** Node's flat list of header names and values as pairs. */
export function headerPairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] => (index % 2 ? [] : [[name, raw[index + 1] ?? '']]));
}

/** Why an answer does not count as received; null when it does. */
export function failureOfAnswer(status: number): AttemptFailure | null {
  return status >= 200 && status < 300 ? null : { code: 'answered' };
}

const BY_ERROR_CODE = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  ENOTFOUND: 'name_not_found',
  EAI_AGAIN: 'name_not_found',
  EHOSTUNREACH: 'no_route',
  ENETUNREACH: 'no_route',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate',
} as const;

/** Why there is no answer, by what `send`, `open` or `readBody` threw. */
export function failureOf(error: unknown, url: string): AttemptFailure {
  if (!URL.canParse(url)) return { code: 'address' };
  if (error instanceof AggregateError) return failureOf(error.errors[0], url);
  if (error instanceof EgressError) return error.failure;
  if (error instanceof TooLate) return { code: 'timed_out', limitMs: error.limitMs };
  const { code = '', message, name } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') return { code: 'stopping' };
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return tlsFailure(message);
  if (isTlsAlert(error)) return { code: 'expects_https' };
  if (code.startsWith('HPE_')) return { code: 'malformed', message };
  if (Object.hasOwn(BY_ERROR_CODE, code)) {
    return { code: BY_ERROR_CODE[code as keyof typeof BY_ERROR_CODE] };
  }
  return { code: 'other', message };
}

/** What OpenSSL says when the first bytes of an answer are no TLS, in its several versions. */
const NO_TLS = /wrong.version.number|packet.length.too.long|http.request/i;

function tlsFailure(message: string): AttemptFailure {
  if (NO_TLS.test(message)) return { code: 'expects_http' };
  return { code: 'tls', message: /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message };
}

/** Whether what came was no HTTP but a TLS alert: its record type and the major version. */
function isTlsAlert(error: unknown): boolean {
  const { rawPacket } = error as { rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) && rawPacket[0] === 0x15 && rawPacket[1] === 3;
}
