import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectionFlags, NEVER_GUESS } from '../../src/cli/connection-flags.ts';
import { DEFAULT_URL } from '../../src/contract/address.ts';
import { BINARY } from '../helpers/binary.ts';
import { run } from '../helpers/cli.ts';
import { fullName, PROGRAM, withCommandsBelow } from '../helpers/commands.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const ROOT = dirname(dirname(BINARY));

/** How the program writes its own name in a folder. */
async function programIn(cwd: string): Promise<string | undefined> {
  const { stdout } = await run([], { cwd });
  return /For all commands, run: (.+) --help/.exec(stdout)?.[1];
}

describe('printed commands', () => {
  it('use npx in a project that has the package, and below it', async () => {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, 'node_modules', '.bin'), { recursive: true });
    await symlink(BINARY, join(cwd, 'node_modules', '.bin', 'gateway-sim'));
    await mkdir(join(cwd, 'src'));
    expect(await programIn(cwd)).toBe('npx gateway-sim');
    expect(await programIn(join(cwd, 'src'))).toBe('npx gateway-sim');
  });

  it('use npx in a clone', async () => {
    expect(await programIn(ROOT)).toBe('npx gateway-sim');
  });

  it('use a path where npx would run another program, or none', async () => {
    const cwd = await temporaryFolder({ 'node_modules/.bin/gateway-sim': '' });
    const path = relative(cwd, BINARY);
    const shortest = path.length < BINARY.length ? path : BINARY;
    expect(await programIn(cwd)).toBe(`node ${shortest}`);
    expect(await programIn(await temporaryFolder())).toMatch(/^node /);
    expect(await programIn(dirname(ROOT))).toBe(`node ${relative(dirname(ROOT), BINARY)}`);
  });
});

describe('the flags that find an emulator', () => {
  const memory = { dataDir: null, tlsCa: null };

  it('are none in its folder and below', async () => {
    const cwd = await temporaryFolder({ '.gateway-sim/server.json': '{}' });
    const dataDir = join(cwd, '.gateway-sim');
    await mkdir(join(cwd, 'src'));
    const found = { url: 'http://127.0.0.1:5000', dataDir, tlsCa: null };
    expect(connectionFlags(found, { cwd, env: {} })('pay')).toBe('');
    expect(connectionFlags(found, { cwd: join(cwd, 'src'), env: {} })('stop')).toBe('');
    expect(connectionFlags(found, { cwd: dirname(cwd), env: {} })('pay')).toMatch(/^--data-dir \S+$/);
  });

  it('are none at the default address, except for commands that never guess it', async () => {
    const cwd = await temporaryFolder();
    const flags = connectionFlags({ url: DEFAULT_URL, ...memory }, { cwd, env: {} });
    expect([flags('pay'), flags('stop')]).toEqual(['', `--url ${DEFAULT_URL}`]);
    const env = { GATEWAY_SIM_URL: 'http://127.0.0.1:5000' };
    expect(connectionFlags({ url: DEFAULT_URL, ...memory }, { cwd, env })('pay')).toBe(
      `--url ${DEFAULT_URL}`,
    );
    await writeFile(join(cwd, 'gateway-sim.config.json'), '{"port": 5000}');
    expect(connectionFlags({ url: DEFAULT_URL, ...memory }, { cwd, env: {} })('pay')).toBe(
      `--url ${DEFAULT_URL}`,
    );
  });

  it('are the URL, and the certificate, of an emulator in memory', async () => {
    const cwd = await temporaryFolder();
    const url = 'https://127.0.0.1:5000';
    expect(connectionFlags({ url, dataDir: null, tlsCa: 'ca.pem' }, { cwd, env: {} })('pay')).toBe(
      `--url ${url} --tls-ca ca.pem`,
    );
  });

  it('know every command that never guesses', () => {
    const names = withCommandsBelow(PROGRAM).map((one) => fullName(one).replace('gateway-sim ', ''));
    expect([...NEVER_GUESS].filter((name) => !names.includes(name))).toEqual([]);
  });
});
