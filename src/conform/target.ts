import type { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareHost, isLoopback } from '../contract/address.ts';
import { GatewayError, hint, option } from '../contract/error.ts';
import { headerIn } from '../contract/headers.ts';
import { FORM_TYPE, JSON_TYPE } from '../contract/media-types.ts';
import { withPaymentDefaults } from '../contract/sample-values.ts';
import { Secrets } from '../contract/secrets.ts';
import { Egress } from '../delivery/egress.ts';
import { ExchangeClient, type ExchangeRequest, type Observation } from '../delivery/exchange.ts';
import { initiateForm, isSandboxPath } from '../service/merchant.ts';
import { CARD_PATHS, INITIATE_PATHS } from '../service/names.ts';
import { at, parsed, paymentIdIn } from './answer.ts';

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

/** A request with a path instead of an address. */
type TargetRequest = Omit<ExchangeRequest, 'url'>;
/** A complete response. */
export type Answer = Observation & { status: number };

/** Milliseconds between requests to a remote server: five per second. */
const PAUSE_MS = 200;
const TIMEOUT_MS = 15_000;
const TRUST_BY = 'specify its CA file with --tls-ca or NODE_EXTRA_CA_CERTS';

/** The address of IPNs for a target that cannot reach this machine. */
export const NOWHERE = 'https://ipn.invalid/ipn';

/** A merchant registered in an emulator, to check that merchants cannot read each other's cards. */
const OTHER_MERCHANT = 'conform';

/** The deployment under test. Each request has its own connection, and remote targets are rate limited. */
export class Target {
  readonly options: TargetOptions;
  /** Whether the target is on this machine, so that no pauses are needed. */
  readonly #isLocal: boolean;
  /**
   * Whether it is on this machine and identified as an emulator, not as a tunnel to a gateway: every request is
   * allowed.
   */
  isEmulator = false;
  /** Whether its control API can settle payments and charge cards. */
  hasControl = false;
  /** The test credentials of its sandbox checkout. */
  sandbox = { email: 'test_mode@mail.com', code: '222666' };
  readonly #base: string;
  /** The --public-url of an emulator. */
  #alias: string;
  readonly #client: ExchangeClient;
  #next = 0;
  #other: Promise<string | undefined> | undefined;

  constructor(options: TargetOptions) {
    this.options = options;
    const { hostname } = new URL(options.url);
    this.#isLocal = isLoopback(hostname);
    this.#base = options.url.replace(/\/+$/, '');
    this.#alias = this.#base;
    this.#client = new ExchangeClient(new Egress([bareHost(hostname)], () => undefined), TIMEOUT_MS, {
      agent: options.agent,
      trustBy: TRUST_BY,
    });
  }

  /** Checks whether a target on this machine is an emulator. Must be the first request. @throws NoAnswer */
  async identify(): Promise<void> {
    if (!this.#isLocal) return;
    const { status, headers, body } = await this.#send('/_sim/livez', { method: 'GET', unmarked: true });
    const isLive = status === 200 && at(parsed(body), 'status') === 'live';
    this.isEmulator = isLive && headerIn(headers, 'x-gateway-sim') === '1';
  }

  /**
   * Checks that the target is a gateway of this interface that knows the keys, and whether it is an emulator.
   *
   * @throws GatewayError `no_server`, `invalid_api_key`
   */
  async requireGateway(): Promise<void> {
    const { url, publicKey } = this.options;
    const initiatePath = INITIATE_PATHS.sandbox;
    await this.identify();
    // Every gateway of this interface answers one of these requests with success or error.
    const order = withPaymentDefaults({ ipnUrl: NOWHERE }, { baseUrl: new URL(NOWHERE).origin, publicKey });
    const requests = [order, { publicKey: '' }, { identifier: '1' }];
    let elsewhere = '';
    for (const [index, fields] of requests.entries()) {
      const body = new URLSearchParams(initiateForm(fields)).toString();
      const answer = await this.send(initiatePath, { method: 'POST', body, contentType: FORM_TYPE });
      const location = answer.status >= 300 && answer.status < 400 && headerIn(answer.headers, 'location');
      if (location) elsewhere = `; it redirects to ${new Secrets([publicKey]).mask(location)}`;
      const json = parsed(answer.body);
      const isAccepted = at(json, 'success') !== undefined;
      if (!isAccepted && at(json, 'error') === undefined) continue;
      const messages = JSON.stringify([at(json, 'message'), at(json, 'errors')]);
      const isUnknown = publicKey === '' || (!isAccepted && /api.?key/i.test(messages));
      if (index === 0 && isUnknown) throw wrongKey('public', publicKey);
      if (this.isEmulator) await this.#inspect();
      await this.cancel(paymentIdIn(json));
      return;
    }
    throw new GatewayError(
      'no_server',
      `${url} is not a gateway of this interface: none of three responses to ${initiatePath} was a JSON object with success or error${elsewhere}`,
      { hint: hint`Specify the gateway's address with ${option('target')}, without the initiate path.` },
    );
  }

  /** Reads the status of an emulator, and checks the secret key. */
  async #inspect(): Promise<void> {
    const answer = await this.control('GET', '/status');
    const status = parsed(answer.body);
    this.hasControl = answer.status === 200 && typeof at(status, 'counts') === 'object';
    const url = at(status, 'url');
    if (this.hasControl && typeof url === 'string' && URL.canParse(url)) this.#alias = url;
    const [email, code] = [at(status, 'options.sandboxEmail'), at(status, 'options.sandboxCode')];
    if (typeof email === 'string' && typeof code === 'string') this.sandbox = { email, code };
    // Only the cards API, which exists only in live mode, checks the secret key.
    const { secretKey } = this.options;
    const headers = [['Authorization', `Bearer ${secretKey}`]] as const;
    const cards = await this.send(CARD_PATHS.list, { method: 'GET', headers });
    if (cards.status === 401) throw wrongKey('secret', secretKey);
  }

  /** @throws NoAnswer; Unseen for a request that is not allowed there */
  async send(path: string, request: TargetRequest): Promise<Answer> {
    const { pathname } = new URL(`http://target${path}`);
    if (!this.isEmulator && !this.options.live && !isSandboxPath(pathname)) throw this.notAllowed();
    return this.#send(path, request);
  }

  notAllowed(): Unseen {
    const why = this.#isLocal
      ? 'the target is not an emulator, and may be a tunnel to a real gateway'
      : 'live mode is not tested';
    return new Unseen(`${why}: use --live --live to test it`);
  }

  async #send(path: string, request: TargetRequest): Promise<Answer> {
    if (!this.#isLocal) {
      const wait = this.#next - performance.now();
      this.#next = Math.max(this.#next, performance.now()) + PAUSE_MS;
      if (wait > 0) await sleep(wait);
    }
    const seen = await this.#client.send({ ...request, url: this.#base + path });
    const { status, error } = seen;
    if (status !== null && error === null) return { ...seen, status };
    throw new NoAnswer(this.options.url, seen);
  }

  control(method: 'GET' | 'POST', path: string, body?: object) {
    const { controlToken } = this.options;
    return this.send(`/_sim${path}`, {
      method,
      ...(controlToken && {
        headers: [['Authorization', `Bearer ${controlToken}`] as const],
      }),
      ...(body && { body: JSON.stringify(body), contentType: JSON_TYPE }),
    });
  }

  /** Cancels a pending payment in an emulator, since `pay` and users select the newest pending one. */
  async cancel(paymentId: string | null): Promise<void> {
    if (!this.hasControl || paymentId === null) return;
    const path = `/payments/${encodeURIComponent(paymentId)}/settle`;
    await this.control('POST', path, { outcome: 'cancel', delivery: 'redirect-only' });
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
    for (const own of [this.#base, this.#alias]) {
      const base = new URL(own);
      // An emulator may use another address for itself than the target option.
      const isHere = origin === base.origin || (this.isEmulator && isLoopback(hostname));
      const prefix = base.pathname.replace(/\/+$/, '');
      if (isHere && pathname.startsWith(prefix)) return pathname.slice(prefix.length) + search;
    }
    return undefined;
  }
}

function wrongKey(which: 'public' | 'secret', key: string): GatewayError {
  const what = key === '' ? `requires a ${which} key` : `does not know the ${which} key ${key.slice(0, 8)}…`;
  return new GatewayError('invalid_api_key', `the target ${what}`, {
    hint: hint`Specify the keys of one of its merchants with ${option('publicKey')} and ${option('secretKey')}.`,
  });
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
