import * as http from 'node:http';
import type * as https from 'node:https';
import { GatewayError } from '../contract/error.ts';
import type { AttemptReport } from '../domain/retry.ts';
import { type Egress, endpointOf } from './egress.ts';
import { type Answer, describeAnswer, describeFailure, type Outgoing, send } from './sender.ts';

/** This much of an answer's body is kept, */
const KEPT_BODY_BYTES = 64 * 1024;
/** and only this much once one process has kept this in all: a talkative receiver must not fill memory and disk. */
const KEPT_BODY_BYTES_LATER = 1024;
const KEPT_IN_ALL_BYTES = 64 * 2 ** 20;

/** One POST to a receiver. */
export interface PostRequest extends Pick<Outgoing, 'url' | 'headers' | 'timeoutMs'> {
  body: string;
  signal: AbortSignal;
}

/** What came of it. `refused`: the egress guard did not allow it, and a retry would change nothing. */
export interface PostResult {
  report: AttemptReport;
  refused: boolean;
}

/** @param answer null when there was none */
export function reportOf(
  { url, headers, body: requestBody }: PostRequest,
  answer: { status: number; headers: [string, string][]; body?: Buffer } | null,
  error: string | null,
  durationMs = 0,
): AttemptReport {
  return {
    url,
    requestHeaders: headers.map(([name, value]) => [name, value]),
    requestBody,
    durationMs,
    responseStatus: answer?.status ?? null,
    responseHeaders: answer?.headers ?? [],
    responseBody: answer?.body?.toString('utf8') ?? null,
    error,
  };
}

/** Sends IPNs over kept-alive connections. Every failure is a result, none is thrown. */
export class Poster {
  readonly #egress: Egress;
  #keptBytes = 0;
  readonly #agent = new http.Agent({ keepAlive: true });
  #secureAgent: https.Agent | undefined;

  constructor(egress: Egress) {
    this.#egress = egress;
  }

  /** Makes one attempt. Resolves in every case, at the latest after the request's time-out. */
  async post(request: PostRequest): Promise<PostResult> {
    const started = performance.now();
    let answer: Answer | null = null;
    let error: string | null;
    let refused = false;
    try {
      answer = await this.#send(request);
      error = describeAnswer(answer.status, answer.headers);
    } catch (thrown) {
      error = describeFailure(thrown, request.url, request.timeoutMs);
      refused = thrown instanceof GatewayError;
    }
    const durationMs = Math.round((performance.now() - started) * 10) / 10;
    return { report: reportOf(request, answer, error, durationMs), refused };
  }

  async #send(request: PostRequest): Promise<Answer> {
    request.signal.throwIfAborted();
    const url = new URL(request.url);
    this.#egress.check(url);
    const keepBytes = this.#keptBytes < KEPT_IN_ALL_BYTES ? KEPT_BODY_BYTES : KEPT_BODY_BYTES_LATER;
    const agent = url.protocol === 'https:' ? await this.#secured() : this.#agent;
    const lookup = this.#egress.lookup(endpointOf(url).port);
    const answer = await send({ ...request, method: 'POST', agent, lookup, keepBytes }, url);
    this.#keptBytes += answer.body.length;
    return answer;
  }

  /** Made when it is first needed: few receivers on a developer's machine speak TLS, and it takes long to load. */
  async #secured(): Promise<https.Agent> {
    const { Agent } = await import('node:https');
    this.#secureAgent ??= new Agent({ keepAlive: true });
    return this.#secureAgent;
  }

  /** Closes the kept-alive connections. */
  close(): void {
    this.#agent.destroy();
    this.#secureAgent?.destroy();
  }
}
