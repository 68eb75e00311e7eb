import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Not the default key, with which an audit skips a case. */
export const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

/** The gateway settings of a shop. */
interface Keys {
  initiateUrl: string;
  publicKey: string;
  secretKey: string;
}

export interface Order {
  identifier: string;
  total: string;
  currency: string;
  token: string;
  paid: boolean;
  status: string;
  credited: number;
  charge: string;
  /** The session of its customer; empty without a browser. */
  session: string;
}

type Form = URLSearchParams;

/** The steps of an IPN handler: a mutant replaces one of them. */
export interface Handler {
  read(request: IncomingMessage): Promise<Buffer>;
  /** Whether each field is present exactly once, as plain text. */
  isWhole(form: Form, raw: string): boolean;
  secret(keys: Keys): string;
  isSigned(form: Form, secret: string, request: IncomingMessage): boolean;
  find(shop: Shop, form: Form, url: URL): Order | undefined | Promise<Order | undefined>;
  isToken(order: Order, url: URL): boolean;
  isAmount(order: Order, form: Form): boolean;
  isSuccess(form: Form): boolean;
  /** Handles another status. */
  onOther(order: Order, form: Form): void;
  /** Pays the order once. */
  pay(order: Order, form: Form): void | Promise<void>;
  /** @param session that of the browser; empty without a cookie */
  onReturn(order: Order | undefined, url: URL, session: string): void;
  onCancel(order: Order | undefined): void;
  /** Changes the fields of an initiate request. */
  initiate(fields: Record<string, string>, keys: Keys): Record<string, string>;
  headers: Record<string, string>;
  identifier(count: number): string;
  get(response: ServerResponse, keys: Keys): void;
  refuse(response: ServerResponse, form: Form, keys: Keys): void;
  accept(response: ServerResponse, form: Form): void;
  /** Sees each request for an IPN or a page, with its body. */
  see(request: IncomingMessage, body: Buffer): void;
  /** What the page of an order shows. */
  show(order: Order, keys: Keys): object;
}

export const sign = (amount: string, identifier: string, secret: string) =>
  createHmac('sha256', secret)
    .update(amount + identifier)
    .digest('hex')
    .toUpperCase();

/** Hexadecimal digits that an attacker cannot guess, the same in every run. */
const digits = (of: string, length: number) => createHash('sha256').update(of).digest('hex').slice(0, length);

const same = (one: string, other: string) => {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === others.length && timingSafeEqual(bytes, others);
};

const FIELDS = ['status', 'signature', 'identifier', 'data[amount]', 'data[currency][code]'];

/** A handler that follows every rule. */
export const GOOD: Handler = {
  read: (request) => bodyOf(request),
  isWhole: (form) => FIELDS.every((name) => form.getAll(name).length === 1 && form.get(name) !== ''),
  secret: ({ secretKey }) => secretKey,
  isSigned: (form, secret) =>
    same(
      form.get('signature') ?? '',
      sign(form.get('data[amount]') ?? '', form.get('identifier') ?? '', secret),
    ),
  find: (shop, form) => shop.orders.get(form.get('identifier') ?? ''),
  isToken: (order, url) => same(url.searchParams.get('token') ?? '', order.token),
  isAmount: (order, form) =>
    form.get('data[amount]') === order.total && form.get('data[currency][code]') === order.currency,
  isSuccess: (form) => form.get('status') === 'success',
  onOther: () => {},
  pay: (order, form) => {
    if (order.paid) return;
    order.paid = true;
    order.status = 'paid';
    order.credited++;
    order.charge = form.get('data[charge]') ?? '';
  },
  onReturn: () => {},
  onCancel: () => {},
  initiate: (fields) => fields,
  headers: {},
  identifier: (count) => digits(`order ${count}`, 20),
  get: (response) => response.writeHead(405).end('POST only'),
  refuse: (response) => response.writeHead(400).end('rejected'),
  accept: (response) => response.writeHead(200).end('OK'),
  see: () => {},
  show: ({ identifier, total, paid, status, credited, charge }) => ({
    ...{ identifier, total, paid, status, credited, charge },
  }),
};

/** A shop in this process, used over HTTP. */
export interface Shop extends AsyncDisposable {
  url: string;
  ipnUrl: string;
  orders: Map<string, Order>;
  /** Places an order as a customer would. */
  place: (session?: string) => Promise<void>;
  probe: (identifier: string) => string;
}

/** Listens on a free port. @returns the address */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

const MAX_BODY = 2 ** 21;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Starts a shop. */
export async function startShop(keys: Keys, changed: Partial<Handler> = {}): Promise<Shop> {
  const handler = { ...GOOD, ...changed };
  const shop: Shop = {
    ...{ url: '', ipnUrl: '', orders: new Map<string, Order>() },
    place: (session) => placeOrder(shop, keys, handler, session),
    probe: (identifier) => {
      const order = shop.orders.get(identifier);
      return JSON.stringify(order ? handler.show(order, keys) : { status: 'unknown' });
    },
    [Symbol.asyncDispose]: () => close(server),
  };
  const server = createServer((request, response) => {
    answer(shop, keys, handler, request, response).catch((error: Error) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(error.message);
    });
  });
  shop.url = await listen(server);
  shop.ipnUrl = `${shop.url}/ipn`;
  return shop;
}

async function answer(
  shop: Shop,
  keys: Keys,
  handler: Handler,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', shop.url);
  const body = await handler.read(request);
  const raw = body.toString();
  handler.see(request, body);
  const [, session = ''] = /\bsid=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
  if (url.pathname === '/paid') {
    // As in many shops, posted fields are treated like query parameters.
    for (const [name, value] of new URLSearchParams(raw)) url.searchParams.append(name, value);
    handler.onReturn(shop.orders.get(url.searchParams.get('order') ?? ''), url, session);
    response.end('thank you');
    return;
  }
  if (url.pathname === '/canceled') {
    handler.onCancel(shop.orders.get(url.searchParams.get('order') ?? ''));
    response.end('canceled');
    return;
  }
  if (url.pathname === '/order') {
    const known = session || digits(`session ${shop.orders.size}`, 32);
    response.setHeader('Set-Cookie', `sid=${known}`);
    await shop.place(known);
    response.end('ordered');
    return;
  }
  if (url.pathname.startsWith('/orders/')) {
    response.end(shop.probe(decodeURIComponent(url.pathname.slice('/orders/'.length))));
    return;
  }
  if (request.method !== 'POST') return handler.get(response, keys);
  const form = new URLSearchParams(raw);
  if (!handler.isWhole(form, raw) || !handler.isSigned(form, handler.secret(keys), request)) {
    return handler.refuse(response, form, keys);
  }
  const order = await handler.find(shop, form, url);
  if (!order || !handler.isToken(order, url)) return handler.refuse(response, form, keys);
  if (!handler.isSuccess(form)) {
    handler.onOther(order, form);
    return handler.accept(response, form);
  }
  if (!handler.isAmount(order, form)) return handler.refuse(response, form, keys);
  await handler.pay(order, form);
  handler.accept(response, form);
}

async function placeOrder(shop: Shop, keys: Keys, handler: Handler, session = ''): Promise<void> {
  const identifier = handler.identifier(shop.orders.size);
  // All tokens begin alike, because an attack that tries the first character may be on any order.
  const order: Order = {
    ...{ identifier, total: '49.90', currency: 'USD', token: `7${digits(`token of ${identifier}`, 31)}` },
    ...{ paid: false, status: 'pending', credited: 0, charge: '', session },
  };
  shop.orders.set(identifier, order);
  const fields = {
    ...{ public_key: keys.publicKey, identifier, currency: order.currency, amount: order.total },
    details: 'Two paperbacks',
    ipn_url: `${shop.ipnUrl}?token=${order.token}`,
    success_url: `${shop.url}/paid?order=${identifier}`,
    cancel_url: `${shop.url}/canceled?order=${identifier}`,
    site_logo: `${shop.url}/logo.png`,
    ...{ customer_name: 'Ada', customer_email: 'ada@example.com' },
  };
  const body = new URLSearchParams(handler.initiate(fields, keys));
  const answered = await fetch(keys.initiateUrl, { method: 'POST', body, headers: handler.headers });
  const { success, message } = (await answered.json()) as { success?: string; message?: string };
  if (success !== 'ok') throw new Error(message);
}
