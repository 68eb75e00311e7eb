import type { IncomingMessage } from 'node:http';
import { IDENTITY, open, readText } from '../delivery/sender.ts';
import { trustingAgent } from './trust.ts';

interface RequestOptions {
  method?: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  /** The certificates to trust for HTTPS; default: the usual ones. */
  tlsCa?: string | null | undefined;
  /** In milliseconds of real time, without a byte; default: `LIMIT_MS`. */
  limitMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** For request and response together; default: no limit. */
  totalMs?: number | undefined;
}

/** A response whose body must be read or destroyed. */
export type Answer = IncomingMessage;

/** Far longer than an emulator needs for a response from memory (chosen). */
export const LIMIT_MS = 30_000;
/** Larger than any list of an emulator (chosen). */
const MAX_JSON_BYTES = 64 * 2 ** 20;
/** The maximum length of a string in Node. */
export const MAX_STATE_BYTES = 2 ** 29 - 24;

/**
 * Sends a request to an emulator. Redirects are not followed, since none of its routes for programs redirects.
 *
 * @throws GatewayError `timed_out`, `usage` for a file that cannot be read, or the error of the connection
 */
export async function request(url: string, options: RequestOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, tlsCa, limitMs = LIMIT_MS, totalMs, signal } = options;
  const isSecure = /^https:/i.test(url);
  const agent = isSecure && tlsCa ? await trustingAgent(tlsCa) : undefined;
  const length = String(Buffer.byteLength(body ?? ''));
  return open({
    url,
    method,
    guard: null,
    idleMs: limitMs,
    timeoutMs: totalMs,
    ...(agent && { agent }),
    ...(signal && { signal }),
    headers: [
      IDENTITY,
      ...Object.entries(headers),
      ...(method === 'GET' ? [] : [['Content-Length', length] as const]),
    ],
    ...(body !== undefined && { body }),
  });
}

/** The whole body. @throws if it is incomplete, encoded, too large or not JSON */
export async function readJson(answer: Answer, maxBytes = MAX_JSON_BYTES): Promise<unknown> {
  return JSON.parse(await readText(answer, maxBytes));
}

/** Whether a status is a success. */
export function isSuccess({ statusCode = 0 }: Answer): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Whether the response comes from gateway-sim. */
export function isEmulator({ headers }: Answer): boolean {
  return headers['x-gateway-sim'] !== undefined;
}
