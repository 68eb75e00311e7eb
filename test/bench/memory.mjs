// The memory per payment, and the time of a start with many payments.
import { cp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { initiateRequest, load } from './load.mjs';
import { inFolder, residentBytes, running, stateFolder, withFreshSim, withSim } from './processes.mjs';
import { measured, median, ms } from './rows.mjs';

/** How many payments a large store has. */
export const MANY = 100_000;
const ROUNDS = 5;
const MEMORY_ROUNDS = 3;
const FILES = ['db.json', 'journal.jsonl'];

/** Parses db.json, and the object in each line of the journal, with JSON.parse. */
const PARSE = `
  const { readFileSync } = require('node:fs');
  const [snapshot, journal] = process.argv.slice(1).map((file) => readFileSync(file, 'utf8'));
  JSON.parse(snapshot);
  for (const line of journal.split('\\n'))
    if (line) JSON.parse(line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1));
  console.log('{}');`;

/** The resident memory that newly initiated payments add, which includes the request log. */
export async function memory() {
  const rounds = [];
  for (let number = 0; number < MEMORY_ROUNDS; number++) {
    const bytes = await withFreshSim(async (sim) => {
      const before = residentBytes(sim);
      await fill(sim);
      return residentBytes(sim) - before;
    });
    rounds.push(bytes / MANY / 1024);
  }
  return [
    measured('resident memory per payment, with its request log', rounds, { atMost: 1.6, unit: ' KB' }),
  ];
}

/** Initiates many payments. Their identifiers are not those of a later load. */
export const fill = (sim) =>
  load({ port: sim.port, request: initiateRequest({ ...sim, prefix: 'stock' }), count: MANY });

/** The time to read a state after a stop, and after a kill, which leaves a journal. */
export function reload() {
  return inFolder(async (stopped) => {
    await withSim(stopped, fill);
    return inFolder(async (killed) => {
      await withSim(killed, fill, 'SIGKILL');
      return [await reloadRow('a stop', stopped), await reloadRow('kill -9', killed)];
    });
  });
}

/** The start with the payments, compared with JSON.parse of the same files. */
async function reloadRow(what, folder) {
  const files = FILES.map((name) => join(stateFolder(folder), name));
  const rounds = [];
  for (let number = 0; number < ROUNDS; number++) {
    const start = await inFolder(async (copy) => {
      await cp(stateFolder(folder), stateFolder(copy), { recursive: true });
      return withSim(copy, ({ readyMs }) => readyMs, 'SIGKILL');
    });
    const parse = await running(['-e', PARSE, ...files], {}, ({ readyMs }) => readyMs);
    rounds.push({ start, parse, ratio: start / parse });
  }
  const of = (name) => median(rounds.map((round) => round[name]));
  const bytes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const size = Math.round(bytes.reduce((sum, length) => sum + length, 0) / 1e6);
  return measured(
    `start with 100,000 payments after ${what}, relative to JSON.parse`,
    rounds.map(({ ratio }) => ratio),
    { atMost: 1.7, unit: 'x' },
    `${ms(of('start'))} against ${ms(of('parse'))}, ${size} MB`,
  );
}
