import type { ManifestLine } from '../contract/manifest.ts';
import { payOnCheckout } from './checkout.ts';
import { at, parsed } from './json.ts';
import { type IpnListener, markedUrl, type ReceivedIpn } from './listener.ts';
import { type Target, Unseen } from './target.ts';

/** The result of a line's request. */
export interface Seen {
  status: number;
  headers: readonly (readonly [string, string])[];
  body: string;
  /** The body as JSON; undefined if it is not JSON. */
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

/** The ipn_url for a target that cannot reach this machine. */
const NOWHERE = 'https://ipn.invalid/ipn';

/** Sends the requests of lines that build on each other, and keeps values from the responses. */
export class Session {
  readonly #target: Target;
  readonly #listener: IpnListener | null;
  /** Unique to this session: the identifier of its payments and the mark of its IPNs. */
  readonly #mark: string;
  readonly #values: Record<string, string>;
  /** Its payments that may be unsettled. */
  readonly #open = new Set<string>();

  /** @param ipnUrl the listener's address for the target; null if the target cannot reach it */
  constructor(target: Target, listener: IpnListener | null, ipnUrl: string | null, mark: string) {
    this.#target = target;
    this.#listener = listener;
    this.#mark = mark;
    this.#values = {
      publicKey: target.options.publicKey,
      secretKey: target.options.secretKey,
      identifier: mark,
      ipnUrl: markedUrl(ipnUrl ?? NOWHERE, mark),
    };
  }

  /** @throws Unseen, or GatewayError `no_server` */
  async run(line: ManifestLine): Promise<Seen> {
    const { request, outcome, expect, times = 1 } = line;
    if (JSON.stringify(request).includes('{otherSecretKey}')) {
      const other = await this.#target.otherSecretKey();
      if (other === undefined) throw new Unseen('needs a second merchant, which requires the control API');
      this.#values['otherSecretKey'] = other;
    }
    const headers = Object.entries(request.headers).map(
      ([name, value]) => [name, this.#fill(value)] as const,
    );
    const contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
    const path = this.#fill(request.path, encoderOf('', request.path));
    const sent = {
      method: request.method,
      headers: headers.filter(([name]) => name.toLowerCase() !== 'content-type'),
      contentType,
      ...(request.body !== null && { body: this.#fill(request.body, encoderOf(contentType)) }),
    };
    const seen = await this.#target.send(path, sent);
    for (let count = 1; count < times; count++) await this.#target.send(path, sent);
    const json = parsed(seen.body);
    this.#keep(json);
    if (expect.ipn?.answered !== undefined) this.#listener?.answerWith(this.#mark, expect.ipn.answered);
    const redirect = outcome === undefined ? undefined : await this.#settle(outcome);
    const early = this.#listener?.of(this.#mark).length ?? 0;
    const ipns = expect.ipn ? await this.#ipns(expect.ipn.count, expect.ipn.answered) : [];
    if (expect.ipn?.answered !== undefined && expect.ipn.answered >= 300) await this.#acceptIpn();
    return { ...seen, json, redirect, ipns, early, fill: (text) => this.#fill(text) };
  }

  /** Cancels the pending payments in an emulator, since `pay` and users select the newest pending one. */
  async end(): Promise<void> {
    if (!this.#target.hasControl) return;
    const cancel = { outcome: 'cancel', delivery: 'redirect-only' };
    for (const id of this.#open) {
      // If the target is down, the next line reports it.
      const path = `/payments/${encodeURIComponent(id)}/settle`;
      await this.#target.control('POST', path, cancel).catch(() => undefined);
    }
  }

  /** Keeps values of a response for later requests. */
  #keep(json: unknown): void {
    const url = at(json, 'url');
    if (typeof url === 'string') {
      const path = this.#target.pathOf(url);
      if (path !== undefined) this.#values['checkout'] = path;
      const id = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]).get('payment_id');
      if (id !== null) {
        this.#values['paymentId'] = id;
        this.#open.add(id);
      }
    }
    const cardId = at(json, 'data.id');
    // A lone surrogate cannot be encoded in a URL.
    if (typeof cardId === 'string') this.#values['cardId'] = cardId.toWellFormed();
  }

  /** @throws Unseen if no earlier response had the value of a placeholder */
  #fill(text: string, encode: (value: string) => string = (value) => value): string {
    return text.replace(/\{([a-z]+(?:[A-Z][a-z]+)*)\}/g, (written, name: string) => {
      if (!PLACEHOLDERS.includes(name)) return written;
      const value = this.#values[name];
      if (value === undefined) throw new Unseen(`no earlier response contained ${written}`);
      return name === 'checkout' ? value : encode(value);
    });
  }

  async #settle(outcome: NonNullable<ManifestLine['outcome']>): Promise<string | undefined> {
    if (outcome === 'charge' || outcome === 'fund') {
      await this.#control(`/cards/${this.#values['cardId']}/transactions`, {
        type: outcome,
        amount: '12.50',
        details: 'Coffee',
      });
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
    this.#listener?.answerWith(this.#mark, 200);
    const listed = await this.#target.control('GET', `/ipns?payment=${this.#values['paymentId']}`);
    const id = at(parsed(listed.body), 'data.0.id');
    if (typeof id === 'string') await this.#target.control('POST', `/ipns/${id}/resend`, {});
  }

  async #ipns(count = 1, answered = 200): Promise<readonly ReceivedIpn[]> {
    if (!this.#listener) throw new Unseen('no IPN can reach this machine: specify its public address');
    const isRefused = answered >= 300;
    const limit = this.#target.isEmulator ? ARRIVAL_MS.local : ARRIVAL_MS.remote;
    if (count > 0) await this.#listener.wait(this.#mark, count, limit);
    // Wait for an additional IPN, which would be a mismatch.
    await this.#listener.wait(this.#mark, count + 1, isRefused && count === 1 ? RETRY_MS : QUIET_MS);
    return this.#listener.of(this.#mark);
  }
}

const PLACEHOLDERS: readonly string[] = [
  ...['publicKey', 'secretKey', 'otherSecretKey', 'identifier', 'ipnUrl'],
  ...['checkout', 'paymentId', 'cardId'],
];

/** How to encode a value for a body of this type, or for a path. */
function encoderOf(contentType: string, path?: string): (value: string) => string {
  if (path !== undefined || contentType.startsWith('application/x-www-form-urlencoded')) {
    return encodeURIComponent;
  }
  if (contentType.startsWith('application/json')) return (value) => JSON.stringify(value).slice(1, -1);
  return (value) => value;
}
