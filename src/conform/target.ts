import type { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditClient, type Observation, type ProbeRequest } from '../audit/client.ts';
import { bareHost, isLoopback } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { Egress } from '../delivery/egress.ts';
import { at, parsed } from './json.ts';

/** The target of a run. */
export interface TargetOptions {
  url: string;
  publicKey: string;
  secretKey: string;
  /** Whether to send requests outside the sandbox to a target that is not an emulator on this machine. */
  live: boolean;
  /** For the control API of an emulator that requires it. */
  controlToken?: string | null | undefined;
  /** Trusts an emulator's own certificate. */
  agent?: Agent | undefined;
}

/** Milliseconds between requests to a remote server: five per second. */
const PAUSE_MS = 200;
const TIMEOUT_MS = 15_000;
const TRUST_BY = 'specify its CA file with --tls-ca or NODE_EXTRA_CA_CERTS';

/** A merchant registered in an emulator, to check that merchants cannot read each other's cards. */
const OTHER_MERCHANT = 'conform';

/** The deployment under test. Each request has its own connection, and remote targets are rate limited. */
export class Target {
  readonly options: TargetOptions;
  /** Whether the target is on this machine, so that no pauses are needed. */
  readonly isLocal: boolean;
  /**
   * Whether it is on this machine and identified as an emulator, not as a tunnel to a gateway: every request is
   * allowed.
   */
  isEmulator = false;
  /** Whether its control API can settle payments and charge cards. */
  hasControl = false;
  /** The test credentials of its sandbox checkout. */
  sandbox = { email: 'test_mode@mail.com', code: '222666' };
  /** The --public-url of an emulator. */
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

  /** Checks whether a target on this machine is an emulator. Must be the first request. @throws NoAnswer */
  async identify(): Promise<void> {
    if (!this.isLocal) return;
    const { status, headers, body } = await this.#send('/_sim/livez', { method: 'GET', unmarked: true });
    const isLive = status === 200 && at(parsed(body), 'status') === 'live';
    this.isEmulator = isLive && header(headers, 'x-gateway-sim') === '1';
  }

  /** @throws NoAnswer; Unseen for a request that is not allowed there */
  async send(path: string, request: Omit<ProbeRequest, 'url'>): Promise<Observation & { status: number }> {
    const { pathname } = new URL(`http://target${path}`);
    if (!this.isEmulator && !this.options.live && !pathname.startsWith('/sandbox/')) throw this.notAllowed();
    return this.#send(path, request);
  }

  notAllowed(): Unseen {
    const why = this.isLocal
      ? 'the target is not an emulator, and may be a tunnel to a real gateway'
      : 'live mode is not tested';
    return new Unseen(`${why}: use --live --live to test it`);
  }

  async #send(path: string, request: Omit<ProbeRequest, 'url'>): Promise<Observation & { status: number }> {
    if (!this.isLocal) await this.#turn();
    const seen = await this.#client.send({ ...request, url: this.#base + path });
    const { status, error } = seen;
    if (status !== null && error === null) return { ...seen, status };
    throw new NoAnswer(this.options.url, seen);
  }

  /** Sends a request to the control API. */
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

  /** The secret key of a second merchant in an emulator; undefined without an emulator. */
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
   * The path of an address at the target; undefined for another host.
   *
   * @param from the path of the page that contains the address
   */
  pathOf(address: string, from = '/'): string | undefined {
    const page = this.#base + from;
    if (!URL.canParse(address, page)) return undefined;
    const { protocol, hostname, origin, pathname, search } = new URL(address, page);
    // Other schemes have no origin.
    if (!/^https?:$/.test(protocol)) return undefined;
    for (const own of [this.#base, ...(this.alias === undefined ? [] : [this.alias])]) {
      const base = new URL(own);
      // An emulator may use another address for itself than the target option.
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

/** Why a line has no result. */
export class Unseen extends Error {}

/** A request without a complete response. */
export class NoAnswer extends GatewayError {
  readonly reason: string;
  /** A server responded, but with invalid or incomplete HTTP. */
  readonly isThere: boolean;

  constructor(url: string, { status, failure, error }: Observation) {
    const reason = `${error ?? 'no response'}${status === null ? '' : ` (status ${status})`}`;
    // A certificate error already contains its fix.
    const more =
      failure?.code === 'certificate' ? {} : { hint: hint`Specify its address with ${option('target')}.` };
    super('no_server', `no usable response from ${url}: ${reason}`, more);
    this.reason = reason;
    this.isThere = status !== null || failure?.code === 'malformed';
  }
}

export function header(headers: readonly (readonly [string, string])[], name: string): string | undefined {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1];
}
