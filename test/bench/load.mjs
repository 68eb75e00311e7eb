// A bounded load of POSTs over keep-alive connections: raw sockets, so that the client costs as little as can be.
import { connect } from 'node:net';

const CONNECTIONS = 16;
/** Stands in the body where each request gets a number of its own. */
export const NUMBER = '0000000000';
const BOUNDARY = '----gateway-sim-bench-0123456789';

/** The bytes of one initiate: 415 of body as a form. */
export function initiateRequest({ port, publicKey, kind, ipnUrl = 'http://127.0.0.1:3000/ipn' }) {
  const fields = {
    public_key: publicKey,
    identifier: `order-${NUMBER}`,
    currency: 'USD',
    amount: '100.00',
    details: 'Two paperbacks and cards',
    ipn_url: ipnUrl,
    success_url: 'http://127.0.0.1:3000/thanks?order=1',
    cancel_url: 'http://127.0.0.1:3000/cart',
    site_logo: 'http://127.0.0.1:3000/logo.png',
    checkout_theme: 'dark',
    customer_name: 'Ada Lovelace',
    customer_email: 'ada@example.com',
  };
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
export function postRequest(port, path, type, body) {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/**
 * Sends `count` requests and reads every answer.
 *
 * @param options.request the bytes to send each time, with NUMBER counted up from `first` where it stands in them
 * @param options.expected what every answer must contain
 * @returns requests per second, and the latency in ms that 99 % stayed under
 */
export async function load({ port, count, request, first = 0, expected = '"success":"ok"' }) {
  const latencies = new Float64Array(count);
  let sent = 0;
  const started = performance.now();
  const lanes = Array.from({ length: CONNECTIONS }, () => {
    const own = Buffer.from(request);
    const at = own.indexOf(NUMBER);
    return lane(port, expected, () => {
      if (sent >= count) return undefined;
      const index = sent++;
      if (at >= 0) own.write(String(first + index).padStart(NUMBER.length, '0'), at, 'latin1');
      return { bytes: own, answered: (ms) => (latencies[index] = ms) };
    });
  });
  await Promise.all(lanes);
  const seconds = (performance.now() - started) / 1_000;
  latencies.sort();
  return { rate: count / seconds, p99: latencies[Math.floor(count * 0.99)] };
}

function lane(port, expected, next) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let current;
    let sentAt = 0;
    let received = Buffer.alloc(0);
    const send = () => {
      current = next();
      if (!current) return void socket.end(resolve);
      sentAt = performance.now();
      socket.write(current.bytes);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received = received.length ? Buffer.concat([received, chunk]) : chunk;
      if (!isWhole(received)) return;
      if (!received.includes(expected)) {
        return void socket.destroy(new Error(`unexpected answer: ${received.toString().slice(0, 600)}`));
      }
      current.answered(performance.now() - sentAt);
      received = Buffer.alloc(0);
      send();
    });
  });
}

function isWhole(received) {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /content-length: (\d+)/i.exec(received.latin1Slice(0, end));
  return length ? received.length >= end + 4 + Number(length[1]) : received.includes('\r\n0\r\n\r\n', end);
}
