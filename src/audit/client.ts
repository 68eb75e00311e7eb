import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Agent } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeFailure } from '../contract/describe-delivery.ts';
import type { AttemptFailure } from '../contract/failure.ts';
import { type Egress, EgressError, endpointOf } from '../delivery/egress.ts';
import { failureOf, headerPairs, IDENTITY, MAX_RESPONSE_BYTES, open, readBody } from '../delivery/sender.ts';
import { VERSION } from '../system/package-info.ts';

/** How a body is sent: whole with its length, in chunks, slowly, cut off, or without waiting for the response. */
type Manner = 'whole' | 'chunked' | 'slow' | 'truncated' | 'disconnected';

/** A request to the shop. */
export interface ProbeRequest {
  method?: string;
  url: string;
  /** In addition to the headers that a gateway sends. */
  headers?: readonly (readonly [string, string])[];
  contentType?: string;
  body?: string | Buffer;
  manner?: Manner;
  /** Omits the header that identifies an emulator: a server that echoes headers would look like one. */
  unmarked?: boolean;
}

/** The shop's response. */
export interface Observation {
  /** Null if there was no response. */
  status: number | null;
  headers: readonly (readonly [string, string])[];
  /** The first 256 KiB, never decoded. */
  body: string;
  /** Why there was no complete response. */
  failure: AttemptFailure | null;
  /** The failure as text. */
  error: string | null;
  durationMs: number;
}

interface ClientOptions {
  /** For https with additional trusted certificates. */
  agent?: Agent | undefined;
  /** The fix for an untrusted certificate, if it differs from the fix for `start`. */
  trustBy?: string | undefined;
  /** Aborts running requests. */
  cancelled?: AbortSignal | undefined;
}

export const FORM = 'application/x-www-form-urlencoded';
const DROPS = 5;
const DROP_EVERY_MS = 150;
/** Time for the shop to start processing before the sender disconnects. */
const LEAVE_AFTER_MS = 100;

/** Sends requests unchanged, each on its own connection, and reports the responses. */
export class AuditClient {
  readonly #egress: Egress;
  readonly #timeoutMs: number;
  readonly #options: ClientOptions;

  constructor(egress: Egress, timeoutMs: number, options: ClientOptions = {}) {
    this.#egress = egress;
    this.#timeoutMs = timeoutMs;
    this.#options = options;
  }

  send(sent: ProbeRequest): Promise<Observation> {
    return this.#send(sent, Promise.resolve());
  }

  /** Whether no server listens at an address. */
  async isDown(url: string): Promise<boolean> {
    const { host, port } = endpointOf(new URL(url));
    const socket = connect({ host, port: Number(port), lookup: this.#egress.admit(new URL(url)) });
    try {
      await once(socket, 'connect');
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
    } finally {
      socket.destroy();
    }
  }

  /** Sends all requests without their last bytes, then the last bytes together. */
  async sendTogether(requests: readonly ProbeRequest[]): Promise<Observation[]> {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let waiting = requests.length;
    const arrival = () => {
      let isIn = false;
      return () => {
        if (isIn) return;
        isIn = true;
        waiting--;
        if (waiting === 0) release();
      };
    };
    return Promise.all(requests.map((sent) => this.#send(sent, gate, arrival())));
  }

  /** @throws GatewayError `forbidden` for an address that the egress rules do not allow */
  async #send(sent: ProbeRequest, gate: Promise<void>, arrived?: () => void): Promise<Observation> {
    const { url, method = sent.body === undefined ? 'GET' : 'POST' } = sent;
    const began = performance.now();
    const observed = (seen: Partial<Observation>): Observation => ({
      status: null,
      headers: [],
      body: '',
      failure: null,
      error: null,
      ...seen,
      durationMs: Math.round(performance.now() - began),
    });
    const { agent, trustBy, cancelled } = this.#options;
    const failed = (error: unknown) => {
      const failure = failureOf(error, url);
      return { failure, error: describeFailure(failure, { url }, trustBy) };
    };
    try {
      const answer = await open({
        url,
        method,
        headers: headersOf(sent),
        guard: this.#egress,
        timeoutMs: this.#timeoutMs,
        agent: (/^https:/i.test(url) && agent) || false,
        ...(cancelled && { signal: cancelled }),
        body: (request) => write(request, sent, gate, arrived),
      });
      const { body, error } = await readBody(answer, MAX_RESPONSE_BYTES);
      return observed({
        status: answer.statusCode ?? 0,
        headers: headerPairs(answer.rawHeaders),
        body: body.toString('utf8'),
        ...(error && failed(error)),
      });
    } catch (error) {
      if (error instanceof EgressError) throw error;
      return observed(failed(error));
    } finally {
      arrived?.();
    }
  }
}

/** The lines above the body, in this order. */
export function headersOf({
  url,
  headers = [],
  contentType = FORM,
  body,
  manner,
  unmarked = false,
}: ProbeRequest): [string, string][] {
  const framing: [string, string] =
    manner === 'chunked'
      ? ['Transfer-Encoding', 'chunked']
      : ['Content-Length', String(Buffer.byteLength(body ?? ''))];
  return [
    ['Host', new URL(url).host],
    ['User-Agent', `gateway-sim/${VERSION}`],
    ...(unmarked ? [] : [['X-Gateway-Sim', '1'] as [string, string]]),
    ['Connection', 'close'],
    [...IDENTITY],
    ...(body === undefined ? [] : [['Content-Type', contentType] as [string, string], framing]),
    ...headers.map(([name, value]): [string, string] => [name, value]),
  ];
}

async function write(
  request: ClientRequest,
  { body, manner = 'whole' }: ProbeRequest,
  gate: Promise<void>,
  arrived?: () => void,
): Promise<void> {
  const bytes = Buffer.from(body ?? '');
  const half = Math.ceil(bytes.length / 2);
  switch (manner) {
    case 'whole': {
      const last = Math.max(bytes.length - 1, 0);
      if (arrived && last > 0) {
        await new Promise((resolve) => request.write(bytes.subarray(0, last), resolve));
        arrived();
        await gate;
        request.end(bytes.subarray(last));
      } else {
        arrived?.();
        await gate;
        request.end(bytes);
      }
      return;
    }
    case 'chunked':
      request.write(bytes.subarray(0, half));
      request.end(bytes.subarray(half));
      return;
    case 'slow':
      for (let drop = 0; drop < DROPS && !request.destroyed; drop++) {
        const size = Math.ceil(bytes.length / DROPS);
        request.write(bytes.subarray(drop * size, (drop + 1) * size));
        await sleep(DROP_EVERY_MS);
      }
      request.end();
      return;
    case 'truncated':
      await new Promise((resolve) => request.write(bytes.subarray(0, half), resolve));
      await sleep(LEAVE_AFTER_MS);
      request.destroy();
      return;
    case 'disconnected':
      await new Promise<void>((resolve) => request.end(bytes, resolve));
      await sleep(LEAVE_AFTER_MS);
      request.destroy();
  }
}
