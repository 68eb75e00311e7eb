// Installs the packages of the peers from the registry into their own folder.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Exact versions: `emulate@latest` is an older package of another author. */
export const PEERS = { emulate: '0.12.2', 'json-server': '1.0.0-beta.15' };

/**
 * Installs the peers without running their scripts.
 *
 * @returns by name: the script to run
 * @throws if the registry cannot be reached
 */
export async function fetchPeers(folder) {
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  const wanted = Object.entries(PEERS).map(([name, version]) => `${name}@${version}`);
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
      const { bin } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
      return [name, join(root, typeof bin === 'string' ? bin : bin[name])];
    }),
  );
  return Object.fromEntries(found);
}

/** Why the installation failed, in a few words. */
export function whyNotFetched(error) {
  const [, code] = /npm (?:error|ERR!) code (\w+)/.exec(error.stderr ?? '') ?? [];
  return code ?? error.message.split('\n')[0];
}
