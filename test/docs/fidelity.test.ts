import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, start } from '../helpers/cli.ts';
import { linesNamed } from '../helpers/conform.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { startSim } from '../helpers/sim.ts';
import { fence } from './pages.ts';
import { typed } from './typed.ts';

const PROFILES = 'fidelity.md: Profiles';
const CONFORM = 'fidelity.md: Check a deployment';

test('a profile can be chosen as the page shows', async () => {
  const cwd = await temporaryFolder();
  const flags = fence(PROFILES, 'sh').trim().split(' ').slice(3);
  const { ready } = await start(['--in-memory', ...flags], { cwd });
  const status = await (await fetch(`${ready.url}/_sim/status`)).json();
  expect(status).toMatchObject({ fidelity: { profile: 'server' } });
  await writeFile(join(cwd, 'gateway-sim.config.json'), fence(PROFILES, 'json'));
  await start(['--port', '0'], { cwd });
  const { stdout } = await run(['status'], { cwd });
  expect(stdout).toMatch(/^Profile +server, but siteLogo required$/m);
});

test('the conform commands work as the page shows', async () => {
  const cwd = await temporaryFolder();
  const few = linesNamed('field-logo-missing', 'field-logo-optional').map((line) => JSON.stringify(line));
  await writeFile(join(cwd, 'few.jsonl'), few.join('\n'));
  const more = ['--manifest', 'few.jsonl'];
  // The default port may have an emulator already.
  const elsewhere = { GATEWAY_SIM_PORT: String(await freePort()) };
  const own = await typed(fence(CONFORM, 'sh'), { cwd, more, env: elsewhere });
  expect([own.code, own.stdout]).toEqual([0, expect.stringContaining(' 0 differ')]);
  const { url, publicKey, secretKey } = await startSim({ profile: 'server' });
  await writeFile(join(cwd, 'secret-key.txt'), `${secretKey}\n`);
  const there = fence(CONFORM, 'sh', 1).replace('https://pay.example.com', url);
  const checked = await typed(there, { cwd, more, env: { PUBLIC_KEY: publicKey } });
  expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining('1 differ')]);
});
