import * as http from 'node:http';
import * as https from 'node:https';
import { GatewayError } from '../contract/error.ts';

/** No receiver's answer is read further than this. */
const KEPT_BYTES = 2 ** 20;

/** A request to a receiver, byte for byte. */
export interface Outgoing {
  url: string;
  method: string;
  headers: readonly (readonly [string, string])[];
  body: Buffer;
  /** Real time for the whole answer, in milliseconds. */
  timeoutMs: number;
}

/** What a receiver answered. */
export interface Answer {
  status: number;
  headers: [string, string][];
  body: Buffer;
}

/**
 * Sends one request as it is: no header is added but what the protocol needs, no redirect is followed.
 *
 * @throws GatewayError `timed_out` or `check_failed`, saying in words why there is no answer
 */
export function send({ url, method, headers, body, timeoutMs }: Outgoing): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { protocol, host } = new URL(url);
    const request = (protocol === 'https:' ? https : http).request(url, {
      method,
      headers: headers.flat(),
      agent: false,
    });
    const late = new GatewayError(
      'timed_out',
      `no complete answer from ${host} within ${timeoutMs / 1_000} s`,
    );
    const timer = setTimeout(() => request.destroy(late), timeoutMs);
    const fail = (error: NodeJS.ErrnoException) =>
      reject(error instanceof GatewayError ? error : new GatewayError('check_failed', inWords(error, host)));
    request.on('error', fail);
    request.on('close', () => clearTimeout(timer));
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        if (size < KEPT_BYTES) chunks.push(chunk);
        size += chunk.length;
      });
      response.on('error', fail);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: headerPairs(response.rawHeaders),
          body: Buffer.concat(chunks).subarray(0, KEPT_BYTES),
        }),
      );
    });
    request.end(body);
  });
}

/** Node's flat list of header names and values as pairs. */
export function headerPairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] => (index % 2 ? [] : [[name, raw[index + 1] ?? '']]));
}

function inWords(error: NodeJS.ErrnoException, host: string): string {
  if (error instanceof AggregateError) return inWords(error.errors[0] as NodeJS.ErrnoException, host);
  switch (error.code) {
    case 'ECONNREFUSED':
      return `connection refused: nothing listens at ${host}`;
    case 'ECONNRESET':
      return `${host} closed the connection without an answer`;
    case 'ENOTFOUND':
      return `the name of ${host} cannot be resolved`;
    default:
      return error.message;
  }
}
