import { spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { execConfiguration } from '../../src/cli/configuration.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { launch, run } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';

const BINARY = fileURLToPath(new URL('../../bin/gateway-sim.js', import.meta.url));
const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');

const node = (script: string): string[] => ['--', process.execPath, '-e', script];

/** A command that says how it is called and waits; a signal makes it say which, and end with 9. */
const LISTENER = `
  let count = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) process.on(signal, () => {
    console.log('got', signal, ++count);
    setTimeout(() => process.exit(9), 100);
  });
  setInterval(() => {}, 1000);
  console.log('up', process.pid, process.env.GATEWAY_SIM_URL);`;

/** Whether nobody listens on the port of an address any more. */
async function isFree(url: string): Promise<boolean> {
  const { port } = new URL(url);
  return new Promise((resolve) => {
    const taker = createServer()
      .once('error', () => resolve(false))
      .listen(Number(port), '127.0.0.1', () => taker.close(() => resolve(true)));
  });
}

describe('exec', () => {
  it('gives the command a fresh emulator that answers, and keeps stdout for it', async () => {
    const cwd = await temporaryFolder();
    const script = `
      const { GATEWAY_SIM_URL: url, GATEWAY_SIM_INITIATE_URL: initiate, ...env } = process.env;
      fetch(url + '/_sim/status').then((answer) => answer.json()).then((status) => console.log(JSON.stringify({
        url, initiate, mode: status.mode, pid: status.pid === process.ppid,
        keys: [env.GATEWAY_SIM_PUBLIC_KEY, env.GATEWAY_SIM_SECRET_KEY], token: env.GATEWAY_SIM_CONTROL_TOKEN,
      })))`;
    const { code, stdout, stderr } = await run(['exec', ...node(script)], { cwd });
    const seen = JSON.parse(stdout) as { url: string };
    expect([code, stderr]).toEqual([0, '']);
    expect(seen).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      initiate: `${seen.url}/sandbox/payment/initiate`,
      mode: 'in-memory',
      pid: true,
      keys: ['pub_sim_example_not_a_real_key', 'sec_sim_example_not_a_real_key'],
    });
    expect(await isFree(seen.url)).toBe(true);
  });

  it('tells the control token where there is one', async () => {
    const script = `fetch(process.env.GATEWAY_SIM_URL + '/_sim/status', {
      headers: { Authorization: 'Bearer ' + process.env.GATEWAY_SIM_CONTROL_TOKEN },
    }).then(({ status }) => console.log(status))`;
    const { stdout } = await run(['exec', '--host', '0.0.0.0', ...node(script)], {
      cwd: await temporaryFolder(),
    });
    expect(stdout).toBe('200\n');
  });

  it.each([
    ['its own exit code', ['sh', '-c', 'exit 7'], 7, ''],
    ['128 and the signal that ended it', ['sh', '-c', 'kill -KILL $$'], 137, ''],
    ['127 for a command that there is not', ['no-such-command'], 127, 'no-such-command'],
    ['127 and a hint for a whole line', ['npm test --if-present'], 127, "sh -c '"],
    ['126 for what cannot be run', ['/dev/null'], 126, '/dev/null'],
    ['2 without a command', [], 2, 'gateway-sim.js exec -- npm test'],
  ])('ends with %s', async (_, command, expected, said) => {
    const { code, stdout, stderr } = await run(['exec', '--', ...command], { cwd: await temporaryFolder() });
    expect([code, stdout]).toEqual([expected, '']);
    expect(stderr).toContain(said);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('tells once why an initiate was refused, with every option that it needs and those in force', async () => {
    const script = `(async () => {
      const body = new URLSearchParams({ public_key: process.env.GATEWAY_SIM_PUBLIC_KEY, identifier: 'a',
        currency: 'npr', amount: '1', details: 'x', ipn_url: 'http://localhost/', success_url: 'http://localhost/',
        cancel_url: 'http://localhost/', customer_name: 'A', customer_email: 'a@b.test' });
      for (const _ of [1, 2]) await fetch(process.env.GATEWAY_SIM_INITIATE_URL, { method: 'POST', body });
    })()`;
    const cwd = await temporaryFolder();
    const flags = ['--sandbox-code', '1 2', '--no-panel', '--secret-key', 'sec_of_the_team'];
    const { stdout, stderr } = await run(['exec', ...flags, ...node(script)], { cwd });
    expect(stdout).toBe('');
    expect(stderr.split('was refused')).toHaveLength(2);
    expect(stderr).toContain(
      'gateway-sim: POST /sandbox/payment/initiate was refused\n  site_logo is required',
    );
    expect(stderr).toContain(
      `exec --no-panel --sandbox-code '1 2' --secret-key '…' --loose --currency NPR accepts this request\n`,
    );
    const quiet = await run(['exec', '--quiet', ...node(script)], { cwd });
    expect(quiet.stderr).toBe('');
  });

  it('reads nothing behind the --, and wants it before options of the command', async () => {
    const cwd = await temporaryFolder();
    const script = "require('fs').writeSync(1, JSON.stringify(process.argv.slice(1)))";
    const words = ['--port', 'x', '--help', '-V', '--', '--json'];
    const { code, stdout } = await run(['exec', '--loose', ...node(script), '--', ...words], { cwd });
    expect([code, JSON.parse(stdout)]).toEqual([0, words]);
    const without = await run(['exec', 'npm', 'test', '--coverage'], { cwd });
    expect([without.code, without.stderr]).toEqual([
      2,
      expect.stringContaining('exec -- npm test --coverage'),
    ]);
    const slip = await run(['exec', '--prot', '0', '--', 'true'], { cwd });
    expect([slip.code, slip.stderr]).toEqual([2, expect.stringContaining('--port')]);
  });

  it('passes stdin on', async () => {
    const options = { cwd: await temporaryFolder(), input: 'hello' };
    expect((await run(['exec', '--', 'cat'], options)).stdout).toBe('hello');
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)(
    'hands %s on once, waits for the command and leaves nothing behind',
    async (signal) => {
      const port = String(await freePort());
      const args = ['exec', '--port', port, ...node(LISTENER)];
      const running = launch(args, { cwd: await temporaryFolder() });
      await running.until((stdout) => stdout.includes('\n'));
      const [, pid = '', url = ''] = running.stdout().trim().split(' ');
      running.child.kill(signal);
      const { code, stdout, stderr } = await running.ended;
      expect([code, stdout.split('\n').slice(1), stderr]).toEqual([9, [`got ${signal} 1`, ''], '']);
      expect([isAlive(Number(pid)), await isFree(url)]).toEqual([false, true]);
    },
  );

  it.runIf(hasTerminal)('leaves Ctrl-C to the terminal, which sends it to the command too', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'listener.cjs'), `${LISTENER} console.log('exec ' + process.ppid + ' end')`);
    // In a session of its own the command gets from us what it gets, and nothing from the terminal.
    // exec: a shell that stays in between would end by the Ctrl-C itself, with a code of its own.
    const command = `exec '${process.execPath}' '${BINARY}' exec -- setsid '${process.execPath}' listener.cjs`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    let said = '';
    const sent = new Set<string>();
    const once = (text: string, act: () => void) => {
      if (!said.includes(text) || sent.has(text)) return;
      sent.add(text);
      act();
    };
    terminal.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
      once(' end', () => terminal.stdin.write('\x03'));
      once('^C', () => process.kill(Number(/exec (\d+)/.exec(said)?.[1]), 'SIGTERM'));
    });
    const code = await new Promise((resolve) => terminal.on('close', resolve));
    expect([code, said.match(/got \w+/g)]).toEqual([9, ['got SIGTERM']]);
  });

  it('ends what the command left running, also what does not want to', async () => {
    const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log(process.pid)";
    const script = [
      `'${process.execPath}' -e "${stubborn}" > pid & sleep 1000 & echo $!`,
      'until [ -s pid ]; do sleep 0.02; done; cat pid; exit 7',
    ].join('\n');
    const running = launch(['exec', '--', 'sh', '-c', script], { cwd: await temporaryFolder() });
    const { code, stdout } = await running.ended;
    const pids = stdout.trim().split('\n').map(Number);
    expect([code, pids.length, pids.some(isAlive)]).toEqual([7, 2, false]);
  });

  it.each([
    ['alone', (pid: number) => process.kill(pid, 'SIGKILL')],
    ['with its process group', (pid: number) => process.kill(-pid, 'SIGKILL')],
  ])('frees its port and ends its command even when it is killed %s', async (_, kill) => {
    const stubborn = `
      process.on('SIGTERM', () => {});
      setInterval(() => {}, 1000);
      console.log('up', process.pid, process.env.GATEWAY_SIM_URL);`;
    const port = String(await freePort());
    const child = spawn(process.execPath, [BINARY, 'exec', '--port', port, ...node(stubborn)], {
      cwd: await temporaryFolder(),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    const up = new Promise<void>((resolve) =>
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk;
        if (said.includes('\n')) resolve();
      }),
    );
    await up;
    const [, pid = '', url = ''] = said.trim().split(' ');
    onTestFinished(() => {
      if (isAlive(Number(pid))) process.kill(Number(pid), 'SIGKILL');
    });
    // The command holds this output, too: it ends only with it.
    const ended = new Promise((resolve) => child.on('close', resolve));
    kill(child.pid ?? 0);
    await ended;
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
    expect(await isFree(url)).toBe(true);
  });

  it('leaves no watcher behind', async () => {
    const script = `console.log(require('child_process').execFileSync('ps', ['-eo', 'pid,ppid,args']).toString())`;
    const { stdout } = await run(['exec', ...node(script)], { cwd: await temporaryFolder() });
    const watcher = /^ *(\d+) .*read -r group/m.exec(stdout)?.[1];
    expect(watcher).toBeDefined();
    await expect.poll(() => isAlive(Number(watcher))).toBe(false);
  });

  it('says what cannot be as start does', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'gateway-sim.config.json'), '{"prot": 1}');
    const { code, stderr } = await run(['exec', '--', 'true'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('"port"')]);
  });
});

describe('what exec runs with', () => {
  const named = { port: 4711, dataDir: '/somewhere', inMemory: false };
  const file = { values: { ...named, loose: true }, label: (name: string) => name };
  const environment = {
    GATEWAY_SIM_PORT: '4711',
    GATEWAY_SIM_DATA_DIR: '/somewhere',
    GATEWAY_SIM_IN_MEMORY: '0',
    GATEWAY_SIM_SEED: 's',
  };

  it('is not the port and the data folder of the environment or the file, but all else', () => {
    expect(execConfiguration({}, environment, file)).toMatchObject({
      port: 0,
      dataDir: '.gateway-sim',
      inMemory: true,
      loose: true,
      seed: 's',
    });
  });

  it('is never about open, quiet and detach, whatever the environment or the file say', async () => {
    const plain = { open: false, quiet: false, detach: false };
    const asked = { GATEWAY_SIM_OPEN: '1', GATEWAY_SIM_QUIET: '1', GATEWAY_SIM_DETACH: '1' };
    const values = { open: true, quiet: true, detach: true };
    expect(execConfiguration({}, asked, { ...file, values })).toMatchObject(plain);
    const cwd = await temporaryFolder();
    await writeFile(
      join(cwd, 'gateway-sim.config.json'),
      JSON.stringify({ ...values, faults: [{ route: 'cards', status: 503 }] }),
    );
    const { code, stdout, stderr } = await run(['exec', '--', 'echo', 'ran'], { cwd, env: asked });
    expect([code, stdout, stderr]).toEqual([0, 'ran\n', expect.stringContaining('FAULT ON')]);
    for (const flag of ['--open', '--detach']) {
      expect([flag, (await run(['exec', flag, '--', 'true'], { cwd })).code]).toEqual([flag, 2]);
    }
  });

  it('is what a flag says', () => {
    const flags = { port: '4712', dataDir: 'here', panel: true };
    expect(execConfiguration(flags, environment, file)).toMatchObject({
      port: 4712,
      dataDir: 'here',
      inMemory: false,
    });
    expect(execConfiguration({ ...flags, inMemory: true }, {}, undefined).inMemory).toBe(true);
  });
});
