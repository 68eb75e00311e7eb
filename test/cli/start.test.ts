import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runJson as runBinary, startBinary } from '../helpers/binary.ts';
import { shellWords } from '../helpers/child.ts';
import { launch, run, runJson, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { fields } from '../helpers/records.ts';

const STACK = /^\s+at .*:\d+:\d+\)?$/m;
const ESCAPE = '\u001b';

async function initiate(url: string, publicKey: string, identifier: string): Promise<string> {
  const body = new URLSearchParams(fields({ public_key: publicKey, identifier }) as Record<string, string>);
  const response = await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', body });
  return ((await response.json()) as { url: string }).url;
}

describe('start --json', () => {
  it('prints ready in its first line, after it accepts requests', async () => {
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

  it('with --quiet prints nothing after that', async () => {
    const { ready, stop } = await start(['--in-memory', '--quiet'], {
      cwd: await temporaryFolder(),
    });
    await initiate(ready.url, ready.publicKey, 'order-1');
    const { stdout, code } = await stop();
    expect(stdout.split('\n')).toEqual([JSON.stringify(ready), '']);
    expect(ready.dataDir).toBeNull();
    expect(code).toBe(0);
  });

  it('without --quiet prints one JSON line per event', async () => {
    const { ready, stdout, until } = await start(['--in-memory'], { cwd: await temporaryFolder() });
    await initiate(ready.url, ready.publicKey, 'order-1');
    await until((text) => text.includes('"type":"request"'));
    const lines = stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type?: string });
    expect(lines.map(({ type }) => type)).toEqual([undefined, 'payment', 'request']);
  });
});

describe('start for people', () => {
  it('shows how to connect, one line per event, and no colours without a terminal', async () => {
    const cwd = await temporaryFolder();
    const running = launch(['start', '--port', '0', '--in-memory'], { cwd });
    await running.until((text) => text.includes('Ctrl-C'));
    const url = /Base URL +(\S+)/.exec(running.stdout())?.[1] ?? '';
    for (const fact of [
      'LOCAL EMULATOR',
      'Dashboard',
      'Public key',
      'Secret key',
      'test_mode@mail.com',
      '222666',
      'wallet@example.com',
    ]) {
      expect(running.stdout()).toContain(fact);
    }
    await initiate(url, 'pub_sim_example_not_a_real_key', 'order-77');
    await running.until((text) => text.includes('-->'));
    expect(running.stdout()).toContain('order-77');
    const secrets = running.stdout().match(/sec_sim_example_not_a_real_key/g);
    expect(secrets).toHaveLength(1);
    expect(running.stdout()).not.toContain(ESCAPE);
  });

  it('outlives the reader of its output', async () => {
    const running = await startBinary(['--in-memory'], { cwd: await temporaryFolder() });
    running.child.stdout?.destroy();
    for (const name of ['a', 'b', 'c']) await initiate(running.ready.url, running.ready.publicKey, name);
    running.child.kill('SIGTERM');
    const [code] = (await once(running.child, 'exit')) as [number];
    expect([code, running.stderr()]).toEqual([0, '']);
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

  it('at an address that others can reach, and only the banner prints the token', async () => {
    const cwd = await temporaryFolder();
    const server = launch(['start', '--port', '0', '--in-memory', '--host', '0.0.0.0'], { cwd });
    await server.until((stdout) => stdout.includes('Ctrl-C'));
    const [, command = ''] = /Try it +(.*)/.exec(server.stdout()) ?? [];
    const [, inbox = ''] = /code: (.*)/.exec(server.stdout()) ?? [];
    for (const line of [command, inbox]) expect(await pasted(line, cwd)).toMatchObject({ code: 0 });
  });

  it('even in an error', async () => {
    const cwd = await temporaryFolder();
    const { ready } = await start(['--data-dir', 'one'], { cwd });
    for (const args of [
      ['--data-dir', 'one', '--port', '0'],
      ['--port', String(ready.port)],
    ]) {
      const { code, stderr } = await run(['start', ...args], { cwd });
      expect([code, stderr]).toEqual([5, expect.stringContaining('in use')]);
      const [, stop = ''] = /(?:Stop it|stop the other emulator) with: (.*?)(?: \(|$)/m.exec(stderr) ?? [];
      const status = stop.replace(' stop ', ' status ');
      expect((await pasted(status, cwd)).stdout).toContain(ready.url);
    }
  });
});

describe('a start that fails', () => {
  it('on a port in use exits 5 and says how to choose another', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    onTestFinished(() => void blocker.close());
    const { port } = blocker.address() as { port: number };
    const cwd = await temporaryFolder();
    const { code, stderr, stdout } = await run(['start', '--port', String(port), '--json'], { cwd });
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toContain(`port ${port}`);
    expect(stderr).toContain('--port');
    expect(stderr).not.toMatch(STACK);
  });

  it('on a folder in use exits 5 and does not affect the other emulator', async () => {
    const cwd = await temporaryFolder();
    const { ready } = await start([], { cwd });
    const { code, stderr } = await run(['start', '--port', '0'], { cwd });
    expect(code).toBe(5);
    expect(stderr).toMatch(/in use/);
    expect(stderr).toContain(String(ready.pid));
    expect((await runJson<{ pid: number }>(['status'], { cwd })).body.pid).toBe(ready.pid);
  });

  it('on a folder that cannot be written exits 5 and names it', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'file'), '');
    const { code, stderr } = await run(['start', '--port', '0', '--data-dir', 'file/state'], { cwd });
    expect(code).toBe(5);
    expect(stderr).toContain(join(cwd, 'file', 'state'));
    expect(stderr).toContain('--in-memory');
    expect(stderr).not.toMatch(STACK);
  });

  it.each([
    [
      'a file',
      (path: string) => writeFile(path, 'x'),
      /cannot be written: a file with this name already exists\n.*--data-dir/,
    ],
    [
      'a dangling link',
      (path: string) => symlink('/nowhere/at/all', path),
      /is a dangling link: there is nothing at \/nowhere\/at\/all\n/,
    ],
  ] as const)('on a folder that is %s exits 5 and says so', async (_, make, said) => {
    const cwd = await temporaryFolder();
    await make(join(cwd, '.gateway-sim'));
    const { code, stderr } = await run(['start', '--port', '0'], { cwd });
    expect([code, stderr]).toEqual([5, expect.stringMatching(said)]);
  });

  it.skipIf(!existsSync('/proc/self')).each([['start'], ['start', '--detach']])(
    '%s %s on a folder that cannot be created exits 5 immediately',
    async (...command) => {
      const args = ['--port', '0', '--data-dir', '/proc/x/y'];
      const { code, stderr } = await run([...command, ...args], {
        cwd: await temporaryFolder(),
      });
      expect([code, stderr]).toEqual([5, expect.stringContaining('/proc/x/y')]);
    },
  );

  it.each([
    ['is not JSON', '{"version":1,'],
    ['is of a newer version', '{"version":999}'],
    ['is something else', '[]'],
  ])('on a db.json that %s exits 6 and does not touch it', async (_, content) => {
    const cwd = await temporaryFolder();
    const folder = join(cwd, '.gateway-sim');
    await mkdir(folder);
    await writeFile(join(folder, 'db.json'), content);
    const { code, stderr } = await run(['start', '--port', '0'], { cwd });
    expect(code).toBe(6);
    expect(stderr).toContain('db.json');
    expect(stderr).not.toMatch(STACK);
    expect(await readFile(join(folder, 'db.json'), 'utf8')).toBe(content);
  });
});

describe('a start below a folder with a state', () => {
  it('creates a new state, and says so', async () => {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, '.gateway-sim'));
    await writeFile(join(cwd, '.gateway-sim', 'db.json'), '{"version":1}');
    await mkdir(join(cwd, 'tests'));
    const { until } = await start([], { cwd: join(cwd, 'tests') });
    const said =
      'created a new state in .gateway-sim; to use the existing one, start with --data-dir ../.gateway-sim';
    await until((_, stderr) => stderr.includes(said));
    expect(await readFile(join(cwd, '.gateway-sim', 'db.json'), 'utf8')).toBe('{"version":1}');
  });
});

describe('pending work', () => {
  it('is reported by stop, by the next start and at its end', async () => {
    const cwd = await temporaryFolder();
    const { ready, ended } = await start(['--payment-expires', '1h'], { cwd });
    await initiate(ready.url, ready.publicKey, 'order-1');
    const { stderr } = await run(['stop'], { cwd });
    expect(stderr).toMatch(/Work is still scheduled, next at 2\d{3}-.*Z\. It continues after the next start/);
    await ended;
    const next = await start([], { cwd });
    await next.until((_, stderr) => /gateway-sim: Work is still scheduled, next at 2\d{3}-/.test(stderr));
    expect((await next.stop('SIGINT')).stderr).toMatch(
      /next at 2\d{3}-.*Z\. It continues after the next start\n$/,
    );
  });
});

describe('a signal', () => {
  it.each([
    ['SIGINT', 2],
    ['SIGTERM', 1],
  ] as const)('%s stops gracefully and exits 0, even if it is sent %i times', async (signal, times) => {
    const cwd = await temporaryFolder();
    const { ready, child, ended, stderr } = await startBinary([], { cwd });
    await initiate(ready.url, ready.publicKey, 'order-1');
    for (let time = 0; time < times; time++) child.kill(signal);
    const { code } = await ended;
    expect([code, stderr()]).toEqual([0, '']);
    expect(await readFile(join(cwd, '.gateway-sim', 'db.json'), 'utf8')).toContain('order-1');
    await expect(stat(join(cwd, '.gateway-sim', 'server.json'))).rejects.toThrow('ENOENT');
  });
});

describe('stop', () => {
  it('returns when the port is free and the process has ended', async () => {
    const cwd = await temporaryFolder();
    const { ready, ended } = await startBinary(['--port', String(await freePort())], { cwd });
    const { code, body } = await runBinary<object>(['stop'], { cwd });
    expect(code).toBe(0);
    expect(body).toEqual({ stopped: true, url: ready.url, pid: ready.pid });
    expect(() => process.kill(ready.pid, 0)).toThrow('ESRCH');
    const taker = createServer().listen(ready.port, '127.0.0.1');
    await once(taker, 'listening');
    taker.close();
    expect((await ended).code).toBe(0);
  });

  it('exits 3 if no emulator is named or found, and never uses the default address', async () => {
    const { code, stderr } = await run(['stop'], { cwd: await temporaryFolder() });
    expect(code).toBe(3);
    expect(stderr).toContain('--url');
  });
});

it.skipIf(process.platform === 'win32')(
  'a data folder from a configuration file that was only found must not be a link',
  async () => {
    const cwd = await temporaryFolder();
    const elsewhere = join(cwd, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, join(cwd, 'data'));
    const file = join(cwd, 'gateway-sim.config.json');
    await writeFile(file, '{"dataDir":"data","port":0}');
    const { code, stderr } = await run(['start'], { cwd });
    expect([code, stderr]).toEqual([5, expect.stringContaining('is a link and was not used')]);
    expect(await readdir(elsewhere)).toEqual([]);
    await (await start([], { cwd, env: { GATEWAY_SIM_CONFIG: file } })).stop();
    expect(await readdir(elsewhere)).toContain('db.json');
  },
);
