import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { run, startBinary } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { fence, ROOT } from './pages.ts';

const PROFILES = 'fidelity.md: Profiles';
const CONFORM = 'fidelity.md: Hold it against a deployment';
const GATEWAY_SIM = `'${process.execPath}' '${join(ROOT, 'bin/gateway-sim.js')}'`;

/** Runs a block as it stands on the page. */
async function typed(text: string, cwd: string, env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const command = text.replaceAll('npx gateway-sim', GATEWAY_SIM);
  return promisify(execFile)('sh', ['-ec', command], { cwd, env: { PATH, HOME, ...env } });
}

test('a profile is chosen as the page shows it', async () => {
  const cwd = await temporaryFolder();
  const flags = fence(PROFILES, 'sh').trim().split(' ').slice(3);
  const { ready } = await startBinary(['--in-memory', ...flags], { cwd });
  const status = await (await fetch(`${ready.url}/_sim/status`)).json();
  expect(status).toMatchObject({ fidelity: { profile: 'newer-server' } });
  await writeFile(join(cwd, 'gateway-sim.config.json'), fence(PROFILES, 'json'));
  const { stdout } = await run(['--version', '--verbose'], { cwd });
  expect(stdout).toContain('newer-server, but siteLogo required  (');
});

test('conform is called as the page shows it', async () => {
  const cwd = await temporaryFolder();
  expect((await typed(fence(CONFORM, 'sh'), cwd)).stdout).toContain(' 0 differ');
  const { ready } = await startBinary(['--in-memory', '--profile', 'newer-server'], { cwd });
  await writeFile(join(cwd, 'secret-key.txt'), `${ready.secretKey}\n`);
  const there = fence(CONFORM, 'sh', 1).replace('https://pay.example.com', ready.url);
  await expect(typed(there, cwd, { PUBLIC_KEY: ready.publicKey })).rejects.toMatchObject({ code: 1 });
  const differences = JSON.parse(await readFile(join(cwd, 'differences.json'), 'utf8'));
  expect(differences).toMatchObject({ profile: 'document' });
  expect(
    (await typed(`npx gateway-sim conform --profile ./ours.json --target ${ready.url}`, cwd)).stdout,
  ).toContain(' 0 differ');
});
