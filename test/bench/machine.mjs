// Describes the machine, and how quiet it was during the measurements.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { percent } from './rows.mjs';

/** Our own limits: below them, rows vary no more between runs than between rounds. */
const QUIET = { load: 0.5, steal: 0.01, spread: 0.15 };

/**
 * Starts watching the machine.
 *
 * @returns a function that stops it, and resolves with the description of the run
 */
export function watchMachine() {
  const load = loadavg()[0];
  const before = processorTimes();
  return (rows) => {
    const steal = share(before, processorTimes());
    const spreads = rows.flatMap(({ spread }) => (spread === undefined ? [] : [spread]));
    const spread = spreads.length > 0 ? Math.max(...spreads) : null;
    const quiet = load <= QUIET.load && (steal ?? 0) <= QUIET.steal && (spread ?? 0) <= QUIET.spread;
    return {
      date: new Date().toISOString().slice(0, 10),
      commit: commit(),
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      processor: cpus()[0]?.model.trim() || 'unknown processor',
      cores: availableParallelism(),
      loadBefore: load,
      loadAfter: loadavg()[0],
      steal,
      spread,
      quiet,
    };
  };
}

/** The machine in one line. */
export function machineText({ processor, cores, platform, node, date, commit }) {
  return `${processor}, ${cores} cores, ${platform}, Node ${node}, ${date}, commit ${commit ?? 'unknown'}`;
}

/** How quiet the machine was, in one line. */
export function quietText({ quiet, loadBefore, loadAfter, steal, spread }) {
  const facts = [
    `load ${loadBefore.toFixed(2)} before and ${loadAfter.toFixed(2)} after`,
    steal === null ? 'steal unknown' : `steal ${percent(steal)}`,
    ...(spread === null ? [] : [`spread of the baseline's rounds ${percent(spread)}`]),
  ];
  return `The machine was ${quiet ? 'quiet' : 'not quiet'}: ${facts.join(', ')}.`;
}

/** Ticks of all processors since boot, as in the first line of /proc/stat; null without that file. */
function processorTimes() {
  try {
    const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
    // The first two columns already include the last two, which are guest time.
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    return { all: ticks.reduce((sum, value) => sum + value, 0), stolen: ticks[7] ?? 0 };
  } catch {
    return null;
  }
}

/** The share of the time that other guests used the processor; null if the system does not report it. */
function share(before, after) {
  if (!before || !after || after.all === before.all) return null;
  return (after.stolen - before.stolen) / (after.all - before.all);
}

function commit() {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const git = (...args) =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const changed = git('status', '--porcelain', '--', 'src', ':!src/docs') !== '';
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' with changes' : '');
  } catch {
    return null;
  }
}
