import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { execConfiguration } from '../../src/cli/configuration.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { BINARY, launch as launchBinary, run as runBinary } from '../helpers/binary.ts';
import { killGroup, launchProgram } from '../helpers/child.ts';
import { launch, run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER } from '../helpers/sim.ts';

const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');

const node = (script: string): string[] => ['--', process.execPath, '-e', script];
/** A shell command. It writes to files, because its stdout is that of the tests. */
const sh = (script: string): string[] => ['--', 'sh', '-c', script];

/** The process id of the emulator at an address, if it responds. */
const pidAt = (url: string) =>
  fetch(`${url}/_sim/status`).then(
    async (answer) => ((await answer.json()) as { pid: number }).pid,
    () => undefined,
  );

it('exec shows a person where the emulator and its dashboard are', async () => {
  const cwd = await temporaryFolder();
  const { stderr } = await run(['exec', '--', 'true'], { cwd, isTerminal: true });
  expect(stderr).toMatch(/^gateway-sim: (http:\/\/127\.0\.0\.1:\d+), dashboard \1\/_sim$/m);
});

describe('exec', () => {
  it('starts an emulator for the command, and leaves stdin and stdout to the command', async () => {
    const cwd = await temporaryFolder();
    const script = `
      const { GATEWAY_SIM_URL: url, GATEWAY_SIM_INITIATE_URL: initiate, ...env } = process.env;
      fetch(url + '/_sim/status').then((answer) => answer.json()).then((status) => console.log(JSON.stringify({
        url, initiate, mode: status.mode, pid: status.pid === process.ppid, read: require('fs').readFileSync(0, 'utf8'),
        keys: [env.GATEWAY_SIM_PUBLIC_KEY, env.GATEWAY_SIM_SECRET_KEY], token: env.GATEWAY_SIM_CONTROL_TOKEN,
      })))`;
    const { code, stdout, stderr } = await runBinary(['exec', ...node(script)], { cwd, input: 'hello' });
    const seen = JSON.parse(stdout) as { url: string };
    expect([code, stderr]).toEqual([0, '']);
    expect(seen).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      initiate: `${seen.url}/sandbox/payment/initiate`,
      mode: 'in-memory',
      pid: true,
      read: 'hello',
      keys: ['pub_sim_example_not_a_real_key', 'sec_sim_example_not_a_real_key'],
    });
  });

  /** A command that initiates and approves orders, with a shop of its own that rejects their IPNs unless it gets an address. */
  const paying = (amounts: readonly string[], ipnUrl = '') =>
    node(`
      const { GATEWAY_SIM_URL: url, GATEWAY_SIM_INITIATE_URL: initiate, GATEWAY_SIM_PUBLIC_KEY: key } = process.env;
      const shop = require('http').createServer((_, answer) => answer.writeHead(400).end()).listen(0, async () => {
        const ipn_url = ${JSON.stringify(ipnUrl)} || 'http://127.0.0.1:' + shop.address().port;
        const order = { ...${JSON.stringify(ORDER)}, ipn_url, public_key: key };
        for (const [index, amount] of ${JSON.stringify(amounts)}.entries()) {
          const body = new URLSearchParams({ ...order, amount, identifier: 'order-' + index });
          await fetch(initiate, { method: 'POST', body });
          await fetch(url + '/_sim/payments/order-' + index + '/settle', {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"outcome":"approve"}',
          });
        }
        shop.close();
        shop.closeAllConnections();
      });`);

  it('asks receivers why they rejected IPNs, and prints equal verdicts once', async () => {
    const receiver = await startReceiver(({ body }) => {
      const form = new URLSearchParams(body);
      const text = Number(form.get('data[amount]')) + (form.get('identifier') ?? '');
      const expected = createHmac('sha256', 'sec_sim_example_not_a_real_key').update(text).digest('hex');
      return form.get('signature') === expected.toUpperCase() ? {} : { status: 400 };
    });
    const cwd = await temporaryFolder();
    const { stderr } = await run(['exec', ...paying(['49.90', '49.90', '7.50'], receiver.url)], { cwd });
    const verdicts = [
      ...stderr.matchAll(/^gateway-sim: an IPN was not accepted: (Your handler signs \S+)/gm),
    ];
    expect(verdicts.map(([, said]) => said)).toEqual(['Your handler signs 49.9.', 'Your handler signs 7.5.']);
    expect(stderr).toContain('  Fix: Sign the text of data.amount');
    const quiet = await run(['exec', '--quiet', ...paying(['49.90'], receiver.url)], { cwd });
    expect(quiet.stderr).toBe('');
  });

  it('names assertDelivered if the receiver is gone', async () => {
    const { stderr } = await run(['exec', ...paying(['49.90', '7.50'])], { cwd: await temporaryFolder() });
    expect(
      stderr.match(/an IPN was not accepted: Your handler rejected a genuine IPN \(400\)/g),
    ).toHaveLength(2);
    expect(stderr).toContain('In the test, sim.ipns.assertDelivered(ref) finds the cause.');
  });

  /** The variables that the command gets. */
  async function variables(flags: readonly string[], env: Record<string, string> = {}) {
    const cwd = await temporaryFolder();
    expect(await run(['exec', ...flags, ...sh('env > seen')], { cwd, env })).toMatchObject({ code: 0 });
    const lines = (await readFile(join(cwd, 'seen'), 'utf8')).split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))) as Record<
      string,
      string
    >;
  }

  it('passes on the control token if there is one', async () => {
    const created = await variables(['--host', '0.0.0.0']);
    expect(created['GATEWAY_SIM_CONTROL_TOKEN']).toMatch(/^[\w-]{20,}$/);
    const chosen = await variables(['--control-token', 'of-the-team-0001']);
    expect(chosen['GATEWAY_SIM_CONTROL_TOKEN']).toBe('of-the-team-0001');
  });

  it('keeps requests to this machine from every proxy', async () => {
    const hosts = '127.0.0.1,localhost,::1';
    expect(await variables([])).toMatchObject({ NO_PROXY: hosts, no_proxy: hosts });
    const seen = await variables([], { NO_PROXY: 'shop.test, localhost', no_proxy: 'x.test' });
    const all = 'shop.test,localhost,x.test,127.0.0.1,::1';
    expect(seen).toMatchObject({ NO_PROXY: all, no_proxy: all });
  });

  it("does not change the user's other variables", async () => {
    const set = { NODE_EXTRA_CA_CERTS: '/of/the/user.pem', GATEWAY_SIM_LOOSE: '1', GATEWAY_SIM_PORT: '1' };
    const env = { ...set, GATEWAY_SIM_URL: 'http://127.0.0.1:9', GATEWAY_SIM_TLS_CA: '/of/another.pem' };
    const seen = await variables(['--tls', '--host-alias', 'pay.example.com'], env);
    expect(seen).toMatchObject({
      ...set,
      GATEWAY_SIM_URL: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d\d+$/),
      GATEWAY_SIM_TLS_CA: expect.stringMatching(/ca\.pem$/),
      GATEWAY_SIM_HOST_ALIAS: 'pay.example.com',
    });
  });

  it('sets proxy and trust variables for clients with a fixed host, keeps their trusted certificates, and lists the variables', async () => {
    const cwd = await temporaryFolder();
    const inherited = join(cwd, 'theirs.pem');
    await writeFile(inherited, 'THEIRS');
    const NO_PROXY =
      'shop.test,.example.com,pay.example.com:443,*.example.com x.test pay.example.com, example.com.';
    const env = { NO_PROXY, REQUESTS_CA_BUNDLE: inherited, NODE_OPTIONS: '--no-deprecation' };
    const flags = ['--tls', '--proxy', '--host-alias', 'pay.example.com/base'];
    const files = '"$SSL_CERT_FILE" "$REQUESTS_CA_BUNDLE" "$CURL_CA_BUNDLE" "$NODE_EXTRA_CA_CERTS"';
    const script = `env > seen; head -c 6 "$REQUESTS_CA_BUNDLE" > theirs; grep -c BEGIN ${files} > counts`;
    const { stderr } = await run(['exec', ...flags, ...sh(script)], { cwd, env });
    const seen = await readFile(join(cwd, 'seen'), 'utf8');
    for (const name of ['http_proxy', 'https_proxy'])
      expect(seen).toMatch(new RegExp(`^${name}=http://127\\.0\\.0\\.1:\\d+$`, 'm'));
    expect(seen).toMatch(/^NO_PROXY=shop\.test,x\.test,127\.0\.0\.1,localhost,::1$/m);
    expect(seen).toMatch(
      /^(NODE_USE_ENV_PROXY=1|NODE_OPTIONS=--no-deprecation --require ".*alias-hosts\.js")$/m,
    );
    expect(await readFile(join(cwd, 'theirs'), 'utf8')).toBe('THEIRS');
    const counts = (await readFile(join(cwd, 'counts'), 'utf8')).match(/\d+$/gm)?.map(Number) ?? [];
    // In order: the system's roots plus ours, the inherited file plus ours, the system's roots plus ours again, and
    // only ours for Node.
    expect(counts).toEqual([expect.any(Number), 1, counts[0], 1]);
    expect(counts[0]).toBeGreaterThan(20);
    for (const name of ['https_proxy', 'SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'php -d curl.cainfo=', 'gets 403'])
      expect(stderr).toContain(name);
    const bundle = /^SSL_CERT_FILE=(.*)$/m.exec(seen)?.[1] ?? '';
    await expect(readFile(bundle)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('reports why the proxy rejected a host, which clients do not', async () => {
    const flags = ['--tls', '--proxy', '--host-alias', 'pay.example.com'];
    const ask = `const { hostname: host, port } = new URL(process.env.https_proxy);
      const connect = (path) => require('node:http').request({ host, port, method: 'CONNECT', path })
        .on('connect', ({ statusCode }, socket) => { socket.destroy(); process.exitCode = statusCode === 403 ? 7 : 1; }).end();
      connect('other.example:443');
      connect('other.example:443');`;
    const { code, stderr } = await run(['exec', ...flags, ...node(ask)], { cwd: await temporaryFolder() });
    expect(code).toBe(7);
    const told = stderr.match(/^gateway-sim: this proxy serves only .*$/gm);
    expect(told).toEqual([expect.stringContaining('start with --host-alias other.example')]);
  });

  const ALIAS = ['--host-alias', 'pay.example.com'];
  it.each([
    ['warns if', [...ALIAS], sh('true'), '--tls --proxy'],
    ['warns, with --tls, if', ['--tls', ...ALIAS], sh('true'), ': add --proxy'],
    ['is quiet with --proxy if', ['--proxy', ...ALIAS], sh('true'), undefined],
    [
      'is quiet with alias-hosts if',
      [...ALIAS],
      [...sh('true'), '--import', 'gateway-sim/alias-hosts'],
      undefined,
    ],
    ['is quiet without an alias if', [], sh('true'), undefined],
  ])('%s nothing redirects the program to the emulator: %j', async (_, flags, command, fix) => {
    const { stderr } = await run(['exec', ...flags, ...command], { cwd: await temporaryFolder() });
    const warning =
      /nothing redirects the command's requests to pay\.example\.com, which would reach the real gateway.*/;
    expect(warning.exec(stderr)?.[0]).toEqual(fix && expect.stringContaining(fix));
  });

  it.each([
    ['its own exit code', ['sh', '-c', 'exit 7'], 7, ''],
    ['128 and the signal that ended it', ['sh', '-c', 'kill -KILL $$'], 137, ''],
    ['127 for a missing command', ['no-such-command'], 127, 'no-such-command'],
    ['127 and a hint for a whole line', ['npm test --if-present'], 127, "sh -c '"],
    ['126 for a file that is not executable', ['/dev/null'], 126, '/dev/null'],
    ['2 without a command', [], 2, 'gateway-sim.js exec -- npm test'],
  ])('ends with %s', async (_, command, expected, message) => {
    const { code, stdout, stderr } = await run(['exec', '--', ...command], { cwd: await temporaryFolder() });
    expect([code, stdout]).toEqual([expected, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('reports only once why an initiate request was rejected, with the options that accept it', async () => {
    const script = `(async () => {
      const order = { ...${JSON.stringify(ORDER)}, public_key: process.env.GATEWAY_SIM_PUBLIC_KEY };
      const body = new URLSearchParams({ ...order, currency: 'npr', site_logo: '' });
      for (const _ of [1, 2]) await fetch(process.env.GATEWAY_SIM_INITIATE_URL, { method: 'POST', body });
    })()`;
    const cwd = await temporaryFolder();
    const { stdout, stderr } = await run(['exec', ...node(script)], { cwd });
    expect(stdout).toBe('');
    expect(stderr.split('was rejected')).toHaveLength(2);
    expect(stderr).toContain(
      'gateway-sim: POST /sandbox/payment/initiate was rejected\n  site_logo is required',
    );
    expect(stderr).toContain('start with --loose and --currency NPR to accept this request\n');
    const accepting = ['--loose', '--currency', 'NPR'];
    const again = await run(['exec', ...accepting, ...node(script)], { cwd });
    expect([again.code, again.stderr]).toEqual([0, '']);
    const observed = await run(['exec', '--profile', 'observed', ...node(script)], { cwd });
    expect([observed.code, observed.stderr]).toEqual([0, '']);
    const quiet = await run(['exec', '--quiet', ...node(script)], { cwd });
    expect(quiet.stderr).toBe('');
  });

  it('reads no options after --, and requires it before the options of the command', async () => {
    const cwd = await temporaryFolder();
    const words = ['--port', 'x', '--help', '-V', '--', '--json'];
    const args = [...sh('printf "%s\\n" "$@" > output'), 'sh', ...words];
    expect((await run(['exec', '--loose', ...args], { cwd })).code).toBe(0);
    expect(await readFile(join(cwd, 'output'), 'utf8')).toBe(`${words.join('\n')}\n`);
    const without = await run(['exec', 'npm', 'test', '--coverage'], { cwd });
    expect([without.code, without.stderr]).toEqual([
      2,
      expect.stringContaining('exec -- npm test --coverage'),
    ]);
    for (const slip of [
      ['--prot', '0'],
      ['--port', 'x'],
    ]) {
      const { code, stdout, stderr } = await run(['exec', '--json', ...slip, '--', 'true'], { cwd });
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('--port')]);
    }
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)(
    'passes %s on only once and waits for the command',
    async (signal) => {
      const cwd = await temporaryFolder();
      const name = signal.slice(3);
      // The sleep gives a second signal time to arrive.
      const script = `trap 'echo got ${name} >> output; got=1' ${name}; echo up > output
        until [ "$got" ]; do sleep 0.02; done; sleep 0.1; exit 9`;
      const running = launch(['exec', ...sh(script)], { cwd });
      const output = () => readFile(join(cwd, 'output'), 'utf8').catch(() => '');
      await expect.poll(output).toBe('up\n');
      expect(await running.stop(signal)).toEqual({ code: 9, stdout: '', stderr: '' });
      expect(await output()).toBe(`up\ngot ${name}\n`);
    },
  );

  it.runIf(hasTerminal)(
    'does not pass Ctrl-C on, because the terminal already sends it to the command',
    async () => {
      const cwd = await temporaryFolder();
      await writeFile(
        join(cwd, 'listener.cjs'),
        `for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {
         console.log('got', signal);
         setTimeout(() => process.exit(9), 100);
       });
       setInterval(() => {}, 1000);
       console.log('exec ' + process.ppid + ' end');`,
      );
      // In its own session, the command gets signals only from us and not from the terminal. Without exec, the shell
      // itself would end on Ctrl-C with another exit code.
      const command = `exec '${process.execPath}' '${BINARY}' exec -- setsid '${process.execPath}' listener.cjs`;
      const terminal = launchProgram(['script', '-qec', command, '/dev/null'], { cwd, keepsInput: true });
      await terminal.until((stdout) => stdout.includes(' end'));
      terminal.child.stdin?.write('\x03');
      await terminal.until((stdout) => stdout.includes('^C'));
      process.kill(Number(/exec (\d+)/.exec(terminal.stdout())?.[1]), 'SIGTERM');
      const { code, stdout } = await terminal.ended;
      expect([code, stdout.match(/got \w+/g)]).toEqual([9, ['got SIGTERM']]);
    },
  );

  it('ends processes that the command left running, even if they ignore SIGTERM', async () => {
    const cwd = await temporaryFolder();
    const stubborn = `(trap '' TERM; touch up; exec sleep 1000) & echo $! >> pids`;
    const script = `${stubborn}; sleep 1000 & echo $! >> pids; until [ -e up ]; do sleep 0.02; done; exit 7`;
    const { code } = await run(['exec', ...sh(script)], { cwd });
    const pids = (await readFile(join(cwd, 'pids'), 'utf8')).trim().split('\n').map(Number);
    expect([code, pids.length]).toEqual([7, 2]);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  it.each([
    ['alone', (pid: number) => process.kill(pid, 'SIGKILL')],
    ['with its process group', (pid: number) => process.kill(-pid, 'SIGKILL')],
  ])('frees its port and ends its command even when it is killed %s', async (_, kill) => {
    const stubborn = `
      process.on('SIGTERM', () => {});
      setInterval(() => {}, 1000);
      console.log('up', process.pid, process.env.GATEWAY_SIM_URL);`;
    const running = launchBinary(['exec', ...node(stubborn)], { cwd: await temporaryFolder() });
    await running.until((stdout) => stdout.includes('\n'));
    const [, pid = '', url = ''] = running.stdout().trim().split(' ');
    onTestFinished(() => killGroup(Number(pid)));
    expect(await pidAt(url)).toBe(running.pid);
    kill(running.pid);
    // The command keeps this output open, too, so the output ends only with the command.
    await running.ended;
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
    expect(await pidAt(url)).not.toBe(running.pid);
  });

  it('leaves no watcher behind', async () => {
    const cwd = await temporaryFolder();
    await run(['exec', ...sh('ps -eo pid,ppid,args > seen')], { cwd });
    const watcher = new RegExp(`^ *(\\d+) +${process.pid} .*read -r group`, 'm');
    const pid = Number(watcher.exec(await readFile(join(cwd, 'seen'), 'utf8'))?.[1]);
    expect(pid).toBeGreaterThan(0);
    // This process keeps running, so only a message can end the watcher.
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

describe('the options of exec', () => {
  const named = { port: 4711, dataDir: '/somewhere', inMemory: false };
  const file = { values: { ...named, loose: true }, label: (name: string) => name };
  const environment = {
    GATEWAY_SIM_PORT: '4711',
    GATEWAY_SIM_DATA_DIR: '/somewhere',
    GATEWAY_SIM_IN_MEMORY: '0',
    GATEWAY_SIM_SEED: 's',
  };

  it('come from the environment and the file, except the port and the data folder', () => {
    expect(execConfiguration({}, environment, file)).toMatchObject({
      port: 0,
      dataDir: '.gateway-sim',
      inMemory: true,
      loose: true,
      seed: 's',
    });
  });

  it('never include quiet or detach from the environment or the file', async () => {
    const plain = { quiet: false, detach: false };
    const env = { GATEWAY_SIM_QUIET: '1', GATEWAY_SIM_DETACH: '1' };
    const values = { quiet: true, detach: true };
    expect(execConfiguration({}, env, { ...file, values })).toMatchObject(plain);
    const config = { ...values, faults: [{ route: 'cards', status: 503 }] };
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': JSON.stringify(config) });
    const { code, stderr } = await run(['exec', '--', 'true'], { cwd, env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('FAULT ON')]);
    expect((await run(['exec', '--detach', '--', 'true'], { cwd })).code).toBe(2);
  });

  it('include every flag', () => {
    const flags = { port: '4712', dataDir: 'here', panel: true };
    expect(execConfiguration(flags, environment, file)).toMatchObject({
      port: 4712,
      dataDir: 'here',
      inMemory: false,
    });
    expect(execConfiguration({ ...flags, inMemory: true }, {}, undefined).inMemory).toBe(true);
  });
});

describe('exec --wait-for', () => {
  it('runs the command as soon as the address answers, with any status', async () => {
    const cwd = await temporaryFolder();
    const shop = await startReceiver(['drop', { status: 404 }]);
    expect(await run(['exec', '--wait-for', shop.url, ...sh('echo ran > output')], { cwd })).toMatchObject({
      code: 0,
    });
    expect(shop.requests).toHaveLength(2);
    expect(await readFile(join(cwd, 'output'), 'utf8')).toBe('ran\n');
  });

  it.each([
    ['http://127.0.0.1:9', 4, 'no response from http://127.0.0.1:9 within'],
    ['localhost:3000', 2, '--wait-for must be an absolute http address'],
  ])('does not run the command if the address is %s', async (address, expected, message) => {
    const cwd = await temporaryFolder();
    const flags = ['--wait-for', address, '--wait-limit', '1ms'];
    const { code, stderr } = await run(['exec', ...flags, ...sh('echo ran > output')], { cwd });
    expect([code, await readdir(cwd)]).toEqual([expected, []]);
    expect(stderr).toContain(message);
  });

  it('can be interrupted while it waits', async () => {
    const cwd = await temporaryFolder();
    const shop = await startReceiver(['hang']);
    const running = launch(['exec', '--wait-for', shop.url, ...sh('echo ran > output')], { cwd });
    await shop.request(1);
    const { code, stderr } = await running.stop();
    expect([code, await readdir(cwd)]).toEqual([1, []]);
    expect(stderr).toContain('waiting was interrupted');
  });
});

describe('exec --artifacts', () => {
  const FILES = ['events.jsonl', 'ipns.json', 'state.json'];
  const MARK = '.gateway-sim-artifacts';
  /** Pays an order without waiting for its IPN, which has no receiver. */
  const pay = (end: string) => `(async () => {
      const { GATEWAY_SIM_URL: url, GATEWAY_SIM_PUBLIC_KEY: public_key } = process.env;
      const body = new URLSearchParams({ public_key, ...${JSON.stringify(ORDER)} });
      await fetch(process.env.GATEWAY_SIM_INITIATE_URL, { method: 'POST', body });
      const settle = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"outcome":"approve"}' };
      await fetch(url + '/_sim/payments/order-1/settle', settle);
      await fetch(url + '/_sim/reset', { method: 'POST' });
      ${end}
    })()`;

  it('does not change a folder with files of the same names that it did not write', async () => {
    const cwd = await temporaryFolder({ 'state.json': 'mine', 'audit-7.xml': 'mine' });
    const { code, stderr } = await run(['exec', '--artifacts', '.', ...sh('echo ran > ran')], { cwd });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/\. contains (state\.json|audit-7\.xml), which exec did not/),
    ]);
    expect((await readdir(cwd)).sort()).toEqual(['audit-7.xml', 'state.json']);
  });

  it.runIf(spawnSync('unshare', ['-rm', 'true']).status === 0)(
    'says that a file system is read-only, also for a folder that does not exist',
    async () => {
      const cwd = await temporaryFolder();
      await mkdir(join(cwd, 'disk'));
      const script = 'mount -t tmpfs -o ro none disk && exec "$@"';
      const exec = [process.execPath, BINARY, 'exec', '--artifacts', 'disk/a/b', ...sh('true')];
      const { ended } = launchProgram(['unshare', '-rm', 'sh', '-c', script, 'sh', ...exec], { cwd });
      const { code, stderr } = await ended;
      expect([code, stderr]).toEqual([
        5,
        'gateway-sim: disk/a/b cannot be written: the file system is read-only\n',
      ]);
    },
  );

  it('does not write through links in the folder', async () => {
    const cwd = await temporaryFolder({ precious: 'mine' });
    await mkdir(join(cwd, 'left'));
    for (const name of [MARK, ...FILES]) await symlink('../precious', join(cwd, 'left', name));
    const { code } = await run(['exec', '--artifacts', 'left', ...sh('true')], { cwd });
    expect([code, await readFile(join(cwd, 'precious'), 'utf8')]).toEqual([0, 'mine']);
  });

  it.each([
    ['that fails', 'process.exit(7)', 7],
    ['that is killed', "process.kill(process.pid, 'SIGKILL')", 137],
  ])(
    'stores events, state and IPNs of a command %s, including those before a reset',
    async (_, end, expected) => {
      const cwd = await temporaryFolder({
        [`left/${MARK}`]: '',
        'left/audit.json': 'of an earlier run',
        'left/mine.txt': 'stays',
      });
      const finished = await run(['exec', '--artifacts', 'left', ...node(pay(end))], { cwd });
      expect(finished).toMatchObject({ code: expected, stderr: '' });
      expect((await readdir(join(cwd, 'left'))).sort()).toEqual([MARK, ...FILES, 'mine.txt'].sort());
      const [events = '', ipns = '', state = ''] = await Promise.all(
        FILES.map((name) => readFile(join(cwd, 'left', name), 'utf8')),
      );
      const types = events
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type);
      expect(types).toEqual(expect.arrayContaining(['request', 'payment', 'delivery', 'notice']));
      const sent = { number: 1, url: 'http://127.0.0.1:9/ipn', failure: { code: 'connection_refused' } };
      expect(JSON.parse(ipns)).toMatchObject({ data: [{ identifier: 'order-1', attempts: [sent] }] });
      expect(JSON.parse(state)).toMatchObject({ version: expect.any(Number), payments: [] });
    },
  );

  const library = JSON.stringify(new URL('library.mjs', pathToFileURL(BINARY)).href);
  it('stores the reports of an audit by the command', async () => {
    const cwd = await temporaryFolder();
    const audit = [BINARY, 'audit', 'http://127.0.0.1:9/ipn', '--only', 'control', '--timeout', '1s'];
    const command = ['exec', '--artifacts', 'left', '--', process.execPath, ...audit];
    expect(await runBinary(command, { cwd })).toMatchObject({ code: 1 });
    expect((await readdir(join(cwd, 'left'))).sort()).toEqual(
      [MARK, 'audit.html', 'audit.json', 'audit.xml', ...FILES].sort(),
    );
    const report = JSON.parse(await readFile(join(cwd, 'left', 'audit.json'), 'utf8'));
    expect(report).toMatchObject({ cases: [{ name: expect.any(String) }] });
  });

  it('stores the reports of every audit by the library, without keys', async () => {
    const cwd = await temporaryFolder();
    const key = 'sec_sim_in_the_address_1';
    const twice = `import(${library}).then(async (library) => {
      const sim = await library.connectGatewaySim();
      for (const _ of [1, 2])
        await sim.audit({ ipnUrl: 'http://127.0.0.1:9/ipn?k=${key}', only: ['control'], timeoutMs: 1000 });
    })`;
    const flags = ['--secret-key', key, '--artifacts', 'left'];
    const command = ['exec', ...flags, '--', process.execPath, '-e', twice];
    expect(await run(command, { cwd })).toMatchObject({ code: 0 });
    const files = (await readdir(join(cwd, 'left'))).filter((file) => file.startsWith('audit'));
    expect(files.map((file) => file.replace(/-\d+/, '-N')).sort()).toEqual(
      ['audit', 'audit-N'].flatMap((stem) => ['html', 'json', 'xml'].map((type) => `${stem}.${type}`)).sort(),
    );
    for (const file of files) expect(await readFile(join(cwd, 'left', file), 'utf8')).not.toContain(key);
  });

  it("keeps the command's exit code and the other files if the IPNs are too large for a document", async () => {
    const cwd = await temporaryFolder();
    const stringify = JSON.stringify;
    vi.spyOn(JSON, 'stringify').mockImplementation((value: { data?: object }, ...more: unknown[]) => {
      if (value?.data) throw new RangeError('Invalid string length');
      return Reflect.apply(stringify, JSON, [value, ...more]);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const { code, stderr } = await run(['exec', '--artifacts', 'left', ...sh('exit 3')], { cwd });
    expect([code, stderr]).toEqual([3, 'gateway-sim: left is incomplete: Invalid string length\n']);
    expect((await readdir(join(cwd, 'left'))).sort()).toEqual([MARK, 'events.jsonl', 'state.json'].sort());
  });

  it('does not run the command if the folder cannot be created', async () => {
    const cwd = await temporaryFolder({ left: '' });
    const { code, stderr } = await run(['exec', '--artifacts', 'left', ...sh('echo ran > output')], { cwd });
    expect([code, await readdir(cwd)]).toEqual([5, ['left']]);
    expect(stderr).toContain('left cannot be written');
  });
});
