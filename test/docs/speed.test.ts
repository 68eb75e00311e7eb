import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { page, ROOT } from './pages.ts';

interface Sim {
  url: string;
}

/** A file of the bench, in plain JavaScript, so that Node runs it directly. */
const bench = (name: string) => import(new URL(`../bench/${name}.mjs`, import.meta.url).href);
const { TARGETS }: { TARGETS: Record<string, object> } = await bench('targets');
const {
  makeState,
  requireState,
}: {
  makeState(folder: string, count: number): Promise<void>;
  requireState(sim: Sim, count: number): Promise<void>;
} = await bench('state');
const { withSim }: { withSim<Result>(folder: string, use: (sim: Sim) => Result): Promise<Result> } =
  await bench('processes');

test('speed.md has a row for every target, in the order of the bench', () => {
  const names = Object.values(TARGETS).flatMap((section) => Object.keys(section));
  const rows = [...page('speed.md').matchAll(/^\| ([^|]+) \|/gm)].map(([, what = '']) => what);
  expect(rows.filter((what) => names.includes(what))).toEqual(names);
});

test('speed.md names the limiting factor of every section', () => {
  for (const section of Object.keys(TARGETS)) expect(page('speed.md')).toContain(`\n- \`${section}\``);
});

test.runIf(IS_RELEASE)(
  'npm run bench writes the results of one section as JSON, and exits with 0',
  async () => {
    const file = join(await temporaryFolder(), 'bench.json');
    const bench = [join(ROOT, 'test/bench/bench.mjs'), 'commands', '--json', file];
    expect(await runProgram([process.execPath, ...bench])).toMatchObject({ code: 0 });
    const { machine, rows } = JSON.parse(await readFile(file, 'utf8'));
    expect(machine).toMatchObject({
      node: process.version,
      cores: expect.any(Number),
      quiet: expect.anything(),
    });
    const [node, ...measured] = rows;
    expect(node.what).toBe('node -e 0, next to the commands');
    expect(measured.map(({ what }: { what: string }) => what)).toEqual(
      Object.keys(TARGETS['commands'] ?? {}),
    );
    expect(measured[0]).toMatchObject({
      section: 'commands',
      value: expect.any(Number),
      unit: 'x',
      target: '<= 3x',
    });
  },
);

/** More payments than one write stores. */
const COUNT = 1_001;

test.runIf(IS_RELEASE)('the emulator starts with a generated state of many payments', async () => {
  const folder = await temporaryFolder();
  await makeState(folder, COUNT);
  await withSim(folder, async (sim) => {
    await requireState(sim, COUNT);
    await expect(requireState(sim, COUNT + 1)).rejects.toThrow('was not accepted');
  });
});
