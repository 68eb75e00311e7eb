import { readdir, readFile } from 'node:fs/promises';
import { builtinModules, createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGES } from './docs/pages.ts';
import { sample } from './helpers/scope.ts';
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

test('package.json matches the packed files (publint)', async () => {
  const bytes = new Uint8Array(tarball).buffer;
  const { messages } = await publint({ pack: { tarball: bytes }, level: 'suggestion', strict: true });
  expect(messages).toEqual([]);
});

test('import and require find code and types of their own kind (Are The Types Wrong)', async () => {
  const packed = createPackageFromTarballData(new Uint8Array(tarball));
  // A module that changes Node has nothing to import from it.
  const report = await checkPackage(packed, { excludeEntrypoints: ['./alias-hosts'] });
  expect(report).toMatchObject({ types: { kind: 'included' }, problems: [] });
});

/** The files with this ending in dist, by path. */
async function built(ending: string): Promise<[path: string, text: string][]> {
  const dist = join(project.folder, 'node_modules/gateway-sim/dist');
  const paths = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith(ending));
  return Promise.all(paths.map(async (path) => [path, await readFile(join(dist, path), 'utf8')]));
}

test('the code has no import(), which Jest does not support, and requires only itself and Node', async () => {
  const files = await built('.cjs');
  expect(files.length).toBeGreaterThan(2);
  for (const [path, text] of files) {
    expect(text.match(/\bimport\s*\(.{0,40}/g) ?? [], path).toEqual([]);
    const required = [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = '']) => name);
    const isKnown = (name: string) =>
      name.startsWith('.') || builtinModules.includes(name.replace('node:', ''));
    expect(
      required.filter((name) => !isKnown(name)),
      path,
    ).toEqual([]);
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
    /^(bin\/((gateway-sim|alias-hosts|node-version|library)\.js|library\.mjs|package\.json)|dist\/(chunks\/[\w.-]+\.cjs|(main|library|thread)\.cjs|licenses\.json|index\.d\.c?ts)|fixtures\/((default|config\.schema)\.json|fidelity\/manifest\.jsonl)|src\/docs\/((\w+\/)?[\w-]+\.md|reference\/llms\.txt|[\w-]+\.png|Dockerfile|compose\.yaml)|src\/init\/[\w.-]+|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/;
  expect(files.filter((file) => !expected.test(file))).toEqual([]);
  const ofUsers = Object.keys(PAGES).filter((path) => !/^(\.github|test)\//.test(path));
  expect(files).toEqual(expect.arrayContaining(ofUsers));
});

test('the types need no package and contain no any, and records have the descriptions of their fields', async () => {
  const [[, types = ''] = []] = await built('.d.ts');
  const code = types.replace(/\/\*[\s\S]*?\*\//g, '');
  expect(code.match(/\bany\b.*|(from|import\() '.*/g)).toBeNull();
  expect(types).toContain('Time at which it expires unless settled; null if never.');
  expect(await built('.d.cts')).toEqual([['index.d.cts', types]]);
});

test('the licences are those of exactly the bundled packages', async () => {
  const code = (await built('.cjs')).map(([, text]) => text).join('\n');
  // Each bundled module begins with its path.
  const bundled = code.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm);
  // The dashboard's script is bundled on its own, and contained as text.
  const ofScript = [...code.matchAll(/var (Idiomorph) = /g)].map(([, name = '']) => name.toLowerCase());
  const names = [...new Set([...Array.from(bundled, ([, name]) => name), ...ofScript])].sort();
  expect(names).toEqual(expect.arrayContaining(['commander', 'hono', 'lowdb', 'chalk', 'zod']));
  const [[, licences = ''] = []] = await built('licenses.json');
  const licensed = JSON.parse(licences) as { name: string }[];
  expect(licensed.map(({ name }) => name).sort()).toEqual(names);
  expect(licences).toContain('Copyright (c) 2021 - present, Yusuke Wada');
});

describe('an older Node', () => {
  /** Fakes its version only: everything that it cannot run comes after the check. */
  const run = async (...args: string[]) => {
    const versions = "{ value: { ...process.versions, node: '18.20.8' } }";
    await project.write('older.cjs', `Object.defineProperty(process, 'versions', ${versions});`);
    return project.run([process.execPath, '--require', './older.cjs', ...args]);
  };
  const message = 'gateway-sim needs Node 20.19 or newer, this is 18.20.8';

  test('is reported by the command', async () => {
    const command = 'node_modules/gateway-sim/bin/gateway-sim.js';
    expect(await run(command, '--version')).toEqual({ code: 2, output: `${message}\n` });
  });

  test('can read the files that report it', async () => {
    for (const name of ['bin/gateway-sim.js', 'bin/node-version.js', 'bin/library.js']) {
      const text = await readFile(join(project.folder, 'node_modules/gateway-sim', name), 'utf8');
      expect(text.match(/\?\?|\?\.|[&|]{2}=|\d_\d|.*\bimport\b.*/g)).toBeNull();
    }
  });

  test.each(["require('gateway-sim')", "import('gateway-sim')"])('is reported by %s', async (load) => {
    const text = `(async () => ${load})().catch((error) => console.log(error.name + ': ' + error.message))`;
    expect(await run('-e', text)).toEqual({ code: 0, output: `Error: ${message}\n` });
  });
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

test('timers that a test replaces do not stop the emulator', async () => {
  await project.write(
    'faked.mjs',
    `import timers from 'node:timers';
     import promises from 'node:timers/promises';
     import { startGatewaySim } from 'gateway-sim';
     const never = () => ({ ref() {}, unref() { return this; } });
     for (const name of ['setTimeout', 'setInterval', 'setImmediate']) globalThis[name] = timers[name] = never;
     promises.setTimeout = promises.setImmediate = () => new Promise(() => {});
     globalThis.performance = { now: () => 0 };
     Date.now = () => 0;
     const sim = await startGatewaySim({ dataDir: 'faked-time' });
     const receiver = await sim.listen();
     receiver.respondWith(500);
     const { createdAt } = await sim.payments.create({ identifier: 'order-1', ipnUrl: receiver.url });
     await sim.payments.approve('order-1', { delivery: 'redirect-then-ipn' });
     await receiver.waitFor({ identifier: 'order-1' });
     const { payments } = await sim.snapshot();
     const late = await sim.payments.waitFor({ identifier: 'order-2' }, { timeout: 50 }).catch(({ code }) => code);
     await sim.stop();
     console.log(createdAt.startsWith('20'), payments.length, late);`,
  );
  const { code, output } = await project.run([process.execPath, 'faked.mjs']);
  expect([output, code]).toEqual(['true 1 timed_out\n', 0]);
});
