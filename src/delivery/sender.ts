import * as http from 'node:http';
import * as https from 'node:https';
import { GatewayError } from '../contract/error.ts';
import type { AttemptReport } from '../domain/ipn.ts';
import type { Egress } from './egress.ts';

/** So much of an answer's body is kept, */
const KEPT_BODY_BYTES = 64 * 1024;
/** and only so much once one process has kept this in all: a talkative receiver must not fill memory and disk. */
const KEPT_BODY_BYTES_LATER = 1024;
const KEPT_IN_ALL_BYTES = 64 * 2 ** 20;

/** One POST to a receiver. */
export interface PostRequest {
  url: string;
  headers: readonly (readonly [string, string])[];
  body: string;
  /** Real time for everything: resolving, connecting, sending, the whole answer. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** What came of it. `refused`: the egress guard did not let it out, and trying again would change nothing. */
export interface PostResult {
  report: AttemptReport;
  refused: boolean;
}

interface Answer {
  status: number;
  headers: [string, string][];
  body: string;
}

/** Sends IPNs over kept-alive connections. Every failure is a result, none is thrown. */
export class Poster {
  readonly #egress: Egress;
  #keptBytes = 0;
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true }),
    'https:': new https.Agent({ keepAlive: true }),
  };

  constructor(egress: Egress) {
    this.#egress = egress;
  }

  /** Makes one attempt. Resolves in every case, at the latest after the request's time-out. */
  async post(request: PostRequest): Promise<PostResult> {
    const started = performance.now();
    const sent = {
      url: request.url,
      requestHeaders: request.headers.map(([name, value]): [string, string] => [name, value]),
    };
    const finish = (answer: Answer | null, error: string | null): AttemptReport => ({
      ...sent,
      requestBody: request.body,
      durationMs: Math.round((performance.now() - started) * 10) / 10,
      responseStatus: answer?.status ?? null,
      responseHeaders: answer?.headers ?? [],
      responseBody: answer?.body ?? null,
      error,
    });
    try {
      const answer = await this.#send(request, started + request.timeoutMs);
      return { report: finish(answer, answerProblem(answer)), refused: false };
    } catch (error) {
      return { report: finish(null, inWords(error, request)), refused: error instanceof GatewayError };
    }
  }

  /** @param deadline when the time-out is over, on the clock of `performance.now()`: the same for a second try */
  async #send(request: PostRequest, deadline: number, isRetry = false): Promise<Answer> {
    if (request.signal.aborted) throw stopping();
    const url = new URL(request.url);
    this.#egress.check(url);
    const secure = url.protocol === 'https:';
    const outgoing = (secure ? https : http).request(url, {
      method: 'POST',
      agent: this.#agents[secure ? 'https:' : 'http:'],
      headers: Object.fromEntries(request.headers),
      lookup: this.#egress.lookup(Number(url.port || (secure ? 443 : 80))),
    });
    const abort = () => outgoing.destroy(stopping());
    const timer = setTimeout(
      () => outgoing.destroy(new TimeOut()),
      Math.max(deadline - performance.now(), 0),
    );
    request.signal.addEventListener('abort', abort, { once: true });
    try {
      const limit = this.#keptBytes < KEPT_IN_ALL_BYTES ? KEPT_BODY_BYTES : KEPT_BODY_BYTES_LATER;
      const answer = await answerOf(outgoing, request.body, limit);
      this.#keptBytes += answer.body.length;
      return answer;
    } catch (error) {
      // The receiver closed a kept-alive connection just as it was used again: that is no attempt yet.
      const stale = outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
      if (stale && !isRetry) return await this.#send(request, deadline, true);
      throw error;
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', abort);
    }
  }

  /** Closes the kept-alive connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}

class TimeOut extends Error {}

function stopping(): Error {
  return new Error('the emulator is stopping');
}

function closedEarly(): Error {
  return Object.assign(new Error('closed before the end of the answer'), { code: 'ECONNRESET' });
}

function answerOf(outgoing: http.ClientRequest, body: string, limit: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    // Nobody asked to switch protocols: an answer like any other, and no connection to keep.
    outgoing.on('upgrade', ({ statusCode = 0, rawHeaders }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, headers: pairs(rawHeaders), body: '' });
    });
    // Whatever else ends without an answer or an error: nobody must wait for ever.
    let answered = false;
    outgoing.on('close', () => {
      if (!answered) reject(closedEarly());
    });
    outgoing.on('response', (incoming) => {
      answered = true;
      incoming.on('close', () => reject(closedEarly()));
      const chunks: Buffer[] = [];
      let kept = 0;
      incoming.on('data', (chunk: Buffer) => {
        if (kept < limit) chunks.push(chunk);
        kept += chunk.length;
      });
      incoming.on('error', reject);
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks).subarray(0, limit);
        resolve({
          status: incoming.statusCode ?? 0,
          headers: pairs(incoming.rawHeaders),
          body: bytes.toString('utf8'),
        });
      });
    });
    outgoing.end(body);
  });
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    list.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  }
  return list;
}

function answerProblem({ status, headers }: Answer): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) {
    const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
    return `the receiver answered ${status}${location ? ` to ${location}` : ''}: redirects are not followed, give the final address as ipn_url`;
  }
  return `the receiver answered ${status}: only 2xx counts as received`;
}

function inWords(error: unknown, request: PostRequest): string {
  if (!URL.canParse(request.url)) return `"${request.url}" is no address`;
  const { host, hostname } = new URL(request.url);
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof TimeOut) return `no complete answer from ${host} within ${request.timeoutMs / 1000} s`;
  if (error instanceof AggregateError) return inWords(error.errors[0], request);
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
      return `the certificate of ${host} is not trusted: start gateway-sim with NODE_EXTRA_CA_CERTS naming your CA`;
    default:
      return message;
  }
}
