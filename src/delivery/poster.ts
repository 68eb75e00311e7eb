import * as http from 'node:http';
import type { AttemptFailure } from '../contract/failure.ts';
import type { AttemptReport } from '../domain/retry.ts';
import { type Egress, EgressError, endpointOf } from './egress.ts';
import { type ReceiverTrust, reachedAs, type SecureAgents, secureAgents } from './receiver-trust.ts';
import { type Answer, failureOf, failureOfAnswer, type Outgoing, send } from './sender.ts';

/** This much of an answer's body is kept, */
const KEPT_BODY_BYTES = 64 * 1024;
/** and only this much once one process has kept this in all: a talkative receiver must not fill memory and disk. */
const KEPT_BODY_BYTES_LATER = 1024;
const KEPT_IN_ALL_BYTES = 64 * 2 ** 20;

/** One POST to a receiver. */
export interface PostRequest extends Pick<Outgoing, 'url' | 'headers'> {
  timeoutMs: number;
  body: string;
  signal: AbortSignal;
  /** The receiver's own host name, where it may be reached elsewhere. */
  name?: string | undefined;
}

/** @param answer null when there was none */
export function reportOf(
  { url, headers, body: requestBody }: PostRequest,
  answer: { status: number; headers: [string, string][]; body?: Buffer } | null,
  failure: AttemptFailure | null,
  durationMs = 0,
): AttemptReport {
  return {
    durationMs,
    url,
    requestHeaders: headers.map(([name, value]) => [name, value]),
    requestBody,
    responseStatus: answer?.status ?? null,
    responseHeaders: answer?.headers ?? [],
    responseBody: answer?.body?.toString('utf8') ?? null,
    failure,
    fault: null,
  };
}

/** Sends IPNs over kept-alive connections. Every failure is a result, none is thrown. */
export class Poster {
  readonly #egress: Egress;
  #keptBytes = 0;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #trust: ReceiverTrust;
  #secured: Promise<SecureAgents> | undefined;

  /** @param trust whom to believe among receivers that speak https */
  constructor(egress: Egress, trust: ReceiverTrust = {}) {
    this.#egress = egress;
    this.#trust = trust;
  }

  /** Makes one attempt. Resolves in every case, at the latest after the request's time-out. */
  async post(request: PostRequest): Promise<AttemptReport> {
    const started = performance.now();
    let answer: Answer | null = null;
    let failure: AttemptFailure | null;
    try {
      answer = await this.#send(request);
      failure = failureOfAnswer(answer.status);
    } catch (error) {
      failure = failureOf(error, request.url);
    }
    const durationMs = Math.round((performance.now() - started) * 10) / 10;
    return reportOf(request, answer, failure, durationMs);
  }

  async #send(request: PostRequest): Promise<Answer> {
    const url = new URL(request.url);
    const post = { ...request, method: 'POST', guard: this.#egress };
    const answer = await (url.protocol === 'https:'
      ? this.#sendSecured(post, url)
      : this.#sendBy(this.#agent, post, url));
    this.#keptBytes += answer.body.length;
    return answer;
  }

  #sendBy(agent: http.Agent, post: Outgoing, url: URL): Promise<Answer> {
    const keepBytes = this.#keptBytes < KEPT_IN_ALL_BYTES ? KEPT_BODY_BYTES : KEPT_BODY_BYTES_LATER;
    return send({ ...post, agent }, keepBytes, url);
  }

  async #sendSecured({ name, ...rest }: Outgoing & Pick<PostRequest, 'name'>, url: URL): Promise<Answer> {
    this.#secured ??= secureAgents(this.#trust);
    const { checking, insecure } = await this.#secured;
    const { host } = endpointOf(url);
    const post =
      name === undefined || name === url.hostname ? rest : { ...rest, tls: await reachedAs(name, host) };
    if (insecure && this.#egress.mayBeLocal(url)) {
      const guard = { admit: () => this.#egress.admit(url, { localOnly: true }) };
      try {
        return await this.#sendBy(insecure, { ...post, guard }, url);
      } catch (error) {
        // It is not local: whether it may be reached, and who it is, is checked as always.
        if (!(error instanceof EgressError)) throw error;
      }
    }
    return this.#sendBy(checking, post, url);
  }

  /** Closes the kept-alive connections. */
  close(): void {
    this.#agent.destroy();
    void this.#secured?.then(({ checking, insecure }) => {
      checking.destroy();
      insecure?.destroy();
    });
  }
}
