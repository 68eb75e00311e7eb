import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { close, digits, initiate, type Keys, listen, same, sign } from '../node-shop.ts';
import type { Fields, Incoming, Parser } from './parsers.ts';

/** A queue has varying delays. */
const QUEUE_MS = [100, 60, 180];

/** The habits of a correct shop. */
export interface Style {
  server: 'http' | 'hono';
  parse: Parser;
  /** Status and body of a rejection, by reason: malformed, forged, unknown order. */
  refusal: readonly [malformed: number, forged: number, unknown: number];
  refusalBody: Body;
  accepted: number;
  acceptedBody: Body;
  /** For a status that is not success, and for a copy. */
  ignored: number;
  copy: number;
  otherMethod: number;
  /** When it processes an IPN: before it responds, afterwards, or before a slow response. */
  work: 'before' | 'after' | 'slow';
  /** How it compares amounts. */
  money: 'text' | 'cents' | 'number' | 'decimal';
  total: string;
  upperCasesFirst: boolean;
  identifier: (count: number) => string;
  token: 'query' | 'path';
  /** What a concurrent second request does: waits, is rejected, or fails because the row has changed. */
  concurrency: 'queue' | 'rejected' | 'row';
  /** Every visitor gets a cookie, and without one the return page redirects to the login. */
  sessions: boolean;
  /** The delay of the e-mail about a payment; 0 sends none. */
  mailsAfterMs: number;
  /** Numbers its invoices from 1. */
  invoices: boolean;
  /** One script serves all pages, and the query string selects one. */
  frontController: boolean;
}

interface Body {
  type: string;
  text: string;
}
export const NOTHING: Body = { type: '', text: '' };
export const TEXT: Body = { type: 'text/plain', text: 'ok' };
export const JSON_BODY: Body = { type: 'application/json', text: '{"ok":true}' };
export const PAGE: Body = {
  type: 'text/html; charset=utf-8',
  text: '<!doctype html><title>Shop</title><h1>Our shop</h1><p>Something about this request.</p>',
};

interface Order {
  identifier: string;
  token: string;
  paid: boolean;
  effects: number;
  mails: number;
  invoice: number | null;
  charge: string;
}
interface Answer {
  status: number;
  body: Body;
  headers?: Record<string, string>;
}

/** A correct shop with its own habits. */
export class VariedShop implements AsyncDisposable {
  readonly orders = new Map<string, Order>();
  readonly log: string[] = [];
  readonly #style: Style;
  readonly #keys: Keys;
  readonly #busy = new Map<string, Promise<unknown>>();
  #invoices = 0;
  #queued = 0;
  #server = createServer();
  url = '';

  constructor(style: Style, keys: Keys) {
    this.#style = style;
    this.#keys = keys;
  }

  async start(): Promise<this> {
    if (this.#style.server === 'hono') {
      const app = new Hono();
      app.all('*', async ({ req }) => {
        const body = Buffer.from(await req.arrayBuffer());
        const answer = await this.#route({
          ...req,
          method: req.method,
          url: new URL(req.url),
          headers: req.header(),
          body,
        });
        return new Response(answer.status === 204 ? null : answer.body.text, {
          status: answer.status,
          headers: headersOf(answer),
        });
      });
      app.onError(() => new Response('error', { status: 500 }));
      this.#server = createAdaptorServer(app) as ReturnType<typeof createServer>;
    } else {
      this.#server = createServer((request, response) => {
        this.#incoming(request)
          .then((incoming) => this.#route(incoming))
          .then((answer) => response.writeHead(answer.status, headersOf(answer)).end(answer.body.text))
          .catch((error: Error) => {
            this.log.push(error.message);
            if (!response.headersSent && !response.destroyed) response.writeHead(400).end();
          });
      });
    }
    this.url = await listen(this.#server);
    return this;
  }

  get ipnUrl(): string {
    return `${this.url}${this.#style.frontController ? '/index.php?route=ipn' : '/ipn'}`;
  }

  async place(): Promise<void> {
    const { identifier, total, token, frontController } = this.#style;
    const name = identifier(this.orders.size);
    const order: Order = {
      ...{ identifier: name, token: digits(`token of ${name}`, 32) },
      ...{ paid: false, effects: 0, mails: 0, invoice: null, charge: '' },
    };
    this.orders.set(order.identifier, order);
    const inQuery = `${this.ipnUrl}${frontController ? '&' : '?'}token=${order.token}`;
    const back = frontController ? 'index.php?route=thanks&' : 'thanks?';
    const fields = {
      ...{ public_key: this.#keys.publicKey, identifier: order.identifier, currency: 'USD', amount: total },
      ...{ details: 'Two paperbacks', ipn_url: token === 'path' ? `${this.ipnUrl}/${order.token}` : inQuery },
      ...{ success_url: `${this.url}/${back}order=${order.identifier}`, cancel_url: `${this.url}/cart` },
      ...{ site_logo: `${this.url}/logo.png`, customer_name: 'Ada', customer_email: 'ada@example.com' },
    };
    await initiate(this.#keys, fields);
  }

  probe(identifier: string): string {
    const order = this.orders.get(identifier);
    if (!order) return JSON.stringify({ status: 'unknown' });
    const { paid, effects, mails, invoice, charge } = order;
    return JSON.stringify({
      status: paid ? 'paid' : 'pending',
      total: this.#style.total,
      effects,
      mails,
      invoice,
      charge,
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return close(this.#server);
  }

  async #incoming(request: IncomingMessage): Promise<Incoming> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = 'GET', url = '/', headers } = request;
    return { method, url: new URL(url, this.url), headers, body: Buffer.concat(chunks) };
  }

  async #route(incoming: Incoming): Promise<Answer> {
    const { url, headers } = incoming;
    this.log.push(`${incoming.method} ${url.pathname}`);
    const page = url.searchParams.get('route') ?? url.pathname.split('/')[1];
    if (page !== 'ipn') {
      if (this.#style.sessions && page === 'thanks' && !headers['cookie']) {
        return { status: 302, body: NOTHING, headers: { location: '/login' } };
      }
      return { status: 200, body: PAGE };
    }
    const answer = await this.#ipn(incoming);
    return this.#style.sessions ? { ...answer, headers: { 'set-cookie': 'session=1; HttpOnly' } } : answer;
  }

  async #ipn(incoming: Incoming): Promise<Answer> {
    const { refusal, refusalBody, parse, otherMethod, ignored, accepted, acceptedBody, work } = this.#style;
    const refused = (status: number): Answer => ({ status, body: refusalBody });
    if (incoming.method !== 'POST') return refused(otherMethod);
    const fields = parse(incoming);
    if (typeof fields === 'number') return refused(fields);
    const { status, signature, identifier, amount, currency } = fields;
    if (!status || !signature || !identifier || !amount || !currency) return refused(refusal[0]);
    const given = this.#style.upperCasesFirst ? signature.toUpperCase() : signature;
    if (!same(given, sign(amount, identifier, this.#keys.secretKey))) return refused(refusal[1]);
    const order = this.orders.get(identifier);
    if (!order || !same(order.token, this.#tokenIn(incoming.url))) return refused(refusal[2]);
    if (status !== 'success') return { status: ignored, body: NOTHING };
    if (!this.#isTotal(amount) || currency !== 'USD') return refused(refusal[0]);
    if (work === 'after') {
      const wait = QUEUE_MS[this.#queued++ % QUEUE_MS.length];
      void sleep(wait).then(() => this.#payInTurn(order, fields));
      return { status: accepted, body: acceptedBody };
    }
    if (work === 'slow') await sleep(300);
    const outcome = await this.#payInTurn(order, fields);
    if (outcome === 'busy') return { status: 409, body: NOTHING };
    return { status: outcome === 'copy' ? this.#style.copy : accepted, body: acceptedBody };
  }

  #tokenIn(url: URL): string {
    const { token } = this.#style;
    return (token === 'path' ? url.pathname.split('/')[2] : url.searchParams.get('token')) ?? '';
  }

  #isTotal(amount: string): boolean {
    const { money, total } = this.#style;
    switch (money) {
      case 'text':
        return amount === total;
      case 'cents':
        return Math.round(Number(amount) * 100) === Math.round(Number(total) * 100);
      case 'number':
        return Number(amount) === Number(total);
      case 'decimal':
        return /^\d+(?:\.\d+)?$/.test(amount) && Math.abs(Number(amount) - Number(total)) < 0.001;
    }
  }

  async #payInTurn(order: Order, fields: Fields): Promise<'paid' | 'copy' | 'busy'> {
    const { concurrency } = this.#style;
    const running = this.#busy.get(order.identifier);
    if (concurrency === 'row') return this.#pay(order, fields);
    if (running && concurrency === 'rejected') return 'busy';
    const mine = (running ?? Promise.resolve()).then(async () => {
      const was = order.paid;
      await sleep(5);
      return was ? 'copy' : this.#pay(order, fields);
    });
    this.#busy.set(order.identifier, mine);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(order.identifier) === mine) this.#busy.delete(order.identifier);
    }
  }

  #pay(order: Order, { charge = '' }: Fields): 'paid' | 'copy' {
    if (order.paid) return 'copy';
    order.paid = true;
    order.effects++;
    order.charge = charge;
    if (this.#style.invoices) order.invoice = ++this.#invoices;
    const { mailsAfterMs } = this.#style;
    if (mailsAfterMs) {
      setTimeout(() => {
        order.mails++;
      }, mailsAfterMs).unref();
    }
    return 'paid';
  }
}

function headersOf({ body, headers }: Answer): Record<string, string> {
  return { ...(body.type && { 'content-type': body.type }), ...headers };
}
