import * as http from 'node:http';
import { trustingAgent } from './trust.ts';

/*
 * Node's own client instead of fetch: a command asks one question, and the parts of fetch take as long to load as all
 * the rest of the command.
 */

export interface RequestOptions {
  method?: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  /** The certificates that are trusted, where it speaks https; default: the usual ones. */
  caFile?: string | undefined;
  /** For the answer to begin, in milliseconds of real time; default: no limit. */
  limitMs?: number;
}

/** An answer whose body is still to be read, or to be destroyed. */
export type Answer = http.IncomingMessage;

/** What did not answer in time is there, and silent. */
export class SilentServer extends Error {}

/**
 * Sends a request to an emulator. Redirects are not followed: none of its routes for programs answers with one.
 *
 * @throws SilentServer, or the error of the connection
 */
export async function request(url: string, options: RequestOptions = {}): Promise<Answer> {
  if (!url.toLowerCase().startsWith('https:')) return answerTo(http.request, url, options);
  const { request: send } = await import('node:https');
  const agent = options.caFile === undefined ? undefined : await trustingAgent(options.caFile);
  return answerTo((address, more) => send(address, { ...more, ...(agent && { agent }) }), url, options);
}

function answerTo(
  send: (url: string, options: http.RequestOptions) => http.ClientRequest,
  url: string,
  options: RequestOptions,
  isRetry = false,
): Promise<Answer> {
  const { method = 'GET', headers = {}, body, limitMs } = options;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const sent = send(url, { method, headers: { ...headers, ...length } });
    const silence = limitMs && setTimeout(() => sent.destroy(new SilentServer()), limitMs);
    sent.on('response', resolve);
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed a kept-alive connection just as it was used again.
      const isStale = sent.reusedSocket && error.code === 'ECONNRESET' && !isRetry;
      resolve(isStale ? answerTo(send, url, options, true) : Promise.reject(error));
    });
    sent.on('close', () => {
      clearTimeout(silence);
      reject(new Error('closed before the answer'));
    });
    sent.end(body);
  });
}

/** The whole body. @throws when it breaks off */
export async function readText(answer: Answer): Promise<string> {
  let text = '';
  for await (const part of answer.setEncoding('utf8')) text += part;
  return text;
}

/** The whole body. @throws when it breaks off or is no JSON */
export async function readJson(answer: Answer): Promise<unknown> {
  return JSON.parse(await readText(answer));
}

/** Whether a status is a success. */
export function isSuccess({ statusCode = 0 }: Answer): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Whether what answered is a gateway-sim. */
export function isEmulator({ headers }: Answer): boolean {
  return headers['x-gateway-sim'] !== undefined;
}
