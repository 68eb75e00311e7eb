import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const TARBALL = `${manifest.name}-${manifest.version}.tgz`;

/** The installation commands in README.md. */
export const STEPS = { pack: 'npm run pack', install: `npm install --save-dev ../gateway-sim/${TARBALL}` };

/**
 * Packs the package like `npm publish`, and installs it into a new project without a network.
 *
 * @returns the folder that contains both, and what the command that packs it printed
 */
export async function installPacked() {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-installed-'));
  const [packed, shop] = [join(folder, 'gateway-sim'), join(folder, 'shop')];
  for (const name of [packed, shop]) await mkdir(name);
  await writeFile(join(shop, 'package.json'), '{ "name": "shop", "private": true }\n');
  const type = (line: string, cwd: string) => promisify(execFile)('sh', ['-c', line], { cwd });
  const { stdout, stderr } = await type(`${STEPS.pack} -- --pack-destination ${packed}`, ROOT);
  await type(`${STEPS.install} --offline --no-audit --no-fund --cache .cache`, shop);
  return { folder, printed: { stdout, stderr } };
}
