// IPNs from due to arrived, against a bare client that posts the same bytes to the same receiver.
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { initiateRequest, load, NUMBER, postRequest } from './load.mjs';
import { inFolder, timed, withSim } from './processes.mjs';
import { atLeast, atMost, median, perSecond } from './rows.mjs';

const ROUNDS = 3;
const COUNT = 10_000;
const IDLE_COUNT = 300;
const POSTER = fileURLToPath(new URL('poster.mjs', import.meta.url));

/** A receiver in this process that notes when each IPN had arrived. */
async function startReceiver() {
  const arrivals = [];
  let body = '';
  let onArrival = () => {};
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      arrivals.push(performance.now());
      body = Buffer.concat(chunks).toString();
      response.end('OK');
      onArrival();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}/ipn`,
    arrivals,
    lastBody: () => body,
    close: () => new Promise((resolve) => server.close(resolve)),
    reached: (count) =>
      new Promise((resolve, reject) => {
        const give = () => reject(new Error(`${arrivals.length} of ${count} IPNs arrived within a minute`));
        const limit = setTimeout(give, 60_000);
        onArrival = () => {
          if (arrivals.length < count) return;
          clearTimeout(limit);
          resolve();
        };
        onArrival();
      }),
  };
}

/** Arrivals per second, from the first to the last. */
const rateOf = (arrivals) => ((arrivals.length - 1) / (arrivals.at(-1) - arrivals[0])) * 1_000;

/** A port on which nobody listens now. */
async function closedUrl() {
  const receiver = await startReceiver();
  await receiver.close();
  return receiver.url;
}

const settleRequest = (port, reference, delivery) =>
  postRequest(
    port,
    `/_sim/payments/${reference}/settle`,
    'application/json',
    JSON.stringify({ outcome: 'approve', delivery }),
  );

/**
 * Payments whose first attempt found nobody there, on an emulator that then starts again beside a receiver: all are
 * due at once, and nothing but sending and recording is measured.
 */
async function courierRate() {
  const refused = await closedUrl();
  return inFolder(async (folder) => {
    // Tried again each second, so that none is given up before the receiver is there.
    const options = ['--ipn-schedule', '1s', '--ipn-retries', '100'];
    await withSim(
      folder,
      async ({ port, publicKey }) => {
        const request = initiateRequest({ port, publicKey, kind: 'urlencoded', ipnUrl: refused });
        await load({ port, request, count: COUNT });
        await load({
          port,
          request: settleRequest(port, `order-${NUMBER}`, 'redirect-then-ipn'),
          count: COUNT,
          expected: '"succeeded"',
        });
      },
      { options },
    );
    const receiver = await startReceiver();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await withSim(folder, () => receiver.reached(COUNT), {
      options: [...options, '--forward-ipn', receiver.url],
    });
    const real = rateOf(receiver.arrivals);
    receiver.arrivals.length = 0;
    await timed(process.execPath, [POSTER, receiver.url, receiver.lastBody(), String(COUNT)]);
    const bare = rateOf(receiver.arrivals);
    await receiver.close();
    return { real, bare };
  });
}

/** One payment after the other: ms from sending the settle request to the arrival of its IPN. */
async function idleLatency() {
  const receiver = await startReceiver();
  const latencies = await inFolder((folder) =>
    withSim(folder, async ({ port, publicKey }) => {
      const request = initiateRequest({ port, publicKey, kind: 'urlencoded', ipnUrl: receiver.url });
      const measured = [];
      for (let number = 0; number < IDLE_COUNT; number++) {
        await load({ port, request, count: 1, first: number });
        const reference = `order-${String(number).padStart(NUMBER.length, '0')}`;
        const started = performance.now();
        await fetch(`http://127.0.0.1:${port}/_sim/payments/${reference}/settle`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"outcome":"approve"}',
        });
        measured.push(receiver.arrivals.at(-1) - started);
      }
      return measured;
    }),
  );
  await receiver.close();
  const warm = latencies.slice(50).sort((a, b) => a - b);
  return { p50: median(warm), p99: warm[Math.floor(warm.length * 0.99)] };
}

export async function ipns() {
  const rounds = [];
  for (let number = 0; number < ROUNDS; number++) rounds.push(await courierRate());
  const rate = (name) => median(rounds.map((measured) => measured[name]));
  const { p50, p99 } = await idleLatency();
  return [
    atLeast(
      'IPNs due to arrived, of a bare client',
      median(rounds.map(({ real, bare }) => real / bare)),
      0.5,
      '',
      `${perSecond(rate('real'))}, ${perSecond(rate('bare'))}`,
    ),
    atMost('settle to arrival when idle, p99', p99, 5, ' ms', `median ${p50.toFixed(2)} ms`),
  ];
}
