// The memory per payment, and the time to read all payments.
import { cp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { initiateRequest, load } from './load.mjs';
import {
  bytesInUse,
  inFolder,
  processorMs,
  running,
  stateFolder,
  withFreshSim,
  withSim,
} from './processes.mjs';
import { measured, median, ms } from './rows.mjs';
import { makeState, requireState } from './state.mjs';

const MANY = 100_000;
const ROUNDS = 5;
const FILES = ['db.json', 'journal.jsonl'];

/** Prints a line when it is done, and keeps running, so that its CPU time can be read. */
const NOTHING = `console.log('{}'); setInterval(() => {}, 2 ** 30);`;

/** Parses db.json, and the object in each line of the journal, with JSON.parse. */
const PARSE = `
  const { readFileSync } = require('node:fs');
  const [snapshot, journal] = process.argv.slice(1).map((file) => readFileSync(file, 'utf8'));
  JSON.parse(snapshot);
  for (const line of journal.split('\\n'))
    if (line) JSON.parse(line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1));
  ${NOTHING}`;

/** The memory of newly initiated payments, which includes the request log, and of payments read from disk. */
export function memory() {
  return inFolder(async (folder) => {
    const [withLog, empty] = await withFreshSim(
      async (sim) => {
        const before = await bytesInUse(sim.folder, sim);
        await fill(sim);
        return [(await bytesInUse(sim.folder, sim)) - before, before];
      },
      { probe: true },
    );
    await makeState(folder, MANY);
    const read = async (sim) => {
      await requireState(sim, MANY);
      return (await bytesInUse(folder, sim)) - empty;
    };
    const fromDisk = await withSim(folder, read, { probe: true });
    const row = (what, bytes) => measured(`memory per payment, ${what}`, bytes / MANY / 1024);
    return [row('with its request log', withLog), row('read from disk', fromDisk)];
  });
}

const fill = (sim) => load({ port: sim.port, request: initiateRequest(sim), count: MANY });

/** The time to read a state after a stop, and after a kill, which leaves a journal. */
export function reload() {
  return inFolder(async (stopped) => {
    await makeState(stopped, MANY);
    return inFolder(async (killed) => {
      await withSim(killed, fill, { signal: 'SIGKILL' });
      return [await reloadRow('a stop', stopped), await reloadRow('kill -9', killed)];
    });
  });
}

/** The start with the payments minus a start without them, compared with JSON.parse of the same files. */
async function reloadRow(what, folder) {
  const files = FILES.map((name) => join(stateFolder(folder), name));
  const parse = (script) => running(['-e', script, ...files], {}, timesOf);
  const rounds = [];
  for (let number = 0; number < ROUNDS; number++) {
    const full = await inFolder(async (copy) => {
      await cp(stateFolder(folder), stateFolder(copy), { recursive: true });
      return withSim(copy, timesOf, { signal: 'SIGKILL' });
    });
    const parsed = await parse(PARSE);
    const [empty, nothing] = [await withFreshSim(timesOf), await parse(NOTHING)];
    rounds.push({
      reload: full.wall - empty.wall,
      parse: parsed.wall - nothing.wall,
      ratio: (full.wall - empty.wall) / (parsed.wall - nothing.wall),
      ofProcessor: (full.processor - empty.processor) / (parsed.processor - nothing.processor),
    });
  }
  const of = (name) => median(rounds.map((round) => round[name]));
  const bytes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const size = Math.round(bytes.reduce((sum, length) => sum + length, 0) / 1e6);
  return measured(
    `reload after ${what}, relative to JSON.parse`,
    of('ratio'),
    `${ms(of('reload'))} against ${ms(of('parse'))} for ${MANY.toLocaleString('en')} payments, ${size} MB; by CPU time ${of('ofProcessor').toFixed(2)}x`,
  );
}

const timesOf = (process) => ({ wall: process.readyMs, processor: processorMs(process) });
