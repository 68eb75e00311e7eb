// The sizes of the package and of the checkout page.
import { execFileSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { initiateRequest, openLane } from './load.mjs';
import { inFolder, ROOT, withFreshSim } from './processes.mjs';
import { measured } from './rows.mjs';

export function packed() {
  return inFolder(async (folder) => {
    const npm = (args, cwd) =>
      execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const file = npm(['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], ROOT).trim();
    const quiet = ['--offline', '--no-audit', '--no-fund'];
    const places = ['--cache', join(folder, 'cache'), '--prefix', folder];
    npm(['install', ...quiet, ...places, join(folder, file)], folder);
    const modules = join(folder, 'node_modules');
    const names = await readdir(modules);
    const { size } = await stat(join(folder, file));
    return [
      measured('installed size', (await bytesIn(modules)) / 2 ** 20, `tarball ${size >> 10} KB`),
      measured('installed packages', names.filter((name) => !name.startsWith('.')).length),
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

export function page() {
  return withFreshSim(async (sim) => {
    const lane = await openLane(sim.port, '"success":"ok"');
    const answer = (await lane.ask(initiateRequest(sim))).toString();
    lane.close();
    const { url } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    const html = await (await fetch(url)).text();
    const others = [...html.matchAll(/<(?:link|script|img)[^>]+(?:href|src)="(?!data:)([^"]*)/g)];
    const ours = others.filter(([, address]) => !address.includes('logo.png'));
    return [
      measured('checkout page', Buffer.byteLength(html) / 1024),
      measured('requests of the checkout page, without the logo', 1 + ours.length),
    ];
  });
}
