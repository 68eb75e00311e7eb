import type { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditClient, type Observation, type Shot } from '../audit/client.ts';
import { bareHost, isLoopback } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { Egress } from '../delivery/egress.ts';

/** Where a manifest is held against, and with what. */
export interface TargetOptions {
  url: string;
  publicKey: string;
  secretKey: string;
  /** Whether live mode may be used where the target is no emulator of this machine. */
  live: boolean;
  /** Opens the control API of an emulator that asks for it. */
  controlToken?: string | undefined;
  /** Trusts its certificate, where that is one of an emulator's own. */
  agent?: Agent | undefined;
}

/** Milliseconds between two requests to somebody else's server: five a second. */
const PAUSE_MS = 200;
const TIMEOUT_MS = 15_000;

/** A deployment that requests are sent to, one connection each, and no faster than its owner may like. */
export class Target {
  readonly options: TargetOptions;
  /** It is on this machine, and so taken for an emulator: all may be tried, without pauses. */
  readonly isLocal: boolean;
  /** Its control API answers: payments can be settled and cards charged by it. */
  hasControl = false;
  /** What passes its sandbox checkout. */
  sandbox = { email: 'test_mode@mail.com', code: '222666' };
  readonly #base: string;
  readonly #client: AuditClient;
  #next = 0;

  constructor(options: TargetOptions) {
    this.options = options;
    const { hostname } = new URL(options.url);
    this.isLocal = isLoopback(hostname);
    this.#base = options.url.replace(/\/+$/, '');
    this.#client = new AuditClient(
      new Egress([bareHost(hostname)], () => undefined),
      TIMEOUT_MS,
      options.agent,
    );
  }

  /** @throws GatewayError `no_server` when there is no answer */
  async send(path: string, shot: Omit<Shot, 'url'>): Promise<Observation & { status: number }> {
    if (!this.isLocal) await this.#turn();
    const seen = await this.#client.send({ ...shot, url: this.#base + path });
    const { status } = seen;
    if (status !== null) return { ...seen, status };
    throw unreachable(this.options.url, seen.error ?? 'there was no answer');
  }

  /** Asks the control API. */
  control(method: 'GET' | 'POST', path: string, body?: object) {
    const { controlToken } = this.options;
    return this.send(`/_sim${path}`, {
      method,
      ...(controlToken !== undefined && {
        headers: [['Authorization', `Bearer ${controlToken}`] as const],
      }),
      ...(body && { body: JSON.stringify(body), contentType: 'application/json' }),
    });
  }

  /**
   * The part of an address that lies at the target; undefined for one that lies elsewhere.
   *
   * @param from the path of the page that it stands on
   */
  pathOf(address: string, from = '/'): string | undefined {
    const base = new URL(this.#base);
    const page = this.#base + from;
    if (!URL.canParse(address, page)) return undefined;
    const { origin, pathname, search } = new URL(address, page);
    // An emulator may name itself by another address than the one that it is asked at.
    const isHere = origin === base.origin || (this.isLocal && isLoopback(new URL(origin).hostname));
    const prefix = base.pathname.replace(/\/+$/, '');
    return isHere && pathname.startsWith(prefix) ? pathname.slice(prefix.length) + search : undefined;
  }

  async #turn(): Promise<void> {
    const wait = this.#next - performance.now();
    this.#next = Math.max(this.#next, performance.now()) + PAUSE_MS;
    if (wait > 0) await sleep(wait);
  }
}

function unreachable(url: string, reason: string): GatewayError {
  const message = `${url} cannot be asked: ${reason}`;
  // What is wrong with a certificate is said with what helps.
  if (/certificate/i.test(reason)) return new GatewayError('no_server', message);
  return new GatewayError('no_server', message, { hint: hint`Say where it is with ${option('target')}.` });
}
