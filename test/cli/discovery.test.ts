import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectGatewaySim } from '../../src/index.ts';
import { writeServerInfo } from '../../src/store/server-file.ts';
import { run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('a command that looks for an emulator', () => {
  it('finds it in this folder or a parent, or with --data-dir, --url or their variables', async () => {
    const cwd = await temporaryFolder();
    const elsewhere = await temporaryFolder();
    const ready = await startIn(cwd);
    await mkdir(join(cwd, 'a', 'b'), { recursive: true });
    const dataDir = join(cwd, '.gateway-sim');
    const sources: [args: string[], options: { cwd: string; env?: Record<string, string> }][] = [
      [[], { cwd }],
      [[], { cwd: join(cwd, 'a', 'b') }],
      [['--data-dir', dataDir], { cwd: elsewhere }],
      [['--url', ready.url], { cwd: elsewhere }],
      [['--url', `${ready.url}/`], { cwd: elsewhere }],
      [[], { cwd: elsewhere, env: { GATEWAY_SIM_URL: ready.url } }],
      [[], { cwd: elsewhere, env: { GATEWAY_SIM_DATA_DIR: dataDir } }],
    ];
    for (const [args, options] of sources) {
      const { body } = await runJson<{ pid: number }>(['status', ...args], options);
      expect([args, options, body]).toEqual([args, options, expect.objectContaining({ url: ready.url })]);
    }
  });

  it('ignores an emulator whose process has ended', async () => {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, '.gateway-sim'));
    const { pid } = spawnSync('true');
    const info = { url: 'http://127.0.0.1:9', pid, controlToken: null, tlsCa: null };
    await writeServerInfo(join(cwd, '.gateway-sim'), info);
    expect((await run(['stop'], { cwd })).code).toBe(3);
    expect((await run(['status', '--data-dir', '.gateway-sim'], { cwd })).code).toBe(3);
  });

  it.each([
    'stop',
    'state reset',
    'state import -',
    'keys generate',
    'faults set initiate --status 503',
    'faults clear',
    'clock advance 2h',
    'clock freeze',
    'clock resume',
    'clock reset',
    'wallets fund wal_poor_usd --amount 1',
  ])('never tries the default address for %s, which changes the emulator', async (command) => {
    const { code, stdout, stderr } = await run(command.split(' '), {
      cwd: await temporaryFolder(),
      input: '{}',
    });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('neither --url nor GATEWAY_SIM_URL is set');
  });

  it('rejects any other server', async () => {
    const body = '{"version":"1","url":"","counts":{"payments":{}},"clock":{},"faults":[],"data":[]}';
    const other = await startReceiver([{ headers: { 'Content-Type': 'application/json' }, body }]);
    for (const command of ['status', 'payments']) {
      const args = [command, '--url', other.url];
      const { code, stdout, stderr } = await run(args, { cwd: await temporaryFolder() });
      expect([command, code, stdout]).toEqual([command, 3, '']);
      expect(stderr).toContain(`the server at ${other.url} is not gateway-sim`);
      expect(stderr).toMatch(/start one with: .* start$/m);
    }
  });

  it('uses the control token of its folder, flag or variable', async () => {
    const cwd = await temporaryFolder();
    const elsewhere = await temporaryFolder();
    const { server } = await startIn(cwd, { host: '0.0.0.0' });
    const token = server.controlToken ?? '';
    expect((await run(['status'], { cwd })).code).toBe(0);
    for (const command of ['status', 'logs']) {
      const args = [command, '--url', server.url];
      expect((await run(args, { cwd: elsewhere })).code).toBe(2);
      expect((await run([...args, '--control-token', token], { cwd: elsewhere })).code).toBe(0);
      const env = { GATEWAY_SIM_CONTROL_TOKEN: token };
      expect((await run(args, { cwd: elsewhere, env })).code).toBe(0);
    }
  });

  it('never sends the token of the environment to an address from a folder', async () => {
    const cwd = await temporaryFolder();
    const other = await startReceiver([{ headers: { 'X-Gateway-Sim': '1' }, body: '{"data":[]}' }]);
    await mkdir(join(cwd, '.gateway-sim'));
    const info = { url: other.url, pid: process.pid, controlToken: 'of-the-folder', tlsCa: null };
    await writeServerInfo(join(cwd, '.gateway-sim'), info);
    const env = { GATEWAY_SIM_CONTROL_TOKEN: 'of-the-environment' };
    const dataDir = join(cwd, '.gateway-sim');
    await run(['payments'], { cwd, env });
    await run(['payments', '--data-dir', dataDir], { cwd: await temporaryFolder(), env });
    await run(['payments', '--control-token', 'of-the-flag'], { cwd, env });
    await run(['payments', '--url', other.url], { cwd, env });
    for (const [name, value] of Object.entries({ ...env, GATEWAY_SIM_URL: '' })) vi.stubEnv(name, value);
    vi.spyOn(process, 'cwd').mockReturnValue(cwd);
    await connectGatewaySim().catch(() => {});
    await connectGatewaySim(undefined, { controlToken: 'of-the-flag' }).catch(() => {});
    await connectGatewaySim(other.url).catch(() => {});
    const tokens = other.requests.map(({ headers }) => headers.authorization?.replace('Bearer of-the-', ''));
    expect(tokens).toEqual(['folder', 'folder', 'flag', 'environment', 'folder', 'flag', 'environment']);
  });

  it('never sends the token or keys of the environment to a port from a discovered configuration file', async () => {
    const cwd = await temporaryFolder();
    const merchant = { isDefault: true, publicKey: 'pub_of-the-emulator', secretKey: 'sec_of-the-emulator' };
    const body = JSON.stringify({ data: [{ id: 'm', name: 'm', createdAt: 'x', ...merchant }] });
    const other = await startReceiver([{ headers: { 'X-Gateway-Sim': '1' }, body }]);
    const file = join(cwd, 'gateway-sim.config.json');
    const write = (config: object) => writeFile(file, JSON.stringify({ port: other.port, ...config }));
    const env = {
      GATEWAY_SIM_CONTROL_TOKEN: 'of-the-environment',
      GATEWAY_SIM_PUBLIC_KEY: 'pub_of-the-environment',
      GATEWAY_SIM_SECRET_KEY: 'sec_of-the-environment',
    };
    await write({});
    await run(['payments'], { cwd, env });
    await run(['conform'], { cwd, env });
    const sent = () => JSON.stringify(other.requests.map(({ url, headers, body }) => [url, headers, body]));
    expect(other.requests.length).toBeGreaterThan(3);
    expect(sent()).not.toContain('of-the-environment');
    await run(['payments'], { cwd, env: { ...env, GATEWAY_SIM_CONFIG: file } });
    expect(sent()).toContain('of-the-environment');
    // The first line of a file is not read as another file name.
    await writeFile(join(cwd, 'token'), `@${file}`);
    await write({ controlToken: '@token' });
    await run(['payments'], { cwd, env });
    expect(other.requests.at(-1)?.headers.authorization).toBe(`Bearer @${file}`);
  });

  it('ignores the host of a discovered configuration file, even with a token', async () => {
    const config = { host: '192.0.2.1', port: 80, controlToken: 'of-the-folder' };
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': JSON.stringify(config) });
    const { code, stderr } = await run(['stop'], { cwd });
    expect([code, stderr]).toEqual([3, expect.stringContaining('no gateway-sim is running for')]);
  });
});

describe('GATEWAY_SIM_PORT', () => {
  it('selects an in-memory emulator, and overrides the port of the configuration file, not its scheme', async () => {
    const { server } = await startSim({ tls: true });
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': '{"tls":true,"port":9}' });
    const env = { GATEWAY_SIM_PORT: String(server.port), GATEWAY_SIM_TLS_CA: server.tlsCa ?? '' };
    const { code, stdout } = await run(['stop'], { cwd, env });
    expect([code, stdout]).toEqual([0, `Stopped https://127.0.0.1:${server.port}\n`]);
  });

  it.each(['99999', 'many'])('is named in an error if its value is %s', async (port) => {
    const env = { GATEWAY_SIM_PORT: port };
    const { code, stderr } = await run(['payments'], { cwd: await temporaryFolder(), env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('GATEWAY_SIM_PORT must be')]);
  });

  it('never makes a command send the token of the environment to a host from a discovered configuration file', async () => {
    const other = await startReceiver();
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': '{"host":"127.0.0.1"}' });
    const env = { GATEWAY_SIM_PORT: String(other.port), GATEWAY_SIM_CONTROL_TOKEN: 'a-long-secret' };
    expect((await run(['payments'], { cwd, env })).code).toBe(3);
    expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});

it.each(['start', 'state reset --yes', 'stop'])(
  '%s rejects a data folder outside the folder of a discovered configuration file',
  async (command) => {
    const folder = await temporaryFolder({ 'checkout/gateway-sim.config.json': '{"dataDir":"../mine"}' });
    const { code, stderr } = await run(command.split(' '), { cwd: join(folder, 'checkout') });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('"dataDir" in gateway-sim.config.json points outside'),
    ]);
  },
);
