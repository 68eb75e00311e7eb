// What a user waits for and what a user downloads.
import { execFileSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { initiateRequest } from './load.mjs';
import { BINARY, inFolder, timed, withSim } from './processes.mjs';
import { atMost, median } from './rows.mjs';

const ROUNDS = 11;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export async function startUp() {
  const times = { node: [], start: [], version: [] };
  for (let number = 0; number < ROUNDS; number++) {
    times.node.push(await timed(process.execPath, ['-e', '0']));
    times.version.push(await timed(process.execPath, [BINARY, '--version']));
    times.start.push(await inFolder((folder) => withSim(folder, ({ readyMs }) => readyMs)));
  }
  const node = median(times.node);
  const row = (what, name, target) =>
    atMost(what, median(times[name]) / node, target, 'x', `${median(times[name]).toFixed(0)} ms`);
  return [
    row(`cold start to the ready event, of node -e 0 (${node.toFixed(0)} ms)`, 'start', 2.2),
    row('--version, of node -e 0', 'version', 1.35),
  ];
}

export function packageSize() {
  return inFolder(async (folder) => {
    const npm = (args, cwd) =>
      execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const packed = npm(['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], ROOT).trim();
    const options = [
      '--offline',
      '--no-audit',
      '--no-fund',
      '--cache',
      join(folder, 'cache'),
      '--prefix',
      folder,
    ];
    npm(['install', ...options, join(folder, packed)], folder);
    const modules = join(folder, 'node_modules');
    const names = await readdir(modules);
    const tarball = (await stat(join(folder, packed))).size;
    return [
      atMost('installed size', (await bytesIn(modules)) / 2 ** 20, 8, ' MB', `tarball ${tarball >> 10} KB`),
      atMost('installed packages', names.filter((name) => !name.startsWith('.')).length, 20),
    ];
  });
}

async function bytesIn(folder) {
  let total = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) total += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return total;
}

export function pageSize() {
  return inFolder((folder) =>
    withSim(folder, async (sim) => {
      const request = initiateRequest({ ...sim, kind: 'urlencoded' }).toString();
      const body = request.slice(request.indexOf('\r\n\r\n') + 4);
      const answer = await fetch(`${sim.url}/sandbox/payment/initiate`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      });
      const { url } = await answer.json();
      const page = await (await fetch(url)).text();
      const others = [...page.matchAll(/<(?:link|script|img)[^>]+(?:href|src)="(?!data:)/g)].length;
      return [
        atMost('checkout page', Buffer.byteLength(page) / 1024, 60, ' KB'),
        atMost('requests of the checkout page', 1 + others, 4, '', 'with the logo'),
      ];
    }),
  );
}
