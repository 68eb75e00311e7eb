import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ReadyEvent } from '../../src/cli/banner.ts';
import { kebab } from '../../src/contract/error.ts';
import { readJson, request } from '../../src/library/control-client.ts';
import { environmentName, readValue } from '../../src/options/resolve.ts';
import { type OptionName, type OptionSpec, START_OPTIONS } from '../../src/options/start-options.ts';
import { launch as launchBinary } from '../helpers/binary.ts';
import { writePair } from '../helpers/certificates.ts';
import { killGroup } from '../helpers/child.ts';
import { launch, run, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';

type FileOnly = {
  [Name in OptionName]: (typeof START_OPTIONS)[Name] extends { fileOnly: true } ? Name : never;
}[OptionName];
type Plain = Exclude<OptionName, FileOnly>;

/** Three different values for each option, if possible: for the flag, the variable and the file. */
type Layers = Record<Plain, readonly [flag: unknown, variable: unknown, file: unknown]>;

/** Settings that only the file can have. */
const FILE_ONLY: Record<FileOnly, unknown> = {
  ipnCa: 'file-ca.pem',
  ipnTimeout: '3s',
  dbSkip: ['d'],
  charges: { payment: { percent: '7' } },
  currencies: [{ code: 'KES' }],
  faults: [{ route: 'cards', status: 503 }],
  outcomes: [{ identifier: 'a', outcome: 'fail' }],
  wallets: [{ email: 'ada@shop.example', holder: 'Ada', currency: 'KES', balance: '5' }],
};

async function layers(cwd: string): Promise<Layers> {
  const packaged = new URL('../../fixtures/default.json', import.meta.url);
  const fixtures = ['flag.json', 'variable.json', 'file.json'] as const;
  for (const name of fixtures) await copyFile(packaged, join(cwd, name));
  for (const name of ['flag', 'variable', 'file']) await writePair(cwd, name);
  return {
    port: [await freePort(), await freePort(), await freePort()],
    host: ['localhost', '127.0.0.1', '::1'],
    dataDir: ['flag', 'variable', 'file'],
    inMemory: [true, false, true],
    fsync: [true, false, true],
    fixtures,
    publicUrl: ['http://flag.test', 'http://variable.test', 'http://file.test'],
    tls: [true, false, true],
    tlsCert: ['flag.pem', 'variable.pem', 'file.pem'],
    tlsKey: ['flag-key.pem', 'variable-key.pem', 'file-key.pem'],
    proxy: [true, false, true],
    hostAlias: [['pay.flag.test', 'b.test'], ['pay.variable.test'], ['pay.file.test']],
    profile: ['document', 'observed', 'server'],
    loose: [true, false, true],
    errorStatus: ['http', 'ok', 'http'],
    panel: [false, true, false],
    sandboxEmail: ['flag@a.test', 'variable@a.test', 'file@a.test'],
    sandboxCode: ['111', '222', '333'],
    publicKey: ['pub_flag', 'pub_variable', 'pub_file'],
    secretKey: ['sec_sim_flag_0000000001', 'sec_sim_variable_0000002', 'sec_sim_file_0000000003'],
    currency: [['NPR:Rs', 'GHS'], ['PKR', 'AOA'], ['XOF']],
    delivery: ['ipn-only', 'ipn-twice', 'redirect-only'],
    auto: ['approve', 'cancel', 'fail'],
    autoDelay: ['1s', '2s', '3s'],
    seed: ['flag', 'variable', 'file'],
    paymentExpires: ['1h', '2h', '3h'],
    ipnSchedule: [['1s', '2s'], ['3s'], ['4s', '5m']],
    ipnRetries: [1, 2, 3],
    ipnFormat: ['json', 'form', 'json'],
    amountFormat: ['fixed:1', 'fixed:2', 'stored'],
    ipnOn: [['failed'], ['expired', 'failed'], ['canceled']],
    forwardIpn: [
      ['http://localhost:1/a', 'b.test=c.test'],
      ['a.test=127.0.0.1:2', 'http://localhost:1/b'],
      ['a.test=https://c.test'],
    ],
    allowIpnHost: [['a.test', 'b.test'], ['c.test'], ['d.test']],
    db: ['sqlite:flag.db', 'sqlite:variable.db', 'sqlite:file.db'],
    ipnInsecure: [true, false, true],
    allowHost: [['e.test'], ['f.test', 'g.test'], ['h.test']],
    allowOrigin: [['https://i.example'], ['null', 'http://j.example:8080'], ['capacitor://k']],
    controlToken: ['flag-token-0000001', 'variable-token-0002', 'file-token-00000003'],
    // The test reads the ready event, which is JSON.
    json: [true, true, true],
    quiet: [true, false, true],
    detach: [true, false, true],
  };
}

const SPECS: Record<string, OptionSpec> = START_OPTIONS;

/** An option as arguments. A list repeats its flag. */
function asFlags([name, value]: [string, unknown]): string[] {
  const flag = `--${kebab(name)}`;
  if (value === true) return [flag];
  if (value === false) return [`--no-${kebab(name)}`];
  return Array.isArray(value) ? value.flatMap((item) => [flag, String(item)]) : [flag, String(value)];
}

/** Starts with some of the layers: `layer` is the first of these, which applies. */
const STARTS = [
  { what: 'flags override variables and the file', layer: 0, has: [true, true, true] },
  { what: 'variables override the file', layer: 1, has: [false, true, true] },
  { what: 'the file overrides the defaults', layer: 2, has: [false, false, true] },
  { what: 'without any of them, the defaults apply', layer: null, has: [false, false, false] },
] as const;

const masked = (secret: string) => `${secret.slice(0, 8)}…${secret.slice(-2)}`;
const SECRETS = ['secretKey', 'controlToken'];

describe('every option of start, as the running emulator reports it:', () => {
  it.each(STARTS)('$what', async ({ layer, has: [flags, variables, file] }) => {
    const cwd = await temporaryFolder();
    const table = await layers(cwd);
    const of = (index: number) =>
      Object.entries(table).map(([name, values]): [string, unknown] => [name, values[index]]);
    if (file) {
      const config = { ...Object.fromEntries(of(2)), ...FILE_ONLY };
      await writeFile(join(cwd, 'gateway-sim.config.json'), JSON.stringify(config));
    }
    const env: Record<string, string> = { TMPDIR: await temporaryFolder() };
    if (variables) for (const [name, value] of of(1)) env[environmentName(name)] = String(value);
    const values =
      layer === null ? { port: 0, json: true } : { ...FILE_ONLY, ...Object.fromEntries(of(layer)) };
    const args = layer === null ? ['--port', '0', '--json'] : flags ? of(0).flatMap(asFlags) : [];
    const running = launchBinary(['start', ...args], { cwd, env });
    await running.until((stdout) => stdout.includes('\n'));
    const ready = JSON.parse(running.stdout().split('\n', 1)[0] ?? '') as ReadyEvent;
    onTestFinished(() => killGroup(ready.pid));
    const expected = Object.entries(SPECS).map(([name, spec]) => [name, effective(name, spec, values)]);
    const trusted = {
      headers: { authorization: `Bearer ${ready.controlToken}` },
      tlsCa: ready.tlsCa,
    };
    const status = await request(`${ready.url}/_sim/status`, trusted);
    const { options } = (await readJson(status)) as { options: Record<string, unknown> };
    expect(options).toEqual(Object.fromEntries(expected));
    if (layer !== null) {
      expect(ready).toMatchObject({
        port: table.port[layer],
        publicKey: table.publicKey[layer],
        secretKey: table.secretKey[layer],
        controlToken: table.controlToken[layer],
      });
    }
    expect(ready.pid !== running.pid).toBe(options['detach']);
    if (options['detach']) expect((await running.ended).code).toBe(0);
  });
});

/** An option as `status` shows it: parsed, with secrets masked. */
function effective(name: string, spec: OptionSpec, values: Readonly<Record<string, unknown>>): unknown {
  const value = values[name] ?? spec.default ?? (spec.kind === 'list' ? [] : undefined);
  if (SECRETS.includes(name)) return value === undefined ? null : masked(String(value));
  return value === undefined ? undefined : readValue(spec, value, name);
}

describe('quiet', () => {
  it('prints only the ready line', async () => {
    const cwd = await temporaryFolder();
    const running = launch(['start', '--port', '0', '--in-memory', '--quiet'], { cwd });
    await running.until((stdout) => stdout.includes('\n'));
    const [, url = ''] = running.stdout().trim().split(' ');
    await fetch(`${url}/nowhere`);
    const { stdout, stderr } = await running.stop();
    expect([stdout, stderr]).toEqual([`ready ${url}\n`, '']);
  });
});

describe('an invalid value', () => {
  it.each([
    ['--amount-format', ['--amount-format', 'x'], {}, '{}'],
    ['GATEWAY_SIM_AMOUNT_FORMAT', [], { GATEWAY_SIM_AMOUNT_FORMAT: 'x' }, '{}'],
    ['"amountFormat" in gateway-sim.config.json', [], {}, '{ "amountFormat": "x" }'],
  ])('is reported with the name %s if it was set there', async (name, args, env, config) => {
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': config });
    const { code, stderr } = await run(['start', '--port', '0', ...args], { cwd, env });
    expect(code).toBe(2);
    expect(stderr).toContain(`gateway-sim: ${name} must be one of sent, stored`);
  });
});

it('GATEWAY_SIM_JSON must be a boolean for every command', async () => {
  const { code, stderr } = await run(['status'], {
    cwd: await temporaryFolder(),
    env: { GATEWAY_SIM_JSON: 'maybe' },
  });
  expect([code, stderr]).toEqual([2, 'gateway-sim: GATEWAY_SIM_JSON must be true or false (got "maybe")\n']);
});

describe('an unknown option', () => {
  it.each([
    ['a variable', [], { GATEWAY_SIM_IN_MEMROY: '1' }, '{}', 'GATEWAY_SIM_IN_MEMORY'],
    [
      'a flag for a setting that only the file can have',
      ['--ipn-ca', 'a.pem'],
      {},
      '{}',
      `unknown option '--ipn-ca': set "ipnCa" in the configuration file`,
    ],
    [
      'a variable for a setting that only the file can have',
      [],
      { GATEWAY_SIM_CHARGES: '{}' },
      '{}',
      'configuration file',
    ],
  ])(
    'is rejected with exit code 2, and the error suggests a name: %s',
    async (_, args, env, config, suggestion) => {
      const cwd = await temporaryFolder({ 'gateway-sim.config.json': config });
      const { code, stdout, stderr } = await run(['start', '--port', '0', ...args], { cwd, env });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(suggestion);
      expect(stderr).not.toMatch(/^\s+at /m);
    },
  );

  it('is not assumed if a variable does not resemble any option', async () => {
    const env = {
      GATEWAY_SIM_VERSION: '1.2.3',
      GATEWAY_SIM_PORT_4477_TCP_ADDR: '10.0.0.1',
      GATEWAY_SIM_INITIATE_URL: 'http://localhost:1',
      GATEWAY_SIM_TOKEN: 'ours',
      GATEWAY_SIM_HOTS: '',
    };
    const { ready } = await start(['--in-memory', '--quiet'], { cwd: await temporaryFolder(), env });
    expect(ready.event).toBe('ready');
  });
});
