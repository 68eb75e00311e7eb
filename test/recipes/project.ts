import { existsSync, realpathSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { expect, inject } from 'vitest';
import { FENCES, ROOT } from '../docs/pages.ts';
import { launchProgram } from '../helpers/child.ts';
import { TARBALL } from './packed.ts';

/** The code block of the documentation whose first line names this file. */
export function recipe(file: string): string {
  const found = FENCES.filter(({ code }) =>
    [`// ${file}`, `# ${file}`].includes(code.split('\n', 1)[0] ?? ''),
  );
  if (found.length !== 1) {
    throw new Error(
      `the documentation has ${found.length} code blocks that begin with the file name ${file}`,
    );
  }
  return found[0]?.code ?? '';
}

/** A replacement for PHPUnit, which this repository does not have. It runs one test of a file. */
export const phpunit = (file: string, method: string): string => `<?php
namespace PHPUnit\\Framework {
    class TestCase {
        private function must(bool $holds, string $why): void { if (!$holds) throw new \\Exception($why); }
        function assertSame($expected, $got) { $this->must($expected === $got, json_encode([$expected, $got])); }
        function assertCount($count, $of) { $this->must(count($of) === $count, 'count'); }
        function assertNotFalse($got, $why) { $this->must($got !== false, $why); }
        function assertIsString($got, $why) { $this->must(is_string($got), $why); }
        function assertArrayNotHasKey($key, $in, $why) { $this->must(!array_key_exists($key, $in), $why); }
    }
}
namespace { require '${file}'; (new ${basename(file, '.php')})->${method}(); echo 'OK (1 test)'; }
`;

/** Test runners that this repository does not have, because they are large: `.ci/runners` installs them. */
const COMMANDS: Readonly<Record<string, string>> = { jest: 'jest', '@playwright/test': 'playwright' };

/** The folder of a package: in this repository, or where the command of a test runner is on the PATH. */
function packageFolder(name: string): string | undefined {
  const command = COMMANDS[name];
  if (command === undefined) return join(ROOT, 'node_modules', name);
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, command));
  const found = paths.find((path) => existsSync(path));
  const [folder] =
    /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(found ? realpathSync(found) : '') ?? [];
  return folder;
}

/** For the title of a test: that its test runner is not installed; empty if it is. */
export const missingRunner = (name: string): string =>
  packageFolder(name) === undefined ? ` (${name} is not installed)` : '';

/** A project in which the packed package is installed. */
export interface Project {
  folder: string;
  tarball: string;
  write: (name: string, text: string) => Promise<void>;
  /** Writes code blocks of the documentation to the files that they name. */
  recipes: (...files: string[]) => Promise<void>;
  /** Writes the shop of the Node page, and the file of `init` that it needs. */
  shop: () => Promise<void>;
  /** Runs a command. Its environment has only CI, the variables of `inherited` and the given ones. */
  run: (
    command: readonly string[],
    env?: Record<string, string>,
  ) => Promise<{
    /** stdout and stderr, as written. */
    output: string;
    code: number | null;
  }>;
  remove: () => Promise<void>;
}

/** Creates a project. @param runners more packages that are installed in it, except those that are missing here */
export async function createProject(runners: readonly string[] = []): Promise<Project> {
  const root = await mkdtemp(join(tmpdir(), 'gateway-sim-project-'));
  await cp(inject('installed'), root, { recursive: true, verbatimSymlinks: true });
  const folder = join(root, 'shop');
  // Test runners store compiled files there.
  const TMPDIR = join(root, 'tmp');
  await mkdir(TMPDIR);
  for (const runner of runners) {
    const link = join(folder, 'node_modules', runner);
    const target = packageFolder(runner);
    await mkdir(dirname(link), { recursive: true });
    if (target !== undefined) await symlink(target, link);
  }
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  const recipes = async (...files: string[]) => {
    for (const file of files) await write(file, recipe(file));
  };
  return {
    folder,
    tarball: join(root, 'gateway-sim', TARBALL),
    write,
    recipes,
    shop: async () => {
      await recipes('shop.cjs');
      await cp(join(ROOT, 'src/init/payments.cjs'), join(folder, 'payments.cjs'));
    },
    run: (command, env) => runIn(folder, command, { TMPDIR, ...env }),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Runs a test runner, which must report this and leave nothing open. */
export async function expectPass(project: Project, runner: readonly string[], passed: RegExp): Promise<void> {
  const { code, output } = await project.run(runner);
  expect([code, output]).toEqual([0, expect.stringMatching(passed)]);
  expect(output).not.toMatch(/did not (exit|close)|close timed out|open handle/i);
}

async function runIn(cwd: string, command: readonly string[], env: Record<string, string>) {
  const { child, ended } = launchProgram(command, { cwd, env: { CI: 'true', NO_COLOR: '1', ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text: string) => {
      output += text;
    });
  }
  return { code: (await ended).code, output };
}
