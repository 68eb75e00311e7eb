// The effects of many payments on rate, latency, memory and the next start.
import { initiateRequest } from './load.mjs';
import { bytesInUse, inFolder, residentBytes, together, withFreshSim, withSim } from './processes.mjs';
import { emptied, takeTurns } from './round.mjs';
import { fact, measured, ms, perSecond } from './rows.mjs';
import { makeState, requireState } from './state.mjs';

const MANY = 100_000;
const MILLION = 1_000_000;

export function growth() {
  return inFolder(async (folder) => {
    await makeState(folder, MANY);
    return withSim(folder, (full) => growthRows(full, MANY));
  });
}

/** Measures a state of a million payments. This takes minutes, and almost a gigabyte in the temporary folder. */
export function million() {
  return inFolder(async (folder) => {
    await makeState(folder, MILLION);
    const empty = await withFreshSim((sim) => bytesInUse(sim.folder, sim), { probe: true });
    let stopping = 0;
    const rows = await withSim(
      folder,
      async (full) => {
        const { now, peak } = residentBytes(full);
        const restart = [
          measured('restart with 1,000,000 payments', full.readyMs / 1_000),
          measured('peak memory of that restart', peak / 1e9, `${(now / 1e9).toFixed(2)} GB when ready`),
        ];
        const bytes = (await bytesInUse(folder, full)) - empty;
        const memory = measured('memory per payment with 1,000,000 payments', bytes / MILLION / 1024);
        const grown = await growthRows(full, MILLION);
        stopping = performance.now();
        return [...restart, memory, ...grown];
      },
      { probe: true },
    );
    return [
      ...rows,
      fact(
        'stop with 1,000,000 payments, which writes the whole state',
        (performance.now() - stopping) / 1_000,
        ' s',
      ),
    ];
  });
}

function growthRows(full, count) {
  return together([withFreshSim], async ([empty]) => {
    await requireState(full, count);
    const turns = await takeTurns({
      empty: { server: empty, request: initiateRequest(empty), prepare: emptied },
      full: { server: full, request: initiateRequest(full) },
    });
    const payments = count.toLocaleString('en');
    const both = (value, text) =>
      ['full', 'empty'].map((name) => text(turns.of(name, value))).join(' against ');
    return [
      measured(
        `rate with ${payments} payments, relative to an empty store`,
        turns.ratio('full', 'empty', 'rate'),
        `${both('rate', perSecond)}; by CPU time ${turns.ratio('empty', 'full', 'processorUs').toFixed(2)}`,
      ),
      measured(
        `p99 with ${payments} payments, relative to an empty store`,
        turns.ratio('full', 'empty', 'p99'),
        `${both('p99', ms)}; p99.9 ${both('p999', ms)}`,
      ),
    ];
  });
}
