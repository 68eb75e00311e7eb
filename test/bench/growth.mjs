// The effect of many payments on the rate of initiate.
import { initiateRequest } from './load.mjs';
import { fill, MANY } from './memory.mjs';
import { inFolder, together, withFreshSim, withSim } from './processes.mjs';
import { emptied, takeTurns } from './round.mjs';
import { measured, ms, perSecond } from './rows.mjs';

export function growth() {
  return inFolder(async (folder) => {
    const many = (use) => withSim(folder, use);
    return together([many, withFreshSim], async ([full, empty]) => {
      await fill(full);
      const turns = await takeTurns({
        empty: { server: empty, request: initiateRequest(empty), prepare: emptied },
        full: { server: full, request: initiateRequest(full) },
      });
      const both = (value, text) =>
        ['full', 'empty'].map((name) => text(turns.of(name, value))).join(' against ');
      return [
        measured(
          `rate with ${MANY.toLocaleString('en')} payments, relative to an empty store`,
          turns.ratios('full', 'empty', 'rate'),
          { atLeast: 0.9 },
          `${both('rate', perSecond)}; p99 ${both('p99', ms)}`,
        ),
      ];
    });
  });
}
