// The servers that are compared: how to start each of them, how to create a record, and how to pay.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { initiateRequest, NUMBER, numbered, openLane, PAYMENT, postRequest } from './load.mjs';
import { PEERS } from './peer-packages.mjs';
import { BINARY, inFolder, spawned, whyEnded } from './processes.mjs';
import { OURS } from './way.mjs';

const BARE = fileURLToPath(new URL('bare-gateway.mjs', import.meta.url));
const PATIENCE_MS = 60_000;
const FORM = 'application/x-www-form-urlencoded';
const KEYS = { publicKey: 'pub_sim_example_not_a_real_key', secretKey: 'sec_sim_example_not_a_real_key' };

/** Each request has its own key, because emulate accepts only 5,000 requests per key and hour. */
function stripeRequest(port, path, body) {
  return postRequest(port, path, FORM, body, { Authorization: `Bearer sk_test_${NUMBER}` });
}

const intent = (port) =>
  stripeRequest(
    port,
    '/v1/payment_intents',
    'amount=10000&currency=usd&description=Two+paperbacks+and+cards&payment_method=pm_card_visa',
  );

/** emulate's payment: an intent, its confirmation, and the webhook about its success. */
const STRIPE_WAY = {
  create: ({ port }, number) => numbered(intent(port), number),
  approve({ port }, number, created) {
    const [, id] = /"id":"(pi_[^"]+)"/.exec(created.toString()) ?? [];
    return {
      request: numbered(stripeRequest(port, `/v1/payment_intents/${id}/confirm`, ''), number),
      name: id,
    };
  },
  verify: () => (body) => JSON.parse(body).data.object.id,
};

/** Our server and the peers. `prepare` writes what the server reads at its start. */
export function serversOf(scripts) {
  const initiated = { request: initiateRequest, expected: '"success":"ok"', way: OURS };
  const ours = (...options) => ({
    ...initiated,
    ...KEYS,
    args: (port) => [BINARY, 'start', '--quiet', '--port', String(port), ...keyOptions(), ...options],
  });
  return {
    'bare node:http': {
      ...initiated,
      secretKey: 'sec_bare',
      args: (port) => [BARE, String(port)],
      does: 'reads a form and answers; checks nothing, kept in memory',
    },
    'gateway-sim': { ...ours(), does: 'checks 12 fields, written to the journal before the answer' },
    'gateway-sim --in-memory': { ...ours('--in-memory'), does: 'checks 12 fields, kept in memory' },
    [`emulate ${PEERS.emulate}`]: {
      args: (port) => [
        ...[scripts.emulate, 'start', '--service', 'stripe', '--port', String(port)],
        ...['--seed', 'seed.json'],
      ],
      prepare: (folder, receiver) => {
        const webhook = { url: receiver.url, events: ['payment_intent.succeeded'], secret: 'whsec_bench' };
        return writeFile(join(folder, 'seed.json'), JSON.stringify({ stripe: { webhooks: [webhook] } }));
      },
      request: ({ port }) => intent(port),
      expected: '"object":"payment_intent"',
      way: STRIPE_WAY,
      does: 'a payment intent of 4 fields, kept in memory',
    },
    [`json-server ${PEERS['json-server']}`]: {
      args: (port) => [scripts['json-server'], '--host', '127.0.0.1', '--port', String(port), 'db.json'],
      prepare: (folder) => writeFile(join(folder, 'db.json'), '{"payments":[]}'),
      request: ({ port }) => postRequest(port, '/payments', 'application/json', JSON.stringify(PAYMENT)),
      expected: '"id"',
      does: 'any JSON, unchecked; the whole file is written each time',
    },
  };
}

const keyOptions = () => ['--public-key', KEYS.publicKey, '--secret-key', KEYS.secretKey];

/**
 * Runs a server until `use` is over.
 *
 * @returns the result of `use`, which gets the port, the keys, the process, and the ms from spawn to the first created
 *   record
 */
export function withServer(server, receiver, use) {
  return inFolder(async (folder) => {
    await server.prepare?.(folder, receiver);
    const port = await freePort();
    const { publicKey, secretKey } = server;
    return spawned(server.args(port), { cwd: folder, signal: 'SIGKILL' }, async ({ child, startedAt }) => {
      child.stdout.resume();
      const running = { port, child, publicKey, secretKey };
      await Promise.race([firstCreated(running, server), whyEnded(child)]);
      return use({ ...running, startMs: performance.now() - startedAt });
    });
  });
}

async function firstCreated(running, server) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const lane = await openLane(running.port, server.expected).catch(() => undefined);
    if (lane) {
      await lane.ask(server.request(running));
      return lane.close();
    }
    if (performance.now() > deadline) throw new Error('it did not answer within a minute');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
