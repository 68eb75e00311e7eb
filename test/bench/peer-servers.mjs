// The servers that are compared: how to start each of them, and how to create a record.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { initiateRequest, NUMBER, openLane, PAYMENT, postRequest } from './load.mjs';
import { PEERS } from './peer-packages.mjs';
import { BINARY, inFolder, spawned, whyEnded } from './processes.mjs';

const BARE = fileURLToPath(new URL('bare.mjs', import.meta.url));
const PATIENCE_MS = 60_000;
const FORM = 'application/x-www-form-urlencoded';

const initiate = (port) => initiateRequest({ port, publicKey: 'pub_sim_example_not_a_real_key' });

/** Each request has its own key, because emulate accepts only 5,000 requests per key and hour. */
function paymentIntent(port) {
  const body = 'amount=10000&currency=usd&description=Two+paperbacks+and+cards';
  const headers = { Authorization: `Bearer sk_test_${NUMBER}` };
  return postRequest(port, '/v1/payment_intents', FORM, body, headers);
}

/** Our server and the peers. `fill` stores records before the start, if the server reads them from a file. */
export function serversOf(scripts) {
  const ours = (...options) => ({
    args: (port) => [BINARY, 'start', '--quiet', '--port', String(port), ...options],
    request: initiate,
    expected: '"success":"ok"',
  });
  return {
    'bare node:http': {
      args: (port) => [BARE, String(port)],
      request: initiate,
      expected: '"success":"ok"',
      does: 'reads a form and answers; keeps nothing',
      keepsNothing: true,
    },
    'gateway-sim': { ...ours(), does: 'checks 12 fields, written to the journal before the answer' },
    'gateway-sim --in-memory': { ...ours('--in-memory'), does: 'checks 12 fields, kept in memory' },
    [`emulate ${PEERS.emulate.version}`]: {
      ...scripts.emulate,
      args: (port) => [scripts.emulate.script, 'start', '--service', 'stripe', '--port', String(port)],
      request: paymentIntent,
      expected: '"object":"payment_intent"',
      does: 'a payment intent of 3 fields, kept in memory',
    },
    [`json-server ${PEERS['json-server'].version}`]: {
      ...scripts['json-server'],
      args: (port) => [
        scripts['json-server'].script,
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        'db.json',
      ],
      request: (port) => postRequest(port, '/payments', 'application/json', JSON.stringify(PAYMENT)),
      expected: '"id"',
      does: 'any JSON, unchecked; the whole file is written each time',
      fill: (folder, count) => {
        const payments = Array.from({ length: count }, (_, id) => ({ ...PAYMENT, id: String(id) }));
        return writeFile(join(folder, 'db.json'), JSON.stringify({ payments }));
      },
    },
  };
}

/**
 * Runs a server until `use` is over.
 *
 * @param stock the number of records for `fill`
 * @returns the result of `use`, which gets the port, the process, and the ms from spawn to the first created record
 */
export function withServer(server, use, stock = 0) {
  if (server.problem) throw new Error(server.problem);
  return inFolder(async (folder) => {
    await server.fill?.(folder, stock);
    const port = await freePort();
    return spawned(server.args(port), { cwd: folder, signal: 'SIGKILL' }, async ({ child, startedAt }) => {
      child.stdout.resume();
      await Promise.race([firstCreated(port, server), whyEnded(child)]);
      return use({ port, child, startMs: performance.now() - startedAt });
    });
  });
}

async function firstCreated(port, server) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const lane = await openLane(port, server.expected).catch(() => undefined);
    if (lane) {
      await lane.ask(server.request(port));
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
