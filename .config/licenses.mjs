// Collects the licences of the bundled packages, which must be distributed with their code.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const RULE = `\n${'-'.repeat(80)}\n`;

/**
 * @param modules the paths of the modules that were bundled
 * @returns one text, package by package
 */
export function licensesOf(modules) {
  const folders = new Set(modules.filter((path) => path.includes('node_modules')).map(packageFolder));
  return [...folders].sort().map(licenseOf).join(RULE);
}

/** The nearest package.json with a name: some only set the module type of a folder. */
function packageFolder(path) {
  const folder = dirname(path);
  const file = join(folder, 'package.json');
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version ? folder : packageFolder(folder);
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
