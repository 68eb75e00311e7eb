import { EventEmitter, once } from 'node:events';
import { FORM_TYPE, JSON_TYPE } from '../contract/media-types.ts';
import { type ReceivedRequest, receiveOnLoopback } from '../system/loopback-receiver.ts';
import { at, parsed, paymentIdIn } from './answer.ts';
import { payOnCheckout } from './checkout.ts';
import type { ManifestLine } from './manifest.ts';
import { type Target, Unseen } from './target.ts';

export interface ReceivedIpn extends Pick<ReceivedRequest, 'method' | 'headers'> {
  query: string;
  body: string;
}

/** The query parameter that assigns an IPN to its line. */
const MARK = 'conform';

export const markedUrl = (address: string, mark: string): string =>
  `${address}${address.includes('?') ? '&' : '?'}${MARK}=${mark}`;

export type IpnListener = Awaited<ReturnType<typeof listenForIpns>>;

/**
 * Receives the IPNs of all lines. Each line has its own mark in the query string of its ipn_url.
 *
 * @param port the port to listen on; 0 selects a free one
 * @throws GatewayError `port_in_use`
 */
export async function listenForIpns(port = 0) {
  const received = new Map<string, ReceivedIpn[]>();
  const statuses = new Map<string, number>();
  const arrivals = new EventEmitter();
  const of = (mark: string): readonly ReceivedIpn[] => received.get(mark) ?? [];
  const receiver = await receiveOnLoopback(
    ({ method, url, headers, body }) => {
      const [, query = ''] = /\?(.*)$/s.exec(url) ?? [];
      const mark = new URLSearchParams(query).get(MARK) ?? '';
      received.set(mark, [...of(mark), { method, query, headers, body: body.toString() }]);
      arrivals.emit('ipn');
      const status = statuses.get(mark) ?? 200;
      const isRedirect = status >= 300 && status < 400;
      return { status, body: 'OK', headers: isRedirect ? [['Location', '/elsewhere']] : [] };
    },
    port,
    'ipnPort',
  );
  return {
    url: `${receiver.url}/ipn`,
    of,
    answerWith: (mark: string, status: number) => void statuses.set(mark, status),
    /** Resolves when a line has this number of IPNs, or after the time limit. */
    async wait(mark: string, count: number, limitMs: number): Promise<void> {
      const signal = AbortSignal.timeout(limitMs);
      while (of(mark).length < count && !signal.aborted)
        await once(arrivals, 'ipn', { signal }).catch(() => {});
    },
    [Symbol.asyncDispose]: receiver.close,
  };
}

/** The result of a line's request. */
export interface Seen {
  status: number;
  headers: readonly (readonly [string, string])[];
  body: string;
  json: unknown;
  /** Where the browser was redirected after the payment was settled; undefined if unknown. */
  redirect: string | undefined;
  ipns: readonly ReceivedIpn[];
  /** The number of IPNs before that redirect. */
  early: number;
  /** Replaces the placeholders of an expected value. */
  fill: (text: string) => string;
}

/** Time to wait for an unexpected IPN after the settlement, and for a retry, in milliseconds. */
const QUIET_MS = 150;
const RETRY_MS = 1_600;
/** Maximum time until an IPN arrives, in milliseconds. */
const ARRIVAL_MS = { local: 4_000, remote: 20_000 };

/** The values of a session that a line may contain. */
const PLACEHOLDER = /\{(publicKey|secretKey|otherSecretKey|identifier|ipnUrl|checkout|paymentId|cardId)\}/g;

/** Sends the requests of lines that build on each other, and keeps values from the responses. */
export class Session {
  readonly #target: Target;
  readonly #listener: IpnListener;
  /** Unique to this session: the identifier of its payments and the mark of its IPNs. */
  readonly #mark: string;
  readonly #values: Record<string, string>;
  /** Its payments that may be unsettled. */
  readonly #open = new Set<string>();

  /** @param ipnUrl the listener's address for the target */
  constructor(target: Target, listener: IpnListener, ipnUrl: string, mark: string) {
    this.#target = target;
    this.#listener = listener;
    this.#mark = mark;
    const { publicKey, secretKey } = target.options;
    this.#values = { publicKey, secretKey, identifier: mark, ipnUrl: markedUrl(ipnUrl, mark) };
  }

  /** @throws Unseen, or GatewayError `no_server` */
  async run({ request, outcome, expect, times = 1 }: ManifestLine): Promise<Seen> {
    if (JSON.stringify(request).includes('{otherSecretKey}')) {
      const other = await this.#target.otherSecretKey();
      if (other === undefined) throw new Unseen('needs a second merchant, which requires the control API');
      this.#values['otherSecretKey'] = other;
    }
    const isType = (name: string) => name.toLowerCase() === 'content-type';
    const headers = Object.entries(request.headers).map(
      ([name, value]) => [name, this.#fill(value)] as const,
    );
    const contentType = headers.find(([name]) => isType(name))?.[1] ?? '';
    const path = this.#fill(request.path, encodeURIComponent);
    const sent = {
      method: request.method,
      headers: headers.filter(([name]) => !isType(name)),
      contentType,
      ...(request.body !== null && { body: this.#fill(request.body, encoderOf(contentType)) }),
    };
    const seen = await this.#target.send(path, sent);
    for (let count = 1; count < times; count++) await this.#target.send(path, sent);
    const json = parsed(seen.body);
    this.#keep(json);
    const { answered = 200, count = 1 } = expect.ipn ?? {};
    this.#listener.answerWith(this.#mark, answered);
    const redirect = outcome === undefined ? undefined : await this.#settle(outcome);
    const early = this.#listener.of(this.#mark).length;
    const isRefused = answered >= 300;
    const ipns = expect.ipn ? await this.#ipns(count, isRefused) : [];
    if (isRefused) await this.#acceptIpn();
    return { ...seen, json, redirect, ipns, early, fill: (text) => this.#fill(text) };
  }

  /** Cancels the pending payments in an emulator. If the target is down, the next line reports it. */
  async end(): Promise<void> {
    for (const id of this.#open) await this.#target.cancel(id).catch(() => undefined);
  }

  /** Keeps values of a response for later requests. */
  #keep(json: unknown): void {
    const url = at(json, 'url');
    const checkout = typeof url === 'string' ? this.#target.pathOf(url) : undefined;
    if (checkout !== undefined) this.#values['checkout'] = checkout;
    const paymentId = paymentIdIn(json);
    if (paymentId !== null) {
      this.#values['paymentId'] = paymentId;
      this.#open.add(paymentId);
    }
    const cardId = at(json, 'data.id');
    // A lone surrogate cannot be encoded in a URL.
    if (typeof cardId === 'string') this.#values['cardId'] = cardId.toWellFormed();
  }

  /** @throws Unseen if no earlier response had the value of a placeholder */
  #fill(text: string, encode: (value: string) => string = (value) => value): string {
    return text.replace(PLACEHOLDER, (written, name: string) => {
      const value = this.#values[name];
      if (value === undefined) throw new Unseen(`no earlier response contained ${written}`);
      return name === 'checkout' ? value : encode(value);
    });
  }

  async #settle(outcome: NonNullable<ManifestLine['outcome']>): Promise<string | undefined> {
    if (outcome === 'charge' || outcome === 'fund') {
      const transaction = { type: outcome, amount: '12.50', details: 'Coffee' };
      await this.#control(`/cards/${this.#values['cardId']}/transactions`, transaction);
      return undefined;
    }
    const { checkout, paymentId = '' } = this.#values;
    if (checkout === undefined) throw new Unseen('the response had no checkout URL');
    this.#open.delete(paymentId);
    if (outcome !== 'pay') {
      const settled = await this.#control(`/payments/${encodeURIComponent(paymentId)}/settle`, { outcome });
      const redirect = at(settled, 'redirectUrl');
      return typeof redirect === 'string' ? redirect : undefined;
    }
    const redirect = await payOnCheckout(this.#target, checkout);
    if (redirect === undefined) throw new Unseen('the checkout could not be completed');
    return redirect;
  }

  async #control(path: string, body: object): Promise<unknown> {
    if (!this.#target.hasControl) throw new Unseen('needs the control API of an emulator');
    return parsed((await this.#target.control('POST', path, body)).body);
  }

  /** Accepts the IPN, so that an emulator stops its retries. */
  async #acceptIpn(): Promise<void> {
    if (!this.#target.hasControl) return;
    this.#listener.answerWith(this.#mark, 200);
    const listed = await this.#target.control('GET', `/ipns?payment=${this.#values['paymentId']}`);
    const id = at(parsed(listed.body), 'data.0.id');
    if (typeof id === 'string') await this.#target.control('POST', `/ipns/${id}/resend`, {});
  }

  async #ipns(count: number, isRefused: boolean): Promise<readonly ReceivedIpn[]> {
    const limit = this.#target.isEmulator ? ARRIVAL_MS.local : ARRIVAL_MS.remote;
    await this.#listener.wait(this.#mark, count, limit);
    // Wait for an additional IPN, which would be a mismatch.
    await this.#listener.wait(this.#mark, count + 1, isRefused && count === 1 ? RETRY_MS : QUIET_MS);
    return this.#listener.of(this.#mark);
  }
}

function encoderOf(contentType: string): (value: string) => string {
  if (contentType.startsWith(FORM_TYPE)) return encodeURIComponent;
  if (contentType.startsWith(JSON_TYPE)) return (value) => JSON.stringify(value).slice(1, -1);
  return (value) => value;
}
