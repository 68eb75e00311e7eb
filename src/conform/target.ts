import type { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditClient, type Observation, type ProbeRequest } from '../audit/client.ts';
import { bareHost, isLoopback } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { Egress } from '../delivery/egress.ts';
import { at, parsed } from './json.ts';

/** Where a manifest is held against, and with what. */
export interface TargetOptions {
  url: string;
  publicKey: string;
  secretKey: string;
  /** Whether more than the sandbox may be asked where the target is no emulator of this machine. */
  live: boolean;
  /** Opens the control API of an emulator that asks for it. */
  controlToken?: string | null | undefined;
  /** Trusts its certificate, where that is one of an emulator's own. */
  agent?: Agent | undefined;
}

/** Milliseconds between two requests to somebody else's server: five a second. */
const PAUSE_MS = 200;
const TIMEOUT_MS = 15_000;
const TRUST_BY = 'name the file with its CA with --tls-ca or in NODE_EXTRA_CA_CERTS';

/** Registered in an emulator to see that nobody reads the cards of somebody else. */
const OTHER_MERCHANT = 'conform';

/** A deployment that requests are sent to, one connection each, and no faster than its owner may like. */
export class Target {
  readonly options: TargetOptions;
  /** It is on this machine, so that no pauses are needed. */
  readonly isLocal: boolean;
  /** It is on this machine, and has proved to be an emulator: all may be tried. A tunnel may lead from here to a gateway. */
  isEmulator = false;
  /** Its control API answers: payments can be settled and cards charged by it. */
  hasControl = false;
  /** What passes its sandbox checkout. */
  sandbox = { email: 'test_mode@mail.com', code: '222666' };
  /** What an emulator calls itself: its --public-url. */
  alias: string | undefined;
  readonly #base: string;
  readonly #client: AuditClient;
  #next = 0;
  #other: Promise<string | undefined> | undefined;

  constructor(options: TargetOptions) {
    this.options = options;
    const { hostname } = new URL(options.url);
    this.isLocal = isLoopback(hostname);
    this.#base = options.url.replace(/\/+$/, '');
    this.#client = new AuditClient(new Egress([bareHost(hostname)], () => undefined), TIMEOUT_MS, {
      agent: options.agent,
      trustBy: TRUST_BY,
    });
  }

  /** Lets a target on this machine prove that it is an emulator: nothing else may be asked before. @throws NoAnswer */
  async identify(): Promise<void> {
    if (!this.isLocal) return;
    const { status, headers, body } = await this.#send('/_sim/livez', { method: 'GET', unmarked: true });
    const isLive = status === 200 && at(parsed(body), 'status') === 'live';
    this.isEmulator = isLive && header(headers, 'x-gateway-sim') === '1';
  }

  /** @throws NoAnswer; Unseen for what may not be asked there */
  async send(path: string, shot: Omit<ProbeRequest, 'url'>): Promise<Observation & { status: number }> {
    const { pathname } = new URL(`http://target${path}`);
    if (!this.isEmulator && !this.options.live && !pathname.startsWith('/sandbox/')) throw this.leftAlone();
    return this.#send(path, shot);
  }

  leftAlone(): Unseen {
    const why = this.isLocal
      ? 'what answers there does not prove to be gateway-sim, and so may lead to a gateway'
      : 'live mode is left alone';
    return new Unseen(`${why}: --live --live tries it`);
  }

  async #send(path: string, shot: Omit<ProbeRequest, 'url'>): Promise<Observation & { status: number }> {
    if (!this.isLocal) await this.#turn();
    const seen = await this.#client.send({ ...shot, url: this.#base + path });
    const { status, error } = seen;
    if (status !== null && error === null) return { ...seen, status };
    throw new NoAnswer(this.options.url, seen);
  }

  /** Asks the control API. */
  control(method: 'GET' | 'POST', path: string, body?: object) {
    const { controlToken } = this.options;
    return this.send(`/_sim${path}`, {
      method,
      ...(controlToken && {
        headers: [['Authorization', `Bearer ${controlToken}`] as const],
      }),
      ...(body && { body: JSON.stringify(body), contentType: 'application/json' }),
    });
  }

  /** That of a merchant that an emulator registers for this; undefined where there is no emulator. */
  otherSecretKey(): Promise<string | undefined> {
    this.#other ??= this.#registerOther();
    return this.#other;
  }

  async #registerOther(): Promise<string | undefined> {
    if (!this.hasControl) return undefined;
    const listed = at(parsed((await this.control('GET', '/merchants')).body), 'data');
    const known = Array.isArray(listed) && listed.find((one) => at(one, 'name') === OTHER_MERCHANT);
    const other = known || parsed((await this.control('POST', '/merchants', { name: OTHER_MERCHANT })).body);
    const secretKey = at(other, 'secretKey');
    return typeof secretKey === 'string' ? secretKey : undefined;
  }

  /**
   * The part of an address that lies at the target; undefined for one that lies elsewhere.
   *
   * @param from the path of the page that it stands on
   */
  pathOf(address: string, from = '/'): string | undefined {
    const page = this.#base + from;
    if (!URL.canParse(address, page)) return undefined;
    const { protocol, hostname, origin, pathname, search } = new URL(address, page);
    // Any other has no origin, and is none of a page.
    if (!/^https?:$/.test(protocol)) return undefined;
    for (const own of [this.#base, ...(this.alias === undefined ? [] : [this.alias])]) {
      const base = new URL(own);
      // An emulator may name itself by another address than the one that it is asked at.
      const isHere = origin === base.origin || (this.isEmulator && isLoopback(hostname));
      const prefix = base.pathname.replace(/\/+$/, '');
      if (isHere && pathname.startsWith(prefix)) return pathname.slice(prefix.length) + search;
    }
    return undefined;
  }

  async #turn(): Promise<void> {
    const wait = this.#next - performance.now();
    this.#next = Math.max(this.#next, performance.now()) + PAUSE_MS;
    if (wait > 0) await sleep(wait);
  }
}

/** Why a line could not be seen. */
export class Unseen extends Error {}

/** A request that got no answer, or half of one. */
export class NoAnswer extends GatewayError {
  readonly reason: string;
  /** Something came, but no HTTP or not all of it: somebody is there. */
  readonly isThere: boolean;

  constructor(url: string, { status, failure, error }: Observation) {
    const reason = `${error ?? 'there was no answer'}${status === null ? '' : ` (status ${status})`}`;
    // What is wrong with a certificate is said with what helps.
    const more =
      failure?.code === 'certificate' ? {} : { hint: hint`Say where it is with ${option('target')}.` };
    super('no_server', `${url} cannot be asked: ${reason}`, more);
    this.reason = reason;
    this.isThere = status !== null || failure?.code === 'malformed';
  }
}

export function header(headers: readonly (readonly [string, string])[], name: string): string | undefined {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1];
}
