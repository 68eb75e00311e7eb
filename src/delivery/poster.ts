import { readFileSync } from 'node:fs';
import * as http from 'node:http';
import { isIP } from 'node:net';
import type { AttemptFailure, ResponseFlaw } from '../contract/delivery.ts';
import { describeFailure } from '../contract/describe-delivery.ts';
import { headerIn } from '../contract/headers.ts';
import type { Visit } from '../contract/payment.ts';
import type { AttemptReport } from '../domain/delivery.ts';
import { VERSION } from '../system/package-info.ts';
import { type Egress, EgressError, endpointOf } from './egress.ts';
import { readLeniently } from './lenient-response.ts';
import {
  failureOf,
  failureOfStatus,
  type HttpResponse,
  IDENTITY,
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

/** One request to a receiver, other than its method and body. */
type ReceiverRequest = Omit<Outgoing, 'guard'> & Pick<PostRequest, 'name'>;

/** One POST to a receiver. */
export interface PostRequest extends Pick<Outgoing, 'url' | 'headers' | 'localOnly'> {
  timeoutMs: number;
  body: string;
  signal: AbortSignal;
  /** The receiver's own host name, in case the URL has another host. */
  name?: string | undefined;
  /** Default: POST. */
  method?: 'POST' | 'GET';
}

/** @param response null when there was none */
export function reportOf(
  { url, headers, body: requestBody }: Pick<PostRequest, 'url' | 'headers' | 'body'>,
  response: { status: number; headers: Outgoing['headers']; body?: Buffer; flaw?: ResponseFlaw } | null,
  failure: AttemptFailure | null,
  durationMs = 0,
): AttemptReport {
  const copied = (list: Outgoing['headers']) => list.map(([name, value]): [string, string] => [name, value]);
  return {
    durationMs,
    url,
    requestHeaders: copied(headers),
    requestBody,
    responseStatus: response?.status ?? null,
    responseHeaders: copied(response?.headers ?? []),
    responseBody: response?.body?.toString('utf8') ?? null,
    failure,
    ...(response?.flaw && { flaw: response.flaw }),
    fault: null,
  };
}

/** Which certificates of IPN receivers to trust. */
export interface ReceiverTrust {
  /** CA certificates (PEM) to trust in addition to Node's. */
  ca?: string | undefined;
  /** Whether to accept any certificate at loopback and private addresses. */
  insecure?: boolean;
}

/**
 * Sends IPNs as PHP's curl does, each over its own connection. Returns every failure as a result and never throws.
 */
export class Poster {
  readonly #egress: Egress;
  #keptBytes = 0;
  readonly #agent = new http.Agent();
  readonly #trust: ReceiverTrust;
  #secured: ReturnType<typeof secureAgents> | undefined;

  constructor(egress: Egress, trust: ReceiverTrust) {
    this.#egress = egress;
    this.#trust = trust;
  }

  /** Makes one attempt. Always resolves, no later than the request's timeout. */
  async post(request: PostRequest): Promise<AttemptReport> {
    const started = performance.now();
    let response: (HttpResponse & { flaw?: ResponseFlaw }) | null = null;
    let failure: AttemptFailure | null;
    const bytes: Buffer[] = [];
    let received = 0;
    const onBytes = (chunk: Buffer) => {
      if (received < KEPT_BODY_BYTES) bytes.push(chunk);
      received += chunk.length;
    };
    try {
      response = await this.#send({ method: 'POST', ...request, onBytes });
      if (response.status === 304) response.flaw = { code: 'not_modified' };
      failure = failureOfStatus(response.status);
    } catch (error) {
      failure = failureOf(error, request.url);
      response = readLeniently(Buffer.concat(bytes), error, failure) ?? null;
      if (response) failure = failureOfStatus(response.status);
    }
    const durationMs = Math.round((performance.now() - started) * 10) / 10;
    return reportOf(request, response, failure, durationMs);
  }

  /**
   * Opens an address as a browser would: one GET, whose redirect is not followed. Always resolves, no later than the
   * timeout.
   */
  async visit(url: string, timeoutMs: number, signal: AbortSignal): Promise<Visit> {
    const headers = [
      ['User-Agent', `gateway-sim/${VERSION}`],
      ['Accept', 'text/html,*/*;q=0.8'],
      IDENTITY,
      ['X-Gateway-Sim', '1'],
    ] as const;
    try {
      const response = await this.#send({ url, method: 'GET', headers, timeoutMs, signal });
      const location = headerIn(response.headers, 'location') ?? null;
      return { status: response.status, location, body: response.body.toString('utf8'), error: null };
    } catch (error) {
      const why = describeFailure(failureOf(error, url), { url });
      return { status: null, location: null, body: null, error: why };
    }
  }

  async #send(request: ReceiverRequest): Promise<HttpResponse> {
    const outgoing = { ...request, guard: this.#egress, asCurl: true };
    const response = await (new URL(request.url).protocol === 'https:'
      ? this.#sendSecured(outgoing, request.name)
      : this.#sendBy(this.#agent, outgoing));
    this.#keptBytes += response.body.length;
    return response;
  }

  #sendBy(agent: http.Agent, outgoing: Outgoing): Promise<HttpResponse> {
    const keepBytes = this.#keptBytes < KEPT_IN_TOTAL_BYTES ? KEPT_BODY_BYTES : KEPT_BODY_BYTES_LATER;
    return send({ ...outgoing, agent }, keepBytes);
  }

  async #sendSecured(outgoing: Outgoing, name: string | undefined): Promise<HttpResponse> {
    this.#secured ??= secureAgents(this.#trust);
    const { checking, insecure } = await this.#secured;
    const post = { ...outgoing, tls: await tlsFor(new URL(outgoing.url), name) };
    if (insecure) {
      try {
        return await this.#sendBy(insecure, { ...post, localOnly: true });
      } catch (error) {
        // The receiver is not local, so the usual guard and certificate checks apply.
        if (!(error instanceof EgressError)) throw error;
      }
    }
    return this.#sendBy(checking, post);
  }

  /** Closes the connections. */
  close(): void {
    this.#agent.destroy();
    void this.#secured?.then(({ checking, insecure }) => {
      checking.destroy();
      insecure?.destroy();
    });
  }
}

/**
 * The https agents: one that checks certificates and, if allowed, one that does not. Loads TLS for the first https
 * receiver: loading is slow, and few receivers on a developer's machine use https.
 */
async function secureAgents({ ca, insecure = false }: ReceiverTrust) {
  const [https, tls] = await Promise.all([import('node:https'), import('node:tls')]);
  // Created once, because there are many root certificates. A custom list replaces Node's, so it must include them.
  const context =
    ca === undefined
      ? undefined
      : tls.createSecureContext({ ca: [...tls.rootCertificates, ...extraCertificates(), ca] });
  return {
    checking: new https.Agent(context && { secureContext: context }),
    insecure: insecure ? new https.Agent({ rejectUnauthorized: false }) : undefined,
  };
}

/** The certificates that Node trusts in addition to its own list. */
function extraCertificates(): string[] {
  const path = process.env['NODE_EXTRA_CA_CERTS'];
  try {
    return path ? [readFileSync(path, 'utf8')] : [];
  } catch {
    // Node itself warns when it cannot read the file.
    return [];
  }
}

/** Checks that a certificate is for the receiver's own name or for the host that its name is mapped to. */
async function tlsFor(url: URL, name = url.hostname): Promise<NonNullable<Outgoing['tls']>> {
  const check = await identityCheck();
  if (name === url.hostname) return { checkServerIdentity: check };
  const { host } = endpointOf(url);
  return {
    ...(!isIP(name) && { servername: name }),
    checkServerIdentity: (_, certificate) => check(name, certificate) && check(host, certificate),
  };
}
