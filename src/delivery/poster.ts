import * as http from 'node:http';
import type { AttemptFailure } from '../contract/failure.ts';
import type { AttemptReport } from '../domain/delivery.ts';
import { type Egress, EgressError, endpointOf } from './egress.ts';
import { eitherName, type ReceiverTrust, type SecureAgents, secureAgents } from './receiver-trust.ts';
import {
  failureOf,
  failureOfStatus,
  type HttpResponse,
  identityCheck,
  type Outgoing,
  send,
} from './sender.ts';

/** Maximum stored bytes of a response body. */
const KEPT_BODY_BYTES = 64 * 1024;
/**
 * The lower maximum once `KEPT_IN_TOTAL_BYTES` is reached: a receiver with long responses must not fill memory and
 * disk.
 */
const KEPT_BODY_BYTES_LATER = 1024;
const KEPT_IN_TOTAL_BYTES = 64 * 2 ** 20;

/** One POST to a receiver. */
export interface PostRequest extends Pick<Outgoing, 'url' | 'headers'> {
  timeoutMs: number;
  body: string;
  signal: AbortSignal;
  /** The receiver's own host name, in case the URL has another host. */
  name?: string | undefined;
}

/** @param response null when there was none */
export function reportOf(
  { url, headers, body: requestBody }: PostRequest,
  response: { status: number; headers: [string, string][]; body?: Buffer } | null,
  failure: AttemptFailure | null,
  durationMs = 0,
): AttemptReport {
  return {
    durationMs,
    url,
    requestHeaders: headers.map(([name, value]) => [name, value]),
    requestBody,
    responseStatus: response?.status ?? null,
    responseHeaders: response?.headers ?? [],
    responseBody: response?.body?.toString('utf8') ?? null,
    failure,
    fault: null,
  };
}

/** Sends IPNs over keep-alive connections. Returns every failure as a result and never throws. */
export class Poster {
  readonly #egress: Egress;
  #keptBytes = 0;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #trust: ReceiverTrust;
  #secured: Promise<SecureAgents> | undefined;

  /** @param trust which certificates of receivers to trust */
  constructor(egress: Egress, trust: ReceiverTrust = {}) {
    this.#egress = egress;
    this.#trust = trust;
  }

  /** Makes one attempt. Always resolves, no later than the request's timeout. */
  async post(request: PostRequest): Promise<AttemptReport> {
    const started = performance.now();
    let response: HttpResponse | null = null;
    let failure: AttemptFailure | null;
    try {
      response = await this.#send(request);
      failure = failureOfStatus(response.status);
    } catch (error) {
      failure = failureOf(error, request.url);
    }
    const durationMs = Math.round((performance.now() - started) * 10) / 10;
    return reportOf(request, response, failure, durationMs);
  }

  async #send(request: PostRequest): Promise<HttpResponse> {
    const url = new URL(request.url);
    const post = { ...request, method: 'POST', guard: this.#egress };
    const response = await (url.protocol === 'https:'
      ? this.#sendSecured(post, url)
      : this.#sendBy(this.#agent, post, url));
    this.#keptBytes += response.body.length;
    return response;
  }

  #sendBy(agent: http.Agent, post: Outgoing, url: URL): Promise<HttpResponse> {
    const keepBytes = this.#keptBytes < KEPT_IN_TOTAL_BYTES ? KEPT_BODY_BYTES : KEPT_BODY_BYTES_LATER;
    return send({ ...post, agent }, keepBytes, url);
  }

  async #sendSecured(
    { name, ...rest }: Outgoing & Pick<PostRequest, 'name'>,
    url: URL,
  ): Promise<HttpResponse> {
    this.#secured ??= secureAgents(this.#trust);
    const { checking, insecure } = await this.#secured;
    const { host } = endpointOf(url);
    const isMapped = name !== undefined && name !== url.hostname;
    const tls = isMapped ? await eitherName(name, host) : { checkServerIdentity: await identityCheck() };
    const post = { ...rest, tls };
    if (insecure && this.#egress.mayBeLocal(url)) {
      const guard = { admit: () => this.#egress.admit(url, { localOnly: true }) };
      try {
        return await this.#sendBy(insecure, { ...post, guard }, url);
      } catch (error) {
        // The receiver is not local, so the usual guard and certificate checks apply.
        if (!(error instanceof EgressError)) throw error;
      }
    }
    return this.#sendBy(checking, post, url);
  }

  /** Closes the keep-alive connections. */
  close(): void {
    this.#agent.destroy();
    void this.#secured?.then(({ checking, insecure }) => {
      checking.destroy();
      insecure?.destroy();
    });
  }
}
