// Sends a limited number of POSTs over keep-alive connections. Raw sockets save CPU time in the client.
import { connect } from 'node:net';

const CONNECTIONS = 16;
/** The placeholder for the number of a request in its body. */
export const NUMBER = '0000000000';
const BOUNDARY = '----gateway-sim-bench-0123456789';

/** The fields of a payment. */
export const PAYMENT = {
  identifier: `order-${NUMBER}`,
  currency: 'USD',
  amount: '100.00',
  details: 'Two paperbacks and cards',
  ipn_url: 'http://127.0.0.1:3000/ipn',
  success_url: 'http://127.0.0.1:3000/thanks?order=1',
  cancel_url: 'http://127.0.0.1:3000/cart',
  site_logo: 'http://127.0.0.1:3000/logo.png',
  checkout_theme: 'dark',
  customer_name: 'Ada Lovelace',
  customer_email: 'ada@example.com',
};

/** The bytes of an initiate request. Its form has 415 bytes. */
export function initiateRequest({
  port,
  publicKey,
  kind = 'form',
  prefix = 'order',
  ipnUrl = PAYMENT.ipn_url,
}) {
  const identifier = `${prefix}-${NUMBER}`;
  const fields = { public_key: publicKey, ...PAYMENT, identifier, ipn_url: ipnUrl };
  const [type, body] =
    kind === 'multipart'
      ? [`multipart/form-data; boundary=${BOUNDARY}`, multipart(fields)]
      : ['application/x-www-form-urlencoded', new URLSearchParams(fields).toString()];
  return postRequest(port, '/sandbox/payment/initiate', type, body);
}

function multipart(fields) {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}

/** The bytes of a POST. */
export function postRequest(port, path, type, body, headers = {}) {
  const all = {
    Host: `127.0.0.1:${port}`,
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

export function settleRequest(port, reference) {
  return postRequest(port, `/_sim/payments/${reference}/settle`, 'application/json', '{"outcome":"approve"}');
}

/** The identifier of the payment that the request with this number creates. */
export const reference = (number) => `order-${padded(number)}`;

/** A copy of a request, with this number. */
export function numbered(request, number) {
  const own = Buffer.from(request);
  own.write(padded(number), own.indexOf(NUMBER), 'latin1');
  return own;
}

const padded = (number) => String(number).padStart(NUMBER.length, '0');

/**
 * Sends requests and reads every response, until `count` are sent or `seconds` have passed.
 *
 * @param options.request the bytes of a request. NUMBER is replaced by a different number each time, counted from
 *   `first`
 * @param options.expected the text that every response must contain
 * @returns the number of responses, the rate per second, and the sorted latencies in ms
 */
export async function load({
  port,
  request,
  count,
  seconds = Number.POSITIVE_INFINITY,
  first = 0,
  expected = '"success":"ok"',
}) {
  const latencies = new Float64Array(count);
  let sent = 0;
  const started = performance.now();
  const deadline = started + seconds * 1_000;
  const work = async () => {
    const lane = await openLane(port, expected);
    const own = Buffer.from(request);
    const at = own.indexOf(NUMBER);
    while (sent < count && performance.now() < deadline) {
      const index = sent++;
      if (at >= 0) own.write(padded(first + index), at, 'latin1');
      const sentAt = performance.now();
      await lane.ask(own);
      latencies[index] = performance.now() - sentAt;
    }
    lane.close();
  };
  await Promise.all(Array.from({ length: Math.min(CONNECTIONS, count) }, work));
  const taken = (performance.now() - started) / 1_000;
  return { answered: sent, rate: sent / taken, latencies: latencies.subarray(0, sent).sort() };
}

/**
 * Opens a keep-alive connection for one request at a time.
 *
 * @returns `ask`: resolves with the response, head and body; rejects if it does not contain `expected`
 */
export function openLane(port, expected = '') {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let received = Buffer.alloc(0);
    let answered = () => {};
    let failed = reject;
    socket.on('error', (error) => failed(error));
    socket.on('close', () => failed(new Error('the connection was closed')));
    socket.on('data', (chunk) => {
      received = received.length ? Buffer.concat([received, chunk]) : chunk;
      if (!isWhole(received)) return;
      const answer = received;
      received = Buffer.alloc(0);
      if (answer.includes(expected)) answered(answer);
      else socket.destroy(new Error(`unexpected answer: ${answer.toString().slice(0, 600)}`));
    });
    const ask = (bytes) =>
      new Promise((resolveAnswer, rejectAnswer) => {
        answered = resolveAnswer;
        failed = rejectAnswer;
        socket.write(bytes);
      });
    socket.on('connect', () => resolve({ ask, close: () => socket.end() }));
  });
}

function isWhole(received) {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /content-length: (\d+)/i.exec(received.latin1Slice(0, end));
  return length ? received.length >= end + 4 + Number(length[1]) : received.includes('\r\n0\r\n\r\n', end);
}
