import { spawnSync } from 'node:child_process';
import { mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';

const KEY = 'sec_of_the_team_1234';

async function folderWithSecrets(): Promise<string> {
  return temporaryFolder({
    'config/sim.json': '{ "secretKey": "@../key" }',
    key: `${KEY}\nmore that is not read\n`,
    token: 'token-of-the-team\r\n',
    empty: '\n',
    bom: `\uFEFF${KEY}\n`,
  });
}

const FLAGS = ['--in-memory', '--quiet'];

describe('a secret in a file', () => {
  it('is accepted by a flag', async () => {
    const cwd = await folderWithSecrets();
    const { ready } = await start(['--secret-key', '@key', '--control-token', `@${cwd}/token`, ...FLAGS], {
      cwd,
    });
    expect(ready).toMatchObject({ secretKey: KEY, controlToken: 'token-of-the-team' });
    const connection = ['--url', ready.url, '--control-token', '@token'];
    expect(await run(['status', ...connection], { cwd })).toMatchObject({ code: 0 });
    const env = { GATEWAY_SIM_CONTROL_TOKEN: '@token' };
    expect(await run(['status', '--url', ready.url], { cwd, env })).toMatchObject({ code: 0 });
  });

  it.each([
    ['a variable', { GATEWAY_SIM_SECRET_KEY: '@key' }],
    ['the configuration file, relative to its folder', { GATEWAY_SIM_CONFIG: 'config/sim.json' }],
  ])('is accepted by %s', async (_, env) => {
    const cwd = await folderWithSecrets();
    expect((await start(FLAGS, { cwd, env })).ready.secretKey).toBe(KEY);
  });

  it.each(['@../key', '@link'])(
    'is not read from outside the folder of a discovered configuration file: %s',
    async (controlToken) => {
      const folder = await folderWithSecrets();
      const cwd = join(folder, 'checkout');
      await mkdir(cwd);
      await symlink(join(folder, 'key'), join(cwd, 'link'));
      const file = join(cwd, 'gateway-sim.config.json');
      await writeFile(file, JSON.stringify({ port: 0, inMemory: true, controlToken }));
      for (const command of ['start', 'payments']) {
        const { code, stderr } = await run([command], { cwd });
        const why =
          /"controlToken" in gateway-sim.config.json points outside its own folder: .*GATEWAY_SIM_CONFIG/s;
        expect([code, stderr]).toEqual([2, expect.stringMatching(why)]);
      }
      const named = { cwd, env: { GATEWAY_SIM_CONFIG: file, GATEWAY_SIM_PORT: String(await freePort()) } };
      expect((await run(['payments'], named)).code).toBe(3);
    },
  );

  it.skipIf(process.platform === 'win32')(
    'is not read from a pipe that a discovered configuration file names',
    async () => {
      const config = { port: 0, controlToken: '@pipe' };
      const cwd = await temporaryFolder({ 'gateway-sim.config.json': JSON.stringify(config) });
      spawnSync('mkfifo', [join(cwd, 'pipe')]);
      // Without a writer, a read would hang.
      const pipe = await open(join(cwd, 'pipe'), 'r+');
      onTestFinished(() => pipe.close());
      await pipe.write('{}\n');
      const { code, stderr } = await run(['payments'], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining('pipe: it is not a regular file')]);
    },
  );

  it('is accepted by --secret', async () => {
    const cwd = await folderWithSecrets();
    const body = 'status=success&identifier=a&data[amount]=1&signature=x';
    const { stdout } = await run(['ipn', 'verify', body, '--secret', '@key', '--json'], { cwd });
    const asText = await run(['ipn', 'verify', body, '--secret', KEY, '--json'], { cwd });
    expect(stdout).toBe(asText.stdout);
    expect(stdout).toContain('"expected":"');
  });

  it.each([
    ['@nowhere', /--secret-key cannot be read from .*nowhere: ENOENT/],
    ['@empty', /--secret-key reads the first line of .*empty, which is empty/],
    ['@.', /cannot be read from .*: EISDIR/],
    ['@bom', /--secret-key must be .*: it starts with a byte order mark/],
  ])('that cannot be read (%s) is rejected with exit code 2', async (secret, message) => {
    const cwd = await folderWithSecrets();
    const { code, stderr } = await run(['start', '--in-memory', '--secret-key', secret], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});

it.each([
  [{ GATEWAY_SIM_SECRET_KEY: `${KEY}\r` }, /GATEWAY_SIM_SECRET_KEY must .*: it ends with a carriage return/],
  [{ GATEWAY_SIM_PORT: '4477\r' }, /GATEWAY_SIM_PORT must .*: it ends with a carriage return/],
  [{ GATEWAY_SIM_SANDBOX_CODE: '111111\r' }, /GATEWAY_SIM_SANDBOX_CODE .*: it ends with a carriage return/],
])(
  'a variable from a .env with Windows line ends is rejected, and the character is named: %j',
  async (env, message) => {
    const { code, stderr } = await run(['start', '--in-memory'], { cwd: await temporaryFolder(), env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(stderr).not.toContain(KEY);
  },
);

it('a control token with a carriage return is rejected, and the character is named', async () => {
  const env = { GATEWAY_SIM_CONTROL_TOKEN: 'token-of-the-team\r', GATEWAY_SIM_URL: 'http://127.0.0.1:9' };
  const { code, stderr } = await run(['status'], { cwd: await temporaryFolder(), env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('it ends with a carriage return')]);
});

it.each([
  [[], '--control-token <token> '],
  [['start'], '--secret-key <key> '],
  [['exec'], '--secret-key <key> '],
])('%j --help warns that other users can see a secret in %s', async (command, flag) => {
  const { stdout } = await run([...command, '--help'], { cwd: await temporaryFolder() });
  const [, described] = stdout.replace(/\s+/g, ' ').split(flag);
  expect(described).toMatch(/^.{0,100}flags are visible to other users/);
});
