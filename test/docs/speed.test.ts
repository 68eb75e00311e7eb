import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';
import { page, ROOT } from './pages.ts';

interface Choice {
  sections?: string[];
  leftOut?: string[];
  json?: string;
  problem?: string;
}
interface Manifest {
  name: string;
  version: string;
  repository?: string | { url: string };
}
interface Sim {
  url: string;
}

/** A file of the bench. They are plain JavaScript, so that Node runs them as they are. */
const bench = (name: string) => import(new URL(`../bench/${name}.mjs`, import.meta.url).href);
const { TARGETS }: { TARGETS: Record<string, object> } = await bench('targets');
const { chosen }: { chosen(names: string[], long: string[], args: string[]): Choice } =
  await bench('arguments');
const { problemOf }: { problemOf(name: string, manifest: Manifest): string | undefined } =
  await bench('peer-packages');
const {
  makeState,
  requireState,
}: {
  makeState(folder: string, count: number, options?: { settledTo: string }): Promise<void>;
  requireState(sim: Sim, count: number): Promise<void>;
} = await bench('state');
const { withSim }: { withSim<Result>(folder: string, use: (sim: Sim) => Result): Promise<Result> } =
  await bench('processes');

test('speed.md has a row for every target, in the order of the bench', () => {
  const names = Object.values(TARGETS).flatMap((section) => Object.keys(section));
  const rows = [...page('speed.md').matchAll(/^\| ([^|]+) \|/gm)].map(([, what = '']) => what);
  expect(rows.filter((what) => names.includes(what))).toEqual(names);
});

test('speed.md says of every section what limits it', () => {
  for (const section of Object.keys(TARGETS)) expect(page('speed.md')).toContain(`\n- \`${section}\``);
});

describe('npm run bench', () => {
  test.runIf(IS_RELEASE)('gives a document of one section, and exits 0', async () => {
    const file = join(await temporaryFolder(), 'bench.json');
    const bench = [join(ROOT, 'test/bench/bench.mjs'), 'page', '--json', file];
    expect(await runProgram([process.execPath, ...bench])).toMatchObject({ code: 0 });
    const { machine, rows } = JSON.parse(await readFile(file, 'utf8'));
    expect(machine).toMatchObject({
      node: process.version,
      cores: expect.any(Number),
      quiet: expect.anything(),
    });
    expect(rows.map(({ what }: { what: string }) => what)).toEqual(Object.keys(TARGETS['page'] ?? {}));
    expect(rows[0]).toMatchObject({
      section: 'page',
      value: expect.any(Number),
      unit: ' KB',
      target: '<= 17 KB',
    });
  });

  const names = ['start', 'page', 'million'];
  test.each<[string[], Choice]>([
    [[], { sections: ['start', 'page'], leftOut: ['million'] }],
    [['--long'], { sections: names, leftOut: [] }],
    [['million'], { sections: ['million'], leftOut: [] }],
    [['page', '--json'], { sections: ['page'], json: '-' }],
    [['--json', 'page'], { sections: ['page'], json: '-' }],
    [['--json', 'out.json', 'page'], { sections: ['page'], json: 'out.json' }],
    [['pages'], { problem: expect.stringContaining('"pages" is neither start, page, million') }],
  ])('with %j', (args, choice) => {
    expect(chosen(names, ['million'], args)).toMatchObject(choice);
  });
});

/** More than are written at once. */
const COUNT = 1_001;

test.each(sample([undefined, { settledTo: 'http://127.0.0.1:1/ipn' }], (one) => one !== undefined))(
  'the emulator takes a state of many payments, with %j',
  async (options) => {
    const folder = await temporaryFolder();
    await makeState(folder, COUNT, options);
    await withSim(folder, async (sim) => {
      await requireState(sim, COUNT);
      await expect(requireState(sim, COUNT + 1)).rejects.toThrow('was not taken');
    });
  },
);

describe('npm run bench:peers', () => {
  const ours = { name: 'emulate', version: '0.12.2' };
  test.each<Manifest>([
    { ...ours, repository: { url: 'https://github.com/vercel-labs/emulate.git' } },
    { ...ours, repository: { url: 'git+https://github.com/vercel-labs/emulate.git' } },
    { ...ours, repository: 'github:vercel-labs/emulate' },
    { ...ours, repository: 'vercel-labs/emulate' },
  ])('takes %j', (manifest) => {
    expect(problemOf('emulate', manifest)).toBeUndefined();
  });

  test.each<Manifest>([
    { name: 'emulate', version: '1.0.2', repository: { url: 'git+https://github.com/citrusui/emulate.git' } },
    { ...ours, repository: { url: 'https://github.com/somebody/vercel-labs-emulate.git' } },
    { ...ours, repository: { url: 'https://example.com/github.com/vercel-labs/emulate' } },
    { ...ours, version: '0.11.0', repository: 'vercel-labs/emulate' },
    ours,
  ])('refuses %j', (manifest) => {
    expect(problemOf('emulate', manifest)).toContain('refused');
  });
});
