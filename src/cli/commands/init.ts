import { existsSync } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { command, hint, usage } from '../../contract/error.ts';
import { DEFAULT_KEYS } from '../../contract/sample-values.ts';
import { SENT_ON_REQUEST } from '../../contract/vocabulary.ts';
import { type OptionName, type OptionSpec, START_OPTIONS } from '../../options/start-options.ts';
import { makeFolder } from '../../system/files.ts';
import { packaged } from '../../system/package-info.ts';
import { defineCommand, flag, text } from '../command.ts';
import { CONFIGURATION_FILE, foldersAbove } from '../configuration.ts';
import { orStorageFailed, shownFrom, writeAtomically } from '../write-file.ts';

const FIXTURES_FILE = 'gateway-sim.fixtures.json';

/** Examples in the template for options that have neither a default nor an example in the table. */
const EXAMPLES: Readonly<Partial<Record<string, unknown>>> = {
  fixtures: FIXTURES_FILE,
  publicUrl: 'https://pay.example.test',
  ...DEFAULT_KEYS,
  tlsCert: 'localhost.pem',
  tlsKey: 'localhost-key.pem',
  hostAlias: ['pay.example.com'],
  currency: ['NPR:Rs', 'GHS:₵'],
  auto: 'approve',
  seed: 'any text',
  paymentExpires: '30m',
  ipnOn: SENT_ON_REQUEST,
  allowIpnHost: ['shop.example.com'],
  allowHost: ['pay.example.test'],
  db: 'sqlite:shop.db',
  dbSkip: ['sessions'],
  ipnCa: 'ca.pem',
  controlToken: 'a-long-secret',
  charges: { payment: { percent: '2', fixed: '0' }, card: { percent: '1' }, cardTransaction: { fixed: '0' } },
  currencies: [{ code: 'KES', name: 'Kenyan Shilling', symbol: 'KSh', decimals: 2 }],
  faults: [{ route: 'initiate', status: 503, times: 2 }],
  outcomes: [{ identifier: 'fail-*', outcome: 'fail' }],
  wallets: [{ email: 'rich@example.com', holder: 'Rich Example', currency: 'EUR', balance: '5000.00' }],
} satisfies Partial<Record<OptionName, unknown>>;

const HEAD = `// Options of "gateway-sim start" in this folder. Comments and trailing commas are allowed.
// Most keys are also a flag (inMemory: --in-memory) and a variable (GATEWAY_SIM_IN_MEMORY). Flags override
// variables, which override this file, the profile and the defaults.
// Lines that start with // have no effect. They show the default, or an example if there is none.`;

const SCHEMA = `  // If the package is installed here, this enables completion in editors:
  // "$schema": "./node_modules/gateway-sim/fixtures/config.schema.json",
`;

/** A configuration file with every option and its description. All but the fixtures are commented out. */
export function configurationTemplate(): string {
  const entries = Object.entries<OptionSpec>(START_OPTIONS).map(([name, spec]) => {
    const [example = spec.choices?.[0] ?? null] = [spec.json?.['examples'] ?? []].flat();
    const value = spec.default ?? EXAMPLES[name] ?? example;
    const inOneLine = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
    const line = `${JSON.stringify(name)}: ${inOneLine},`;
    return `  // ${spec.description}\n  ${name === 'fixtures' ? '' : '// '}${line}\n`;
  });
  return `${HEAD}\n{\n${[SCHEMA, ...entries].join('\n')}}\n`;
}

/** A first test for a test runner. */
interface Starter {
  /** The last file is the test, which passes unchanged. The file before it replaces the shop's own handler. */
  files: readonly string[];
  /** The command that runs the test; its path is appended. */
  run: string;
  /** What the test needs, if its absence can be seen: a file in this folder or a parent, and the command that installs it. */
  needs?: { file: string; install: string };
}

const npmPackage = (name: string) => ({
  file: `node_modules/${name}`,
  install: `npm install --save-dev ${name}`,
});

const STARTERS = {
  php: {
    files: ['GatewaySim.php', 'payments.php', 'GatewaySimTest.php'],
    run: 'vendor/bin/phpunit',
    needs: { file: 'vendor/bin/phpunit', install: 'composer require --dev phpunit/phpunit' },
  },
  python: {
    files: ['gateway_sim.py', 'payments.py', 'test_gateway_sim.py'],
    run: 'python3 -m pytest',
  },
  node: { files: ['payments.d.cts', 'payments.cjs', 'gateway-sim-test.mjs'], run: 'node --test' },
  vitest: {
    files: ['payments.d.cts', 'payments.cjs', 'gateway-sim.test.mjs'],
    run: 'npx vitest run',
    needs: npmPackage('vitest'),
  },
  jest: {
    files: ['payments.d.cts', 'payments.cjs', 'gateway-sim.test.cjs'],
    run: 'npx jest',
    needs: npmPackage('jest'),
  },
  playwright: {
    files: ['payments.d.cts', 'payments.cjs', 'gateway-sim.spec.mjs'],
    run: 'npx playwright test',
    needs: npmPackage('@playwright/test'),
  },
} as const satisfies Record<string, Starter>;

/** A first test, or a commented configuration and fixtures to edit: all of the files or none. */
export const init = defineCommand({
  args: ['[folder]'],
  summary: 'write a first test, or a configuration and fixtures to edit',
  options: {
    php: flag('write GatewaySim.php and a test for PHPUnit (PHP 8.1 or newer)'),
    python: flag('write gateway_sim.py and a test for pytest (Python 3.10 or newer)'),
    node: flag('write a test for node:test'),
    vitest: flag('write a test for Vitest'),
    jest: flag('write a test for Jest'),
    playwright: flag('write a test for Playwright'),
    dir: text('folder', 'same as [folder] (default: the current folder)'),
    force: flag('overwrite existing files'),
  },
  examples: ['init', 'init --php tests', 'init --dir test/gateway'],
  run: async ({ args, options, io: { cwd } }) => {
    const folder = resolve(cwd, args[0] ?? options.dir ?? '.');
    const elsewhere = relative(cwd, folder);
    const names = (Object.keys(STARTERS) as (keyof typeof STARTERS)[]).filter((name) => options[name]);
    const starters: Starter[] = names.map((name) => STARTERS[name]);
    const files = new Map<string, string>();
    for (const name of starters.flatMap(({ files }) => files))
      files.set(join(folder, name), await readFile(packaged(`src/init/${name}`), 'utf8'));
    if (!starters.length) {
      files.set(join(folder, CONFIGURATION_FILE), configurationTemplate());
      files.set(join(folder, FIXTURES_FILE), await readFile(packaged('fixtures/default.json'), 'utf8'));
    }
    const kept = await writeFiles(files, { folder, cwd, force: options.force });
    return {
      json: { files: [...files.keys()] },
      text: [...files.keys()]
        .map((path) => `${kept.has(path) ? 'kept' : 'wrote'} ${shownFrom(cwd, path)}`)
        .join('\n'),
      notices: starters.length
        ? starters.flatMap(({ run, files, needs }) => [
            `Run it: ${run} ${shownFrom(cwd, join(folder, files.at(-1) ?? ''))}. Then let it use your own handler instead of the one in ${files.at(-2)}.`,
            ...(needs && !foldersAbove(cwd).some((one) => existsSync(join(one, needs.file)))
              ? [`First install what it needs: ${needs.install}`]
              : []),
          ])
        : [
            `Every option is listed in ${CONFIGURATION_FILE}, with its default; ${FIXTURES_FILE} has the merchants and wallets of a new state.`,
            hint`Edit them, then run: ${elsewhere && `cd ${elsewhere} && `}${command('start')}`,
          ],
    };
  },
});

/** Checks all files, then writes each completely. @returns the files that existed with the same content */
async function writeFiles(
  files: ReadonlyMap<string, string>,
  { folder, cwd, force }: { folder: string; cwd: string; force: true | undefined },
): Promise<ReadonlySet<string>> {
  const shown = (path: string) => shownFrom(cwd, path);
  const existing: string[] = [];
  const kept = new Set<string>();
  for (const [path, text] of files) {
    const found = await lstat(path).catch(() => undefined);
    if (!found) continue;
    if (!found.isFile()) {
      throw usage(`nothing was written: ${shown(path)} is not a regular file`, {
        hint: hint`Remove it, or choose another folder.`,
      });
    }
    if ((await readFile(path, 'utf8').catch(() => '')) === text) kept.add(path);
    else existing.push(path);
  }
  if (existing.length && !force) {
    throw usage(`nothing was written: this would overwrite ${existing.map(shown).join(' and ')}`, {
      hint: hint`Overwrite with --force, or choose another folder.`,
    });
  }
  await orStorageFailed(makeFolder(folder), shown(folder));
  for (const [path, text] of files)
    if (!kept.has(path)) await orStorageFailed(writeAtomically(path, text, 0o644), shown(path));
  return kept;
}
