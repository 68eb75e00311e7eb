import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGES } from './docs/pages.ts';
import { IS_RELEASE, sample } from './helpers/scope.ts';
import { createProject, type Project } from './recipes/project.ts';

const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
const CONSUMER = await readFile(new URL('recipes/consumer.txt', import.meta.url), 'utf8');

let project: Project;
let tarball: Buffer;
beforeAll(async () => {
  project = await createProject(['@types/node']);
  tarball = await readFile(project.tarball);
});
afterAll(() => project.remove());

test.runIf(IS_RELEASE)('types and code agree in every module system (attw)', async () => {
  // This file is for `node --import` and exports nothing.
  const options = { excludeEntrypoints: ['./alias-hosts'] };
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)), options);
  expect(analysis.types).toBeTruthy();
  expect('problems' in analysis && analysis.problems).toEqual([]);
});

test('package.json matches the packed files (publint)', async () => {
  const bytes = new Uint8Array(tarball).buffer;
  const { messages } = await publint({ pack: { tarball: bytes }, level: 'suggestion', strict: true });
  expect(messages).toEqual([]);
});

test('the CommonJS build has no import(), which Jest does not support', async () => {
  const dist = join(project.folder, 'node_modules/gateway-sim/dist');
  const files = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.cjs'));
  expect(files.length).toBeGreaterThan(2);
  for (const name of files) {
    const text = await readFile(join(dist, name), 'utf8');
    expect(text.match(/\bimport\s*\(.{0,40}/g) ?? [], name).toEqual([]);
  }
});

test('installing runs no script: a clone builds when it starts, tests and packs', async () => {
  const text = await readFile(join(project.folder, 'node_modules/gateway-sim/package.json'), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  const install = [
    'preinstall',
    'install',
    'postinstall',
    'prepublish',
    'preprepare',
    'prepare',
    'postprepare',
  ];
  expect(Object.keys(scripts).filter((name) => install.includes(name))).toEqual([]);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['prestart', 'pretest', 'prepack']));
});

test('no internal files are packed', async () => {
  const { output } = await project.run(['find', 'node_modules/gateway-sim', '-type', 'f']);
  const files = output
    .trim()
    .split('\n')
    .map((path) => path.replace('node_modules/gateway-sim/', ''));
  const expected =
    /^(bin\/((gateway-sim|alias-hosts)\.js|package\.json)|dist\/(chunks\/[\w.-]+\.cjs|main\.cjs|licenses\.txt|index\.(js|cjs|d\.ts|d\.cts)|(api|audit|audit-options|records|error)\.d\.c?ts)|fixtures\/((default|config\.schema)\.json|fidelity\/manifest\.jsonl)|src\/docs\/((\w+\/)?[\w-]+\.md|reference\/llms\.txt|[\w-]+\.png|Dockerfile|compose\.yaml)|src\/init\/[\w.-]+|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/;
  expect(files.filter((file) => !expected.test(file))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(Object.keys(PAGES)));
  for (const name of ['index', 'api', 'audit', 'audit-options', 'records', 'error']) {
    const text = await readFile(join(project.folder, `node_modules/gateway-sim/dist/${name}.d.ts`), 'utf8');
    const types = text.replace(/\/\*[\s\S]*?\*\//g, '');
    expect(types).not.toMatch(/\bany\b|from '(?!\.\/(api|audit|audit-options|records|error)\.js')/);
  }
});

test('the licences of bundled packages are packed', async () => {
  const text = await readFile(join(project.folder, 'node_modules/gateway-sim/dist/licenses.txt'), 'utf8');
  for (const name of ['commander', 'hono', 'lowdb', 'chalk', 'open', 'zod', 'node-forge'])
    expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
  expect(text).toContain('Copyright (c) 2021 - present, Yusuke Wada');
});

describe('the types compile without skipLibCheck', () => {
  const resolutions = [
    { module: 'nodenext', moduleResolution: 'nodenext', files: ['consumer.mts', 'consumer.cts'] },
    { module: 'node16', moduleResolution: 'node16', files: ['consumer.mts', 'consumer.cts'] },
    { module: 'preserve', moduleResolution: 'bundler', files: ['consumer.ts'] },
  ];
  const variants = resolutions.flatMap((one) => [
    { ...one, exactOptionalPropertyTypes: false },
    { ...one, exactOptionalPropertyTypes: true },
  ]);
  const isTypical = ({ module, exactOptionalPropertyTypes: exact }: (typeof variants)[number]) =>
    module === (exact ? 'nodenext' : 'preserve');

  test.each(sample(variants, isTypical))(
    'with $moduleResolution resolution, exactOptionalPropertyTypes $exactOptionalPropertyTypes',
    async ({ files, ...resolution }) => {
      for (const file of files) await project.write(file, CONSUMER);
      const strictness = { strict: true, skipLibCheck: false, noEmit: true, types: ['node'] };
      const compilerOptions = { target: 'es2022', lib: ['es2022'], ...strictness, ...resolution };
      await project.write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
      const { code, output } = await project.run([process.execPath, TSC]);
      expect(output).toBe('');
      expect(code).toBe(0);
    },
  );

  const plain = sample(['nodenext', 'bundler'], (one) => one === 'nodenext');
  test.each(plain)('with %s resolution and no other options', async (moduleResolution) => {
    const module = moduleResolution === 'bundler' ? 'preserve' : moduleResolution;
    const text = `import { startGatewaySim, type Payment } from 'gateway-sim';
      const sim = await startGatewaySim({ auto: 'approve' });
      export const payment: Payment = await sim.payments.create({ amount: '1' });
      await sim[Symbol.asyncDispose]();`;
    await project.write('plain.mts', text);
    const compilerOptions = { strict: true, skipLibCheck: false, noEmit: true, module, moduleResolution };
    await project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['plain.mts'] }));
    expect(await project.run([process.execPath, TSC])).toMatchObject({ output: '', code: 0 });
  });
});

test('import and require load the same library', async () => {
  await project.write(
    'both.mjs',
    `import { createRequire } from 'node:module';
     import * as imported from 'gateway-sim';
     const required = createRequire(import.meta.url)('gateway-sim');
     console.log(JSON.stringify([Object.keys(imported), Object.keys(required)].map((names) => names.sort())));
     for (const { startGatewaySim } of [imported, required]) {
       const sim = await startGatewaySim();
       await sim.payments.create({ identifier: 'order-1' });
       await sim.payments.approve('order-1', { delivery: 'redirect-only' });
       await sim.stop();
     }`,
  );
  const names = ['GatewayError', 'connectGatewaySim', 'signIpn', 'startGatewaySim', 'verifyIpn'];
  const { code, output } = await project.run([process.execPath, 'both.mjs']);
  expect(JSON.parse(output)).toEqual([names, names]);
  expect(code).toBe(0);
});
