// Measures one round of requests, or several servers in turn.
import { load } from './load.mjs';
import { processorMs } from './processes.mjs';
import { median, quantile } from './rows.mjs';

const ROUNDS = 7;
const COUNT = 10_000;
const WARM_UP = 10_000;

/** The number of the next request: each request of this process has a different one. */
let next = 1;

/**
 * Sends a round of requests to a server.
 *
 * @returns requests per second, latencies in ms, and the server's CPU time per request in µs
 */
export async function round(server, request, options = {}) {
  const first = next;
  next += options.count ?? COUNT;
  const before = processorMs(server);
  const own = process.cpuUsage();
  const started = performance.now();
  const sent = await load({ port: server.port, request, count: COUNT, ...options, first });
  const { user, system } = process.cpuUsage(own);
  return {
    rate: sent.rate,
    p99: quantile(sent.latencies, 0.99),
    processorUs: ((processorMs(server) - before) / sent.answered) * 1_000,
    // If this is close to 1, the client limits the rate.
    clientShare: (user + system) / 1_000 / (performance.now() - started),
  };
}

/** Removes the records of earlier rounds from an emulator, so that all rounds start with the same state. */
export async function emptied(sim) {
  const answer = await fetch(`${sim.url}/_sim/reset`, { method: 'POST' });
  if (!answer.ok) throw new Error(`the reset was answered with ${answer.status}`);
}

/**
 * Measures servers in turn: one round for each, then the next round for each.
 *
 * @param players by name: `server`, `request`, and `prepare`, which is called before each round
 * @returns `of(name, value)`: the median of a value over the rounds; `ratios(a, b, value)`: its ratio in each round
 */
export async function takeTurns(players, rounds = ROUNDS) {
  const entries = Object.entries(players);
  for (const [, { server, request }] of entries) await round(server, request, { count: WARM_UP });
  const results = [];
  for (let number = 0; number < rounds; number++) {
    const result = {};
    for (const [name, { server, request, prepare }] of entries) {
      await prepare?.(server);
      result[name] = await round(server, request);
    }
    results.push(result);
  }
  const all = (name, value) => results.map((result) => result[name][value]);
  return {
    all,
    of: (name, value) => median(all(name, value)),
    ratios: (name, other, value) => results.map((result) => result[name][value] / result[other][value]),
  };
}
