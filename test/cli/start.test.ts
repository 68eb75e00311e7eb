import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SNAPSHOT_VERSION } from '../../src/store/snapshot.ts';
import { startBinary } from '../helpers/binary.ts';
import { shellWords } from '../helpers/child.ts';
import { launch, run, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { ORDER } from '../helpers/sim.ts';

async function initiate(ready: { url: string; publicKey: string }, identifier: string): Promise<void> {
  const body = new URLSearchParams({ ...ORDER, public_key: ready.publicKey, identifier });
  await fetch(`${ready.url}/sandbox/payment/initiate`, { method: 'POST', body });
}

describe('start --json', () => {
  it('prints the ready event in its first line, as soon as it accepts requests', async () => {
    const cwd = await temporaryFolder();
    const { ready } = await start([], { cwd });
    expect((await fetch(`${ready.url}/_sim/readyz`)).status).toBe(200);
    expect(ready).toEqual({
      event: 'ready',
      url: `http://127.0.0.1:${ready.port}`,
      port: ready.port,
      publicKey: 'pub_sim_example_not_a_real_key',
      secretKey: 'sec_sim_example_not_a_real_key',
      dashboardUrl: `${ready.url}/_sim`,
      dataDir: join(cwd, '.gateway-sim'),
      controlToken: null,
      tlsCa: null,
      proxyPort: null,
      pid: process.pid,
    });
    const { mode } = await stat(join(cwd, '.gateway-sim', 'server.json'));
    expect(mode & 0o777).toBe(0o600);
    expect(await readFile(join(cwd, '.gateway-sim', '.gitignore'), 'utf8')).toBe('*\n');
  });
});

describe('the keys of start', () => {
  const OWN = { GATEWAY_SIM_PUBLIC_KEY: 'pub_sim_own', GATEWAY_SIM_SECRET_KEY: 'sec_sim_own' };

  it('must be a whole pair if one differs from the stored pair', async () => {
    const cwd = await temporaryFolder();
    await (await start([], { cwd, env: OWN })).stop();
    const half = await run(['start', '--port', '0'], {
      cwd,
      env: { GATEWAY_SIM_SECRET_KEY: 'sec_sim_other' },
    });
    expect(half).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/GATEWAY_SIM_SECRET_KEY .*--public-key and --secret-key/),
    });
    const same = await start([], { cwd, env: { GATEWAY_SIM_SECRET_KEY: 'sec_sim_own' } });
    expect(same.stderr()).not.toContain('were replaced');
    await same.stop();
    const env = { GATEWAY_SIM_PUBLIC_KEY: 'pub_sim_other', GATEWAY_SIM_SECRET_KEY: 'sec_sim_other' };
    const changed = await start([], { cwd, env });
    expect(changed.ready).toMatchObject({ publicKey: 'pub_sim_other', secretKey: 'sec_sim_other' });
    expect(changed.stderr()).toContain(
      'the stored keys were replaced, because GATEWAY_SIM_PUBLIC_KEY differs',
    );
  });

  it('are masked in prose if they may be real, with one warning', async () => {
    const keys = { publicKey: 'pk_live_0123456789abcdef', secretKey: 'sk_live_0123456789abcdef' };
    const flags = ['--public-key', keys.publicKey, '--secret-key', keys.secretKey];
    const cwd = await temporaryFolder();
    const prose = launch(['start', '--in-memory', '--port', '0', ...flags], { cwd });
    await prose.until((text) => text.includes('Press Ctrl-C'));
    const printed = prose.stdout() + prose.stderr();
    expect(printed).toMatch(/^ {2}Initiate URL {2}http:\/\/127\.0\.0\.1:\d+\/sandbox\/payment\/initiate$/m);
    expect(printed).not.toContain('0123456789');
    expect(printed.match(/never use a real key here: --public-key .* and --secret-key/g)).toHaveLength(1);
    expect((await start(['--in-memory', ...flags], { cwd })).ready).toMatchObject(keys);
  });
});

describe('start', () => {
  it('keeps running when the reader of its output ends', async () => {
    const running = await startBinary(['--in-memory'], { cwd: await temporaryFolder() });
    running.child.stdout?.destroy();
    for (const name of ['a', 'b', 'c']) await initiate(running.ready, name);
    running.child.kill('SIGTERM');
    const [code] = (await once(running.child, 'exit')) as [number];
    expect([code, running.stderr()]).toEqual([0, '']);
  });
});

const HAS_IPV6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

describe('start and exec on a port that is taken', () => {
  it.runIf(HAS_IPV6)('on ::1 only says that localhost may be the other process', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '::1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const cwd = await temporaryFolder();
    const { stderr } = launch(['start', '--port', String(port), '--in-memory'], { cwd });
    const notice = `another process uses port ${port} on ::1`;
    await vi.waitFor(() => expect(stderr()).toContain(notice));
    expect(stderr()).toContain(`so use http://127.0.0.1:${port}`);
  });

  it('by another emulator name it, and the command that stops it', async () => {
    const cwd = await temporaryFolder();
    const { ready } = await start(['--in-memory'], { cwd });
    const port = ['--port', String(ready.port), '--in-memory'];
    for (const args of [
      ['start', ...port],
      ['exec', ...port.slice(0, 2), '--', 'true'],
    ]) {
      const { code, stderr } = await run(args, { cwd });
      expect([code, stderr]).toEqual([5, expect.stringContaining('is in use by another gateway-sim')]);
      expect(stderr).toContain(`stop --url ${ready.url}`);
      expect(stderr).toContain('--port 0 --data-dir <folder>');
    }
  });
});

describe('a printed command finds its emulator', () => {
  const pasted = (text: string, cwd: string) => {
    const [node, , ...args] = shellWords(text);
    expect(node).toBe('node');
    return run(args, { cwd });
  };

  it.each([[[]], [['--in-memory']], [['--data-dir', "it's mine"]]])('with %j', async (args) => {
    const cwd = await temporaryFolder();
    const server = launch(['start', '--port', '0', ...args], { cwd });
    await server.until((stdout) => stdout.includes('Ctrl-C'));
    const command = /Try it +(.*)/.exec(server.stdout())?.[1] ?? '';
    const created = await pasted(`${command.replace(/--ipn-url \S+/, '')} --identifier order-1`, cwd);
    const [, pay = ''] = /or with: (.*)/.exec(created.stderr) ?? [];
    expect((await pasted(pay, cwd)).stdout).toMatch(/Status +succeeded/);
  });

  it('at an address that other machines can reach', async () => {
    const cwd = await temporaryFolder();
    const server = launch(['start', '--port', '0', '--in-memory', '--host', '0.0.0.0'], { cwd });
    await server.until((stdout) => stdout.includes('Ctrl-C'));
    const [, command = ''] = /Try it +(.*)/.exec(server.stdout()) ?? [];
    const [, inbox = ''] = /code from: (.*)/.exec(server.stdout()) ?? [];
    for (const line of [command, inbox]) expect(await pasted(line, cwd)).toMatchObject({ code: 0 });
  });

  it('even in an error', async () => {
    const cwd = await temporaryFolder();
    const { ready } = await start(['--data-dir', 'one'], { cwd });
    const { code, stderr } = await run(['start', '--data-dir', 'one', '--port', '0'], { cwd });
    expect([code, stderr]).toEqual([5, expect.stringContaining('in use')]);
    const [, stop = ''] = /stop this one with: (.*?)(?: \(|$)/m.exec(stderr) ?? [];
    expect((await pasted(stop.replace(' stop ', ' status '), cwd)).stdout).toContain(ready.url);
  });
});

describe('a start on a folder that cannot be created', () => {
  it.skipIf(!existsSync('/proc/self')).each([['start'], ['start', '--detach']])(
    'exits 5 immediately (%s %s)',
    async (...command) => {
      const args = ['--port', '0', '--data-dir', '/proc/x/y'];
      const { code, stderr } = await run([...command, ...args], { cwd: await temporaryFolder() });
      expect([code, stderr]).toEqual([5, expect.stringContaining('/proc/x/y')]);
    },
  );
});

describe('a start below a folder with a state', () => {
  it('creates a new state, and says so', async () => {
    const state = JSON.stringify({ version: SNAPSHOT_VERSION });
    const cwd = await temporaryFolder({ '.gateway-sim/db.json': state });
    await mkdir(join(cwd, 'tests'));
    const { until } = await start([], { cwd: join(cwd, 'tests') });
    const notice =
      'created a new state in .gateway-sim; to use the existing one, start with --data-dir ../.gateway-sim';
    await until((_, stderr) => stderr.includes(notice));
    expect(await readFile(join(cwd, '.gateway-sim', 'db.json'), 'utf8')).toBe(state);
  });
});

describe('pending work', () => {
  it('is reported by stop, by the next start, and when that emulator ends', async () => {
    const cwd = await temporaryFolder();
    const { ready, ended } = await start(['--payment-expires', '1h'], { cwd });
    await initiate(ready, 'order-1');
    const { stderr } = await run(['stop'], { cwd });
    expect(stderr).toMatch(
      /some work is still scheduled, next at 2\d{3}-.*Z; it continues after the next start/,
    );
    await ended;
    const next = await start([], { cwd });
    await next.until((_, stderr) =>
      /gateway-sim: some work is still scheduled, next at 2\d{3}-/.test(stderr),
    );
    expect((await next.stop('SIGINT')).stderr).toMatch(
      /next at 2\d{3}-.*Z; it continues after the next start\n$/,
    );
    const quiet = await start(['--quiet'], { cwd });
    expect((await quiet.stop('SIGINT')).stderr).toBe('');
  });
});

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s stops gracefully and exits 0', async (signal) => {
    const cwd = await temporaryFolder();
    const { ready, child, ended, stderr } = await startBinary([], { cwd });
    await initiate(ready, 'order-1');
    child.kill(signal);
    const { code } = await ended;
    expect([code, stderr()]).toEqual([0, '']);
    expect(await readFile(join(cwd, '.gateway-sim', 'db.json'), 'utf8')).toContain('order-1');
    await expect(stat(join(cwd, '.gateway-sim', 'server.json'))).rejects.toThrow('ENOENT');
  });

  it('that is sent again, as by npm, is one signal, even while the process ends', async () => {
    const { child, ended } = await startBinary([], { cwd: await temporaryFolder() });
    const first = performance.now();
    // The emulator takes a signal after a second for a user in a hurry, so a loaded machine gets fewer.
    const repeat = setInterval(() => performance.now() - first < 300 && child.kill('SIGINT'), 1);
    onTestFinished(() => clearInterval(repeat));
    expect((await ended).code).toBe(0);
  });
});

it.skipIf(process.platform === 'win32')(
  'a data folder that a discovered configuration file names must not be a link',
  async () => {
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': '{"dataDir":"data","port":0}' });
    const elsewhere = join(cwd, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, join(cwd, 'data'));
    const { code, stderr } = await run(['start'], { cwd });
    expect([code, stderr]).toEqual([5, expect.stringContaining('is a link and was not used')]);
    expect(await readdir(elsewhere)).toEqual([]);
    await (await start([], { cwd, env: { GATEWAY_SIM_CONFIG: 'gateway-sim.config.json' } })).stop();
    expect(await readdir(elsewhere)).toContain('db.json');
  },
);
