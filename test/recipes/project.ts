import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { FENCES, ROOT } from '../docs/pages.ts';

const runFile = promisify(execFile);

/** The code block of the documentation whose first line names this file, as it stands there. */
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

/** What a command left behind. */
export interface Ended {
  code: number | null;
  /** stdout and stderr, as they came. */
  output: string;
}

/** An empty project that has the packed package installed. */
export interface Project {
  folder: string;
  write: (name: string, text: string) => Promise<void>;
  /** Writes code blocks of the documentation, each into its file. */
  recipes: (...files: string[]) => Promise<void>;
  /** Runs a command with the variables PATH, HOME, CI and those given, and nothing else. */
  run: (command: readonly string[], env?: Record<string, string>) => Promise<Ended>;
  remove: () => Promise<void>;
}

/**
 * Packs the package and installs it, without a network, into a project of its own.
 *
 * @param runners packages of the repository that the project has too
 */
export async function createProject(runners: readonly string[] = []): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-project-'));
  const cache = join(folder, '.cache');
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('package.json', '{ "name": "shop", "private": true }\n');
  const tarball = await packInto(folder);
  const install = ['install', '--offline', '--no-audit', '--no-fund', '--cache', cache, tarball];
  await runFile('npm', install, { cwd: folder });
  for (const runner of runners) {
    const link = join(folder, 'node_modules', runner);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', runner), link);
  }
  return {
    folder,
    write,
    recipes: async (...files) => {
      for (const file of files) await write(file, recipe(file));
    },
    run: (command, env) => runIn(folder, command, env),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Packs the package as `npm publish` would. Returns the path of the tarball. */
export async function packInto(folder: string): Promise<string> {
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const { stdout } = await runFile('npm', pack, { cwd: ROOT });
  return join(folder, stdout.trim());
}

function runIn(
  folder: string,
  [command = '', ...args]: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: { PATH, HOME, CI: 'true', NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const read = (text: string) => {
      output += text;
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
