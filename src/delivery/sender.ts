import * as http from 'node:http';
import { isIP } from 'node:net';
import type { PeerCertificate, ConnectionOptions as TlsOptions } from 'node:tls';
import type { AttemptFailure } from '../contract/delivery.ts';
import { GatewayError } from '../contract/error.ts';
import { clearTimeout, setTimeout } from '../system/real-time.ts';
import { type Egress, EgressError } from './egress.ts';

/*
 * The program's only HTTP client. Each caller chooses the guard. This client uses `node:http` because fetch takes as
 * long to load as the rest of a command.
 */

/** A request, byte for byte. */
export interface Outgoing {
  url: string;
  method: string;
  /** In this order. Host is added if it is missing. */
  headers: readonly (readonly [string, string])[];
  /** A function writes the body itself and ends the request. */
  body?: string | Buffer | ((request: http.ClientRequest) => unknown);
  /** Decides whether the address is allowed. Null if the user named this server, such as a command's emulator. */
  guard: Egress | null;
  /** Whether it may only be sent to a loopback or private address, whatever the guard allows. */
  localOnly?: boolean | undefined;
  /** Real time for the whole request: lookup, connection, sending and the complete response. Default: no limit. */
  timeoutMs?: number | undefined;
  /**
   * Real time until the response begins, and then without a byte. Default: no limit. An interim response, such as 100,
   * does not extend it.
   */
  idleMs?: number;
  signal?: AbortSignal;
  /** Default: connections that are kept and never go through a proxy. `false`: a connection for this request only. */
  agent?: http.Agent | false;
  /** Whether to send no Connection header and to close the connection, as PHP's curl does. */
  asCurl?: boolean;
  /** Receives the bytes of the response. */
  onBytes?: (bytes: Buffer) => void;
  /** TLS options for an https address. */
  tls?: Pick<TlsOptions, 'servername' | 'checkServerIdentity'>;
}

export interface HttpResponse {
  status: number;
  headers: [string, string][];
  body: Buffer;
}

/** Maximum number of bytes to read of a response to an order, a probe, an attack or a manifest entry. */
export const MAX_RESPONSE_BYTES = 256 * 1024;

/** The options of Node's global agents. */
const KEPT = { keepAlive: true, timeout: 5_000 };
/** Node's global agents may use the proxy that the environment names. It must see neither keys nor tokens. */
const AGENT = new http.Agent(KEPT);
let secureAgent: http.Agent | undefined;

/** Requests an unencoded response. Encoded responses are not decoded: a small one can expand to a huge one. */
export const IDENTITY = ['Accept-Encoding', 'identity'] as const;

/**
 * Sends one request unchanged and follows no redirects. Reads the response to the end, so that the connection can be
 * reused.
 *
 * @param keepBytes maximum bytes of the body to keep
 * @throws like `open`
 */
export async function send(outgoing: Outgoing, keepBytes: number): Promise<HttpResponse> {
  const response = await open(outgoing);
  const { body, error } = await readBody(response, keepBytes, true);
  if (error) throw error;
  return { status: response.statusCode ?? 0, headers: headerPairs(response.rawHeaders), body };
}

/**
 * Sends one request unchanged: adds only the headers that the protocol requires, and follows no redirects.
 *
 * @returns the response as soon as it begins. The caller must read or destroy its body.
 * @throws GatewayError `forbidden` from the guard, or `timed_out`; otherwise an error that `failureOf` describes
 */
export async function open(outgoing: Outgoing): Promise<http.IncomingMessage> {
  const { method, body, guard, localOnly, signal, timeoutMs, idleMs, asCurl, onBytes } = outgoing;
  signal?.throwIfAborted();
  const address = new URL(outgoing.url);
  const lookup = guard?.admit(address, { localOnly });
  // Load TLS only when needed.
  const isSecure = address.protocol === 'https:';
  const client = isSecure ? await import('node:https') : http;
  if (isSecure) secureAgent ??= new client.Agent(KEPT);
  const { agent = isSecure ? secureAgent : AGENT } = outgoing;
  return new Promise((resolve, reject) => {
    const headers = headersOf(outgoing, address);
    const request = client.request(asCurl ? withoutCredentials(address) : address, {
      method,
      // A list is sent as it is, with a Connection header. Single headers can do without one.
      ...(asCurl ? { setHost: false, path: targetOf(outgoing.url, address) } : { headers: headers.flat() }),
      agent,
      lookup,
      timeout: idleMs,
      ...outgoing.tls,
    });
    if (asCurl) {
      for (const [name, value] of headers) request.appendHeader(name, value);
      request.removeHeader('Connection');
    }
    if (onBytes) request.on('socket', (socket) => socket.on('data', onBytes));
    const abort = () => request.destroy(signal?.reason);
    const giveUp = (limitMs: number) => request.destroy(new TimeoutError(address, limitMs));
    const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    const silent = idleMs === undefined ? undefined : setTimeout(giveUp, idleMs, idleMs);
    if (idleMs !== undefined) request.on('timeout', () => giveUp(idleMs));
    let response: http.IncomingMessage | undefined;
    const begin = (begun: http.IncomingMessage) => {
      clearTimeout(silent);
      response = begun;
      resolve(begun);
    };
    request.on('response', begin);
    // The request did not ask to switch protocols, so treat it as any other response and close the connection.
    request.on('upgrade', (begun, socket) => {
      socket.destroy();
      begin(begun);
    });
    request.on('error', (error) => {
      // Passes the reason, such as a timeout, to the reader of the body.
      if (response) return void response.destroy(error);
      reject(error);
    });
    request.on('close', () => {
      clearTimeout(timer);
      clearTimeout(silent);
      signal?.removeEventListener('abort', abort);
      // A connection that closes without a response or an error must not leave the caller waiting.
      if (!response) reject(closedEarly());
    });
    if (typeof body === 'function') body(request);
    else request.end(body);
  });
}

/** Node fails to decode some credentials that curl sends. They are in a header already. */
function withoutCredentials(address: URL): URL {
  const bare = new URL(address);
  bare.username = '';
  bare.password = '';
  return bare;
}

/**
 * The path and query as curl sends them: as written, although `URL` would encode or remove some characters. Only dot
 * segments are resolved (observed with curl 7.88).
 */
function targetOf(url: string, { pathname, search }: URL): string {
  const [, path = '', query = ''] = /^[a-z]+:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(url.trim()) ?? [];
  const hasDots = /(?:^|\/)\.\.?(?:\/|$)/.test(path);
  const target = `${hasDots ? pathname : path || '/'}${query}`;
  // One character per byte, as Node writes it.
  const bytes = Buffer.from(target, 'utf8').toString('latin1');
  // Node refuses white space and control characters. Only an edited state contains such an address.
  return /^[\x21-\xff]+$/.test(bytes) ? bytes : pathname + search;
}

function headersOf({ headers }: Outgoing, { host }: URL): Outgoing['headers'] {
  const hasHost = headers.some(([name]) => name.toLowerCase() === 'host');
  return hasHost ? headers : [['Host', host], ...headers];
}

class TimeoutError extends GatewayError {
  readonly limitMs: number;

  constructor({ host }: URL, limitMs: number) {
    super('timed_out', `${host} timed out after ${limitMs / 1_000} s`);
    this.limitMs = limitMs;
  }
}

const closedEarly = () =>
  Object.assign(new Error('closed before the end of the response'), { code: 'ECONNRESET' });

/**
 * Reads the body of a response.
 *
 * @param keepBytes maximum bytes to keep
 * @param drains whether to read the rest of the body instead of closing the connection
 * @returns the beginning of the body, and the error if the body is incomplete
 */
export function readBody(
  response: http.IncomingMessage,
  keepBytes: number,
  drains = false,
): Promise<{ body: Buffer; error: Error | undefined }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let kept = 0;
    let isEnough = false;
    const finish = (error?: Error) => resolve({ body: Buffer.concat(chunks).subarray(0, keepBytes), error });
    const isSwitched = response.statusCode === 101;
    if (isSwitched || response.destroyed) return finish(isSwitched ? undefined : closedEarly());
    response.on('data', (chunk: Buffer) => {
      if (kept < keepBytes) chunks.push(chunk);
      kept += chunk.length;
      isEnough = kept >= keepBytes && !drains;
      if (isEnough) response.destroy();
    });
    response.on('error', finish);
    response.on('end', () => finish());
    response.on('close', () => {
      if (!response.readableEnded && !response.errored) finish(isEnough ? undefined : closedEarly());
    });
  });
}

/**
 * Reads the whole body as text, decompressed.
 *
 * @throws GatewayError `body_too_large`, or `check_failed` for a body that cannot be decoded; otherwise an error that
 *   `failureOf` describes
 */
export async function readText(
  response: http.IncomingMessage,
  maxBytes = MAX_RESPONSE_BYTES,
): Promise<string> {
  const { 'content-encoding': coding = 'identity' } = response.headers;
  const { body, error } = await readBody(response, maxBytes + 1);
  if (error) throw error;
  const text = coding.toLowerCase() === 'identity' ? body : await decoded(body, coding, maxBytes);
  if (text && text.length <= maxBytes) return text.toString('utf8');
  throw new GatewayError('body_too_large', `the response is larger than ${size(maxBytes)}`);
}

/**
 * Decompresses a body: some servers and proxies compress without being asked to.
 *
 * @returns null for a longer text
 */
async function decoded(body: Buffer, coding: string, maxBytes: number): Promise<Buffer | null> {
  const { brotliDecompressSync, unzipSync } = await import('node:zlib');
  const decoders = { gzip: unzipSync, deflate: unzipSync, br: brotliDecompressSync };
  try {
    const decode = decoders[coding.toLowerCase() as keyof typeof decoders];
    if (decode) return decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
  }
  throw new GatewayError('check_failed', `the response cannot be decoded (Content-Encoding: ${coding})`);
}

const size = (bytes: number) =>
  bytes < 2 ** 20 ? `${bytes / 1024} KiB` : `${Math.round(bytes / 2 ** 20)} MiB`;

/** Node's flat list of header names and values as pairs. */
export function headerPairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] => (index % 2 ? [] : [[name, raw[index + 1] ?? '']]));
}

/** Why a response with this status does not count as received; null if it does. */
export function failureOfStatus(status: number): AttemptFailure | null {
  // curl reads 304 as an answer without a body (observed with curl 7.88).
  return (status >= 200 && status < 300) || status === 304 ? null : { code: 'answered' };
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

/** Why there is no response, from the error that `send`, `open` or `readBody` threw. */
export function failureOf(error: unknown, url: string): AttemptFailure {
  if (!URL.canParse(url)) return { code: 'address' };
  if (error instanceof AggregateError) return failureOf(error.errors[0], url);
  if (error instanceof EgressError) return error.failure;
  if (error instanceof TimeoutError) return { code: 'timed_out', limitMs: error.limitMs };
  const { code = '', message, name } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') return { code: 'stopping' };
  if (/NO_APPLICATION_PROTOCOL/.test(code)) return { code: 'http2_only' };
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return tlsFailure(message);
  if (isTlsAlert(error)) return { code: 'expects_https' };
  if (isHttp2(error)) return { code: 'http2_only' };
  if (code.startsWith('HPE_')) return { code: 'malformed', message };
  if (Object.hasOwn(BY_ERROR_CODE, code)) {
    return { code: BY_ERROR_CODE[code as keyof typeof BY_ERROR_CODE] };
  }
  return { code: 'other', message };
}

/** The messages of several OpenSSL versions for a server that does not use TLS. */
const NO_TLS = /wrong.version.number|packet.length.too.long|http.request/i;

function tlsFailure(message: string): AttemptFailure {
  if (NO_TLS.test(message)) return { code: 'expects_http' };
  return { code: 'tls', message: /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message };
}

/** Whether the response was a TLS alert instead of HTTP: checks its record type and major version. */
function isTlsAlert(error: unknown): boolean {
  const { rawPacket } = error as { rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) && rawPacket[0] === 0x15 && rawPacket[1] === 3;
}

/** Whether the response began with the SETTINGS frame of HTTP/2: its type, after a length of three bytes. */
function isHttp2(error: unknown): boolean {
  const { rawPacket } = error as { rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) && rawPacket[0] === 0 && rawPacket[1] === 0 && rawPacket[3] === 4;
}

/** Checks whether a certificate is for a host. Node 22's own check does not support IPv6 addresses. */
export async function identityCheck(): Promise<(host: string, of: PeerCertificate) => Error | undefined> {
  const [tls, { X509Certificate }] = await Promise.all([import('node:tls'), import('node:crypto')]);
  return (host, certificate) =>
    isIP(host) !== 0 && new X509Certificate(certificate.raw).checkIP(host) !== undefined
      ? undefined
      : tls.checkServerIdentity(host, certificate);
}
