import * as http from 'node:http';
import type { LookupFunction } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';

/** A request to a receiver, byte for byte. */
export interface Outgoing {
  url: string;
  method: string;
  /** In the order in which they go out. Host is added where it is missing. */
  headers: readonly (readonly [string, string])[];
  body: string | Buffer;
  /** Real time for everything: resolving, connecting, sending, the whole answer. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** Default: a connection for this request only. */
  agent?: http.Agent;
  lookup?: LookupFunction;
  /** What is asked of TLS, for an https address. */
  tls?: Pick<TlsOptions, 'servername' | 'checkServerIdentity'>;
  /** The answer is read to its end, but no more of its body is kept. */
  keepBytes: number;
}

/** What a receiver answered. */
export interface Answer {
  status: number;
  headers: [string, string][];
  body: Buffer;
}

class TimeOut extends Error {}

/**
 * Sends one request as it is: no header is added but what the protocol needs, no redirect is followed.
 *
 * @param address of `outgoing`, where it was parsed already
 * @throws what `describeFailure` puts into words, or what `lookup` fails with
 */
export async function send(outgoing: Outgoing, address = new URL(outgoing.url)): Promise<Answer> {
  return attempt(outgoing, address, performance.now() + outgoing.timeoutMs, false);
}

/** @param deadline when the time-out is over, on the clock of `performance.now()`: the same for a retry */
async function attempt(
  outgoing: Outgoing,
  address: URL,
  deadline: number,
  isRetry: boolean,
): Promise<Answer> {
  const { signal } = outgoing;
  signal?.throwIfAborted();
  // TLS is only loaded for who needs it.
  const client = address.protocol === 'https:' ? await import('node:https') : http;
  const request = open(outgoing, address, client);
  const abort = () => request.destroy(signal?.reason);
  const timer = setTimeout(() => request.destroy(new TimeOut()), Math.max(deadline - performance.now(), 0));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await answerOf(request, outgoing);
  } catch (error) {
    // The receiver closed a kept-alive connection just as it was used again: that is no attempt yet.
    const stale = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    if (stale && !isRetry) return await attempt(outgoing, address, deadline, true);
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function open(
  { method, headers, agent, lookup, tls }: Outgoing,
  address: URL,
  client: Pick<typeof http, 'request'>,
): http.ClientRequest {
  const hasHost = headers.some(([name]) => name.toLowerCase() === 'host');
  return client.request(address, {
    method,
    headers: [...(hasHost ? [] : ['Host', address.host]), ...headers.flat()],
    agent: agent ?? false,
    ...(lookup && { lookup }),
    ...tls,
  });
}

function answerOf(request: http.ClientRequest, { body, keepBytes }: Outgoing): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const finish = ({ statusCode = 0, rawHeaders }: http.IncomingMessage, chunks: readonly Buffer[] = []) =>
      resolve({
        status: statusCode,
        headers: headerPairs(rawHeaders),
        body: Buffer.concat(chunks).subarray(0, keepBytes),
      });
    // An end without an answer or an error must not leave anybody waiting.
    const closed = () =>
      reject(Object.assign(new Error('closed before the end of the answer'), { code: 'ECONNRESET' }));
    request.on('error', reject);
    request.on('close', closed);
    // Nobody asked to switch protocols: an answer like any other, and no connection to keep.
    request.on('upgrade', (incoming, socket) => {
      socket.destroy();
      finish(incoming);
    });
    request.on('response', (incoming) => {
      request.off('close', closed);
      const chunks: Buffer[] = [];
      let kept = 0;
      incoming.on('data', (chunk: Buffer) => {
        if (kept < keepBytes) chunks.push(chunk);
        kept += chunk.length;
      });
      incoming.on('error', reject);
      incoming.on('close', closed);
      incoming.on('end', () => {
        incoming.off('close', closed);
        finish(incoming, chunks);
      });
    });
    request.end(body);
  });
}

/** Node's flat list of header names and values as pairs. */
export function headerPairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] => (index % 2 ? [] : [[name, raw[index + 1] ?? '']]));
}

/** Why an answer does not count as received; null when it does. */
export function describeAnswer(status: number, headers: Answer['headers']): string | null {
  if (status >= 200 && status < 300) return null;
  if (status < 300 || status >= 400) return `the receiver answered ${status}: expected 2xx`;
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
  return `the receiver answered ${status}${location ? ` to ${location}` : ''}: redirects are not followed, give the final address as ipn_url`;
}

/** How an emulator comes to trust a receiver. */
const TRUST_BY =
  'run gateway-sim with NODE_EXTRA_CA_CERTS, or start it with --ipn-ca, naming the file with your CA';

/**
 * Why there is no answer.
 *
 * @param trustBy what to do about a certificate that is not trusted
 */
export function describeFailure(error: unknown, url: string, timeoutMs: number, trustBy = TRUST_BY): string {
  if (!URL.canParse(url)) return `"${url}" is no address`;
  if (error instanceof AggregateError) return describeFailure(error.errors[0], url, timeoutMs, trustBy);
  const { host, hostname } = new URL(url);
  const { code, message, name } = error as NodeJS.ErrnoException;
  if (error instanceof TimeOut) return `no complete answer from ${host} within ${timeoutMs / 1000} s`;
  if (name === 'AbortError') return 'the emulator is stopping';
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL_')) return describeTlsFailure(host, message);
  if (isTlsAlert(error)) return `${host} expects https: use an address that begins with https://`;
  switch (code) {
    case 'ECONNREFUSED':
      return `connection refused: nothing listens at ${host}`;
    case 'ECONNRESET':
      return `${host} closed the connection without an answer`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${hostname} cannot be resolved`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `there is no route to ${host}`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return `the certificate of ${host} is not trusted: ${trustBy}`;
    default:
      return message;
  }
}

/** What OpenSSL says when the first bytes of an answer are no TLS, in its several versions. */
const NO_TLS = /wrong.version.number|packet.length.too.long|http.request/i;

function describeTlsFailure(host: string, message: string): string {
  if (NO_TLS.test(message)) return `${host} speaks plain http: use an address that begins with http://`;
  const reason = /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;
  return `no secure connection to ${host}: ${reason}`;
}

/** Whether what came was no HTTP but a TLS alert: its record type and the major version. */
function isTlsAlert(error: unknown): boolean {
  const { rawPacket } = error as { rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) && rawPacket[0] === 0x15 && rawPacket[1] === 3;
}
