// A shop in Node: correct, or with one flaw of a class of `gateway-sim audit`.
//
//   node shop.mjs [--flaw <class>]: listens on a free port, and prints its address on the first line. The emulator comes
// from GATEWAY_SIM_INITIATE_URL, GATEWAY_SIM_PUBLIC_KEY and GATEWAY_SIM_SECRET_KEY.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { flaw } = parseArgs({ options: { flaw: { type: 'string', default: '' } } }).values;
const { GATEWAY_SIM_INITIATE_URL, GATEWAY_SIM_PUBLIC_KEY, GATEWAY_SIM_SECRET_KEY } = process.env;
const [TOTAL, CURRENCY, LIMIT] = ['49.90', 'USD', 100 * 1024];
const FIELDS = ['status', 'signature', 'identifier', 'data[amount]', 'data[currency][code]'];
const orders = new Map();
let base = '';

const sign = (amount, identifier, secret = GATEWAY_SIM_SECRET_KEY) =>
  createHmac('sha256', secret)
    .update(amount + identifier)
    .digest('hex')
    .toUpperCase();

function same(one, other) {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === others.length && timingSafeEqual(bytes, others);
}

async function place() {
  const identifier = flaw === 'splice' ? `S-${orders.size}` : randomBytes(10).toString('hex');
  const token = randomBytes(16).toString('hex');
  orders.set(identifier, { identifier, token, status: 'pending', effects: 0 });
  const ipnUrl = `${base}/ipn?token=${token}&order=${identifier}`;
  const fields = {
    ...{ public_key: GATEWAY_SIM_PUBLIC_KEY, identifier, currency: CURRENCY, amount: TOTAL },
    ...{ details: 'Two paperbacks', ipn_url: ipnUrl, cancel_url: `${base}/cart` },
    success_url: flaw === 'M' ? ipnUrl : `${base}/thanks?order=${identifier}`,
    ...{ site_logo: `${base}/logo.png`, customer_name: 'Ada', customer_email: 'ada@example.com' },
  };
  const body = new URLSearchParams(fields);
  const { success, message } = await (await fetch(GATEWAY_SIM_INITIATE_URL, { method: 'POST', body })).json();
  if (success !== 'ok') throw new Error(message);
}

function isSigned(form, headers) {
  const [amount, identifier, signature] = [form['data[amount]'], form.identifier, form.signature ?? ''];
  switch (flaw) {
    case 'A':
      return true;
    case 'B':
      if (['', 'null'].includes(signature)) return true;
      break;
    case 'C':
      if (signature === sign(amount, identifier, '')) return true;
      break;
    case 'H':
      if (form.status !== 'success') return true;
      break;
    case 'I':
      if (headers['x-forwarded-for'] === '127.0.0.1') return true;
      break;
    case 'J':
      if (signature !== '' && Number(signature) === 0) return true;
  }
  return same(signature, sign(amount, identifier));
}

async function pay(order) {
  const isPaid = order.status === 'paid';
  if (flaw === 'once') await sleep(30);
  else if (isPaid) return;
  order.status = 'paid';
  order.effects++;
}

function find(form, url) {
  if (flaw === 'E') return orders.get(url.searchParams.get('order'));
  if (flaw === 'K' && form.identifier.includes("'")) throw new Error('unrecognized token in SQL');
  return orders.get(form.identifier);
}

/** The response to an IPN: status and text. */
async function handle(raw, url, headers) {
  const sent = new URLSearchParams(raw);
  const form = Object.fromEntries([...sent].filter(([name]) => sent.getAll(name).length === 1));
  const needed = ['A', 'B', 'H'].includes(flaw) ? ['identifier', 'data[amount]'] : FIELDS;
  if (needed.some((name) => !form[name]) || !isSigned(form, headers)) {
    return [400, flaw === 'L' ? sign(form['data[amount]'] ?? '', form.identifier ?? '') : 'rejected'];
  }
  const order = find(form, url);
  if (!order) return [404, 'rejected'];
  const hasToken = ['G', 'splice'].includes(flaw) || same(url.searchParams.get('token') ?? '', order.token);
  if (!hasToken) return [404, 'rejected'];
  if (form.status !== 'success' && flaw !== 'robustness') {
    if (flaw === 'H') order.status = 'failed';
    return [200, 'noted'];
  }
  const isTotal = form['data[amount]'] === TOTAL && form['data[currency][code]'] === CURRENCY;
  if (!isTotal && flaw !== 'D') return [400, 'rejected'];
  await pay(order);
  return [200, 'OK'];
}

async function answer({ method, url: path, headers }, bodyOf) {
  const url = new URL(path, base);
  if (url.pathname.startsWith('/orders/')) {
    const { token, ...order } = orders.get(decodeURIComponent(url.pathname.slice(8))) ?? {
      status: 'unknown',
    };
    return [200, JSON.stringify({ ...order, total: TOTAL })];
  }
  if (url.pathname === '/order' && method === 'POST') {
    await place();
    return [200, 'ordered'];
  }
  if (url.pathname === '/thanks') {
    const order = orders.get(url.searchParams.get('order'));
    if (flaw === 'F' && order) await pay(order);
    return [200, 'thank you'];
  }
  if (url.pathname !== '/ipn') return [404, ''];
  if (method !== 'POST') return [405, ''];
  const body = await bodyOf();
  return body.length > LIMIT ? [413, ''] : handle(body.toString(), url, headers);
}

/** Reads a body to its end. With the flaw `dies`, the error of an aborted request is not caught. */
async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const server = createServer((request, response) => {
  const answered = answer(request, () => read(request)).then(([status, text]) =>
    response.writeHead(status, { 'content-type': 'text/plain' }).end(text),
  );
  if (flaw === 'dies') return;
  answered.catch((error) => response.writeHead(500).end(error.message));
});
server.listen(0, '127.0.0.1', () => {
  base = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${base}\n`);
});
