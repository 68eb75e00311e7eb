import { resolveOptions } from '../../../src/options/resolve.ts';
import { startServer } from '../../../src/server.ts';
import { held, LINES, linesNamed } from '../../helpers/conform.ts';
import { type Deviation, startDeviating } from '../deviating-server.ts';
import { DEVIATIONS, SECRET } from '../deviations.ts';
import { trial } from '../trial.ts';

/** All lines of the area of this one: the whole list against every server would take ten minutes. */
function areaOf(id: string): typeof LINES {
  const area = LINES.find((line) => line.id === id)?.area;
  return linesNamed(...LINES.filter((line) => line.area === area).map((line) => line.id));
}

/** The ids of the lines that do not hold at a server with this deviation. */
async function foundBy(deviation: Deviation, lines: typeof LINES): Promise<string[]> {
  const values = { port: 0, inMemory: true, secretKey: SECRET };
  const emulator = await startServer(resolveOptions([{ label: (name) => name, values }]), {
    ...{ report: () => {}, warn: () => {} },
  });
  const deviating = await startDeviating(emulator.url, deviation);
  try {
    const { publicKey } = emulator;
    const { report } = await held({ url: deviating.url, publicKey, secretKey: SECRET }, {}, { lines });
    return report.differ.map(({ id }) => id);
  } finally {
    await deviating.stop();
    await emulator.stop();
  }
}

trial(
  'servers that do one thing otherwise',
  { promise: 'conform finds every deviation of a server', short: 6, least: DEVIATIONS.length, share: 2 },
  async (budget) => {
    const deviations = budget.shuffled(DEVIATIONS);
    await budget.repeat(async (number) => {
      const deviation = deviations[number % deviations.length];
      if (!deviation) return;
      const { name, line } = deviation;
      const found = await foundBy(deviation, budget.short ? linesNamed(line) : areaOf(line));
      if (!found.includes(line)) {
        budget.fail(
          'other',
          `${name}: ${line} did not find it, but ${found.slice(0, 5).join(', ') || 'none'}`,
        );
      }
    });
  },
);

trial(
  'a server that deviates in nothing',
  { promise: 'conform finds every deviation of a server', short: 1, least: 3, share: 1 },
  async (budget) => {
    await budget.repeat(async () => {
      const found = await foundBy({ name: 'none', line: '', ipn: () => {} }, LINES);
      if (found.length) budget.fail('other', `differs in ${found.join(', ')}`);
    });
  },
);
