import type { IncomingMessage } from 'node:http';
import { IDENTITY, open, readText } from '../delivery/sender.ts';
import { trustingAgent } from './trust.ts';

export interface RequestOptions {
  method?: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  /** The certificates that are trusted, where it speaks https; default: the usual ones. */
  tlsCa?: string | null | undefined;
  /** In milliseconds of real time, without a byte; default: `LIMIT_MS`. */
  limitMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** For the whole exchange, however much comes meanwhile; default: no limit. */
  totalMs?: number | undefined;
}

/** An answer whose body is still to be read, or to be destroyed. */
export type Answer = IncomingMessage;

/** What an emulator takes to answer what is in its memory is far below this (chosen). */
export const LIMIT_MS = 30_000;
/** No list of an emulator is as large (chosen). */
const MAX_JSON_BYTES = 64 * 2 ** 20;
/** Of a whole state: no longer text fits into one of Node. */
export const MAX_STATE_BYTES = 2 ** 29 - 24;

/**
 * Sends a request to the emulator that the user means. Redirects are not followed: none of its routes for programs
 * answers with one.
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

/** The whole body. @throws when it breaks off, is encoded, too large or no JSON */
export async function readJson(answer: Answer, maxBytes = MAX_JSON_BYTES): Promise<unknown> {
  return JSON.parse(await readText(answer, maxBytes));
}

/** Whether a status is a success. */
export function isSuccess({ statusCode = 0 }: Answer): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Whether what answered is a gateway-sim. */
export function isEmulator({ headers }: Answer): boolean {
  return headers['x-gateway-sim'] !== undefined;
}
