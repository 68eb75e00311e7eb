// Describes the machine, and how quiet it was during the measurements.
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { percent } from './rows.mjs';

/** Our own limits: below them, rows vary no more between runs than between rounds. */
const QUIET = { load: 0.5, spread: 0.15 };

/**
 * Starts watching the machine.
 *
 * @returns a function that stops it, and resolves with the description of the run
 */
export function watchMachine() {
  const load = loadavg()[0];
  return (rows) => {
    const spreads = rows.flatMap(({ spread }) => (spread === undefined ? [] : [spread]));
    const spread = spreads.length > 0 ? Math.max(...spreads) : null;
    const quiet = load <= QUIET.load && (spread ?? 0) <= QUIET.spread;
    return {
      date: new Date().toISOString().slice(0, 10),
      commit: commit(),
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      processor: cpus()[0]?.model.trim() || 'unknown processor',
      cores: availableParallelism(),
      loadBefore: load,
      loadAfter: loadavg()[0],
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
export function quietText({ quiet, loadBefore, loadAfter, spread }) {
  const facts = [
    `load ${loadBefore.toFixed(2)} before and ${loadAfter.toFixed(2)} after`,
    ...(spread === null ? [] : [`spread of the baseline's rounds ${percent(spread)}`]),
  ];
  return `The machine was ${quiet ? 'quiet' : 'not quiet'}: ${facts.join(', ')}.`;
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
