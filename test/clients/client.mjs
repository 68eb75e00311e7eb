// A shop with a hard-coded gateway host, like published clients. It places one order, prints the outcome as a line of
// JSON with its port for the IPN, and then whether the order is paid. ENCODING, JUDGE, READ_ERROR and RECEIVE choose
// its habits.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import https from 'node:https';

const GATEWAY = 'https://pay.example.com';
const SHOP = 'https://shop.example';
const ORDER = 'NODE-1001';
const { env } = process;
const total = env.TOTAL ?? '49.90';
const fields = {
  ...{ public_key: env.PUBLIC_KEY, identifier: ORDER, currency: 'USD', amount: total, details: 'Order 1001' },
  ipn_url: `${SHOP}/ipn?order=${ORDER}&from=gateway`,
  ...{
    success_url: `${SHOP}/thanks?order=${ORDER}`,
    cancel_url: `${SHOP}/cart`,
    site_logo: `${SHOP}/logo.png`,
  },
  ...{ customer_name: 'Ada', customer_email: 'ada@example.com' },
};

function form() {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return body;
}

const url = `${GATEWAY}/sandbox/payment/initiate`;
const json = { 'Content-Type': 'application/json' };
const ENCODINGS = {
  urlencoded: () => fetch(url, { method: 'POST', body: new URLSearchParams(fields) }),
  multipart: () => fetch(url, { method: 'POST', body: form() }),
  json: () => fetch(url, { method: 'POST', headers: json, body: JSON.stringify(fields) }),
  // Like axios.
  'json-over-https': () =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ ...fields, amount: Number(total) });
      const request = https.request(url, { method: 'POST', headers: json }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (part) => (text += part));
        incoming.on('end', () => resolve({ status: incoming.statusCode, json: () => JSON.parse(text) }));
      });
      request.on('error', reject).end(body);
    }),
};
const JUDGES = {
  'success-ok': ({ success }) => success === 'ok',
  'success-present': (answer) => 'success' in answer && answer.url !== undefined,
  'url-alone': (answer) => Boolean(answer.url),
  'error-truthy': ({ error }) => !error,
  'error-set': (answer) => answer.error === undefined,
};
const READERS = {
  message: ({ message }) => message,
  'error-first': ({ error, message }) => error ?? message,
  'errors-first': ({ errors, message }) => (Array.isArray(errors) ? errors.join('; ') : message),
};
const RECEIVERS = {
  'bracket-keys': (body) => {
    const read = new URLSearchParams(body);
    const { status, identifier, signature } = Object.fromEntries(read);
    const [amount, trx] = ['data[amount]', 'data[payment_trx]'].map((name) => read.get(name));
    return { status, identifier, signature, amount, trx };
  },
  // Like qs and PHP.
  nested: (body) => {
    const ipn = Object.create(null);
    for (const [name, value] of new URLSearchParams(body)) {
      const path = name.split(/[[\]]+/).filter(Boolean);
      const last = path.pop();
      let at = ipn;
      for (const key of path) at = at[key] ??= Object.create(null);
      at[last] = value;
    }
    return { ...ipn, amount: ipn.data.amount, trx: ipn.data.payment_trx };
  },
  json: (body) => {
    const ipn = JSON.parse(body);
    return { ...ipn, amount: ipn.data.amount, trx: ipn.data.payment_trx };
  },
};

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  const { status, identifier, signature, amount, trx } = RECEIVERS[env.RECEIVE](body);
  const expected = createHmac('sha256', env.SECRET_KEY)
    .update(amount + identifier)
    .digest('hex')
    .toUpperCase();
  const isSigned =
    signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
  const isOurs = identifier === ORDER && Math.round(Number(amount) * 100) === Math.round(Number(total) * 100);
  const paid =
    isSigned && isOurs && status === 'success' && Boolean(trx) && request.url.includes('from=gateway');
  response.writeHead(paid ? 200 : 400).end('{"received":true}');
  say({ paid, host: request.headers.host });
  receiver.close();
});
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));

const response = await ENCODINGS[env.ENCODING]();
const answer = await response.json();
if (JUDGES[env.JUDGE](answer)) say({ redirect: answer.url, port: receiver.address().port });
else {
  say({ refused: READERS[env.READ_ERROR](answer) });
  receiver.close();
}
