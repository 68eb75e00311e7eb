import { once } from 'node:events';
import * as http from 'node:http';
import type { Agent } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Egress, endpointOf } from '../delivery/egress.ts';
import { describeFailure, headerPairs } from '../delivery/sender.ts';
import { VERSION } from '../system/package-info.ts';

/** How a body goes out: whole with its length, in chunks, in drops, or not to its end. */
type Manner = 'whole' | 'chunked' | 'slow' | 'truncated' | 'left';

/** A request to the shop. */
export interface Shot {
  method?: string;
  url: string;
  /** More of them, beside those that a gateway sends. */
  headers?: readonly (readonly [string, string])[];
  contentType?: string;
  body?: string | Buffer;
  manner?: Manner;
}

/** What the shop did with it. */
export interface Observation {
  /** null when there was no answer. */
  status: number | null;
  headers: readonly (readonly [string, string])[];
  /** The first 256 KiB. */
  body: string;
  /** Why there was no answer. */
  error: string | null;
  durationMs: number;
}

interface ClientOptions {
  /** For https, where certificates are trusted that others would not be. */
  agent?: Agent | undefined;
  /** What to do about a certificate that is not, where it is not what `start` needs. */
  trustBy?: string | undefined;
  /** Ends what is under way. */
  cancelled?: AbortSignal | undefined;
}

const KEPT_BYTES = 256 * 1024;
export const FORM = 'application/x-www-form-urlencoded';
const DROPS = 5;
const DROP_EVERY_MS = 150;
/** A sender that goes away gives the shop this long to begin. */
const LEAVE_AFTER_MS = 100;

/** Sends requests as they are, each over a connection of its own, and tells what came of them. */
export class AuditClient {
  readonly #egress: Egress;
  readonly #timeoutMs: number;
  readonly #options: ClientOptions;

  constructor(egress: Egress, timeoutMs: number, options: ClientOptions = {}) {
    this.#egress = egress;
    this.#timeoutMs = timeoutMs;
    this.#options = options;
  }

  send(shot: Shot): Promise<Observation> {
    return this.#send(shot, Promise.resolve());
  }

  /** Whether nothing listens there any more. */
  async isDown(url: string): Promise<boolean> {
    const { host, port } = endpointOf(new URL(url));
    const socket = connect({ host, port: Number(port), lookup: this.#egress.lookup(port) });
    try {
      await once(socket, 'connect');
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
    } finally {
      socket.destroy();
    }
  }

  /** Sends all of them so that each lacks its last byte only, and then that byte of all in one go. */
  async sendTogether(shots: readonly Shot[]): Promise<Observation[]> {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let waiting = shots.length;
    const arrival = () => {
      let isIn = false;
      return () => {
        if (isIn) return;
        isIn = true;
        waiting--;
        if (waiting === 0) open();
      };
    };
    return Promise.all(shots.map((shot) => this.#send(shot, gate, arrival())));
  }

  /** @throws GatewayError `forbidden` for an address that the egress rules do not let it reach */
  #send(shot: Shot, gate: Promise<void>, arrived?: () => void): Promise<Observation> {
    const address = new URL(shot.url);
    this.#egress.check(address);
    const began = performance.now();
    const seen: Pick<Observation, 'status' | 'headers' | 'body'> = { status: null, headers: [], body: '' };
    return new Promise((resolve) => {
      const finish = (error: string | null) =>
        resolve({ ...seen, error, durationMs: Math.round(performance.now() - began) });
      const onError = (error: unknown) => {
        arrived?.();
        finish(describeFailure(error, shot.url, this.#timeoutMs, this.#options.trustBy));
      };
      void this.#open(shot, address)
        .then((request) => {
          const timer = setTimeout(
            () => request.destroy(new Error(`no complete answer within ${this.#timeoutMs / 1_000} s`)),
            this.#timeoutMs,
          );
          request.on('close', () => {
            clearTimeout(timer);
            finish('the connection was closed without an answer');
          });
          request.on('error', onError);
          request.on('response', (answer) => readAnswer(answer, seen, finish));
          return write(request, shot, gate, arrived);
        })
        .catch(onError);
    });
  }

  async #open(shot: Shot, address: URL): Promise<http.ClientRequest> {
    const isSecure = address.protocol === 'https:';
    const client = isSecure ? await import('node:https') : http;
    const { agent, cancelled } = this.#options;
    const { method = shot.body === undefined ? 'GET' : 'POST' } = shot;
    return client.request(address, {
      method,
      headers: headersOf(shot).flat(),
      agent: (isSecure && agent) || false,
      ...(cancelled && { signal: cancelled }),
      lookup: this.#egress.lookup(endpointOf(address).port),
    });
  }
}

function headersOf({ url, headers = [], contentType = FORM, body, manner }: Shot): [string, string][] {
  const framing: [string, string] =
    manner === 'chunked'
      ? ['Transfer-Encoding', 'chunked']
      : ['Content-Length', String(Buffer.byteLength(body ?? ''))];
  return [
    ['Host', new URL(url).host],
    ['User-Agent', `gateway-sim/${VERSION}`],
    ['X-Gateway-Sim', '1'],
    ['Connection', 'close'],
    ...(body === undefined ? [] : [['Content-Type', contentType] as [string, string], framing]),
    ...headers.map(([name, value]): [string, string] => [name, value]),
  ];
}

async function write(
  request: http.ClientRequest,
  { body, manner = 'whole' }: Shot,
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
    case 'left':
      request.end(bytes);
      await sleep(LEAVE_AFTER_MS);
      request.destroy();
  }
}

function readAnswer(
  answer: http.IncomingMessage,
  seen: { status: number | null; headers: Observation['headers']; body: string },
  finish: (error: string | null) => void,
): void {
  seen.status = answer.statusCode ?? 0;
  seen.headers = headerPairs(answer.rawHeaders);
  const chunks: Buffer[] = [];
  let kept = 0;
  const end = () => {
    seen.body = Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString('utf8');
    finish(null);
  };
  answer.on('data', (chunk: Buffer) => {
    if (kept < KEPT_BYTES) chunks.push(chunk);
    kept += chunk.length;
  });
  answer.on('end', end);
  answer.on('close', end);
  answer.on('error', end);
}
