// Installs the packages of the peers from the registry into their own folder.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The repositories are checked, because names can change owners: `emulate@latest` is an older package of another author. */
export const PEERS = {
  emulate: { version: '0.12.2', repository: 'github.com/vercel-labs/emulate' },
  'json-server': { version: '1.0.0-beta.15', repository: 'github.com/typicode/json-server' },
};

/**
 * Installs the peers without running their scripts.
 *
 * @returns by name: the `script` to run, or a `problem` if it is not the expected package
 * @throws if the registry cannot be reached
 */
export async function fetchPeers(folder) {
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  const wanted = Object.entries(PEERS).map(([name, { version }]) => `${name}@${version}`);
  const quiet = [
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--fetch-retries',
    '0',
    '--loglevel',
    'error',
  ];
  await promisify(execFile)('npm', ['install', ...quiet, ...wanted], { cwd: folder, timeout: 120_000 });
  const found = await Promise.all(
    Object.keys(PEERS).map(async (name) => {
      const root = join(folder, 'node_modules', name);
      const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
      const problem = problemOf(name, manifest);
      if (problem) return [name, { problem }];
      const { bin } = manifest;
      return [name, { script: join(root, typeof bin === 'string' ? bin : bin[name]) }];
    }),
  );
  return Object.fromEntries(found);
}

/** Why a package is not the expected peer; undefined if it is. */
function problemOf(name, manifest) {
  const { version, repository } = PEERS[name];
  const address = manifest.repository?.url ?? manifest.repository ?? 'no repository';
  const itsOwn = String(address).replace(/^(?:git\+)?\w+:(?:\/\/)?|\.git$/g, '');
  const isIt = itsOwn === repository || `github.com/${itsOwn}` === repository;
  if (manifest.name === name && manifest.version === version && isIt) return undefined;
  return `refused: ${manifest.name} ${manifest.version} of ${itsOwn} is not ${version} of ${repository}`;
}

/** Why the installation failed, in a few words. */
export function whyNotFetched(error) {
  const [, code] = /npm (?:error|ERR!) code (\w+)/.exec(error.stderr ?? '') ?? [];
  return code ?? error.message.split('\n')[0];
}
