import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kebab } from '../../src/contract/hint.ts';
import { type OptionSpec, START_OPTIONS } from '../../src/options/table.ts';
import { run, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const SPECS: [name: string, spec: OptionSpec][] = Object.entries(START_OPTIONS);

describe('an option of start', () => {
  it('is in the help, unless only the file can set it', async () => {
    const { stdout } = await run(['start', '--help'], { cwd: '.' });
    for (const [name, { kind, default: fallback }] of SPECS) {
      const flag = kind === 'boolean' && fallback === true ? `--no-${kebab(name)}` : `--${kebab(name)}`;
      expect([flag, new RegExp(`${flag}[ ,]`).test(stdout)]).toEqual([flag, kind !== 'structure']);
    }
  });
});

describe('an invalid configuration', () => {
  const CASES: [what: string, config: string, named: string[]][] = [
    ['an unknown key', '{"prot": 1}', ['"prot"', '"port"']],
    ['an invalid port', '{"port": 70000}', ['"port"', '65535']],
    ['a string instead of a boolean', '{"loose": "maybe"}', ['"loose"', 'true or false']],
    ['an error status that there is not', '{"errorStatus": 200}', ['"errorStatus"', 'ok, http']],
    ['an invalid list', '{"allowHost": {}}', ['"allowHost"', 'list']],
    ['no JSON', '{', ['gateway-sim.config.json']],
    ['no object', '[1]', ['gateway-sim.config.json', 'object']],
    ['an unknown charge', '{"charges": {"paymnt": {"percent": "1"}}}', ['charges.paymnt', 'payment']],
    [
      'an unknown part of a charge',
      '{"charges": {"payment": {"percnt": "1"}}}',
      ['charges.payment.percnt', 'percent'],
    ],
    [
      'a charge that is no number',
      '{"charges": {"payment": {"percent": "1%"}}}',
      ['charges.payment.percent'],
    ],
    ['a charge over 100 %', '{"charges": {"payment": {"percent": 101}}}', ['charges.payment.percent', '100']],
    ['invalid charges', '{"charges": 2}', ['charges', 'object']],
    ['currencies that are no list', '{"currencies": {"code": "NPR"}}', ['currencies', 'list']],
    ['a currency in lower case', '{"currencies": [{"code": "npr"}]}', ['currencies.0.code', 'upper-case']],
    ['a currency without a code', '{"currencies": [{"symbol": "Rs"}]}', ['currencies.0.code', 'required']],
    ['an unknown key of a currency', '{"currencies": [{"code": "NPR", "symbl": "Rs"}]}', ['symbl', 'symbol']],
    [
      'a wallet in an unknown currency',
      '{"wallets": [{"email": "a@b.co", "holder": "A", "currency": "NPR", "balance": "1"}]}',
      ['NPR', 'a@b.co', '--currency'],
    ],
    [
      'a wallet with a negative balance',
      '{"wallets": [{"email": "a@b.co", "holder": "A", "currency": "USD", "balance": "-1"}]}',
      ['wallets.0.balance'],
    ],
    ['a wallet without an e-mail', '{"wallets": [{"holder": "A"}]}', ['wallets.0.email', 'required']],
  ];

  it.each(CASES)('with %s exits 2, and names the place and the fix', async (_, config, named) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'gateway-sim.config.json'), config);
    const { code, stdout, stderr } = await run(['start', '--in-memory'], { cwd });
    expect([code, stdout]).toEqual([2, '']);
    for (const text of named) expect(stderr).toContain(text);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('that is named but does not exist exits 2', async () => {
    const { code, stderr } = await run(['start', '--config', 'nope.json'], { cwd: await temporaryFolder() });
    expect([code, stderr]).toEqual([2, expect.stringContaining('nope.json')]);
  });

  it.skipIf(process.platform === 'win32')('that is a device exits 2 without waiting', async () => {
    const cwd = await temporaryFolder();
    await symlink('/dev/null', join(cwd, 'gateway-sim.config.json'));
    const { code, stderr } = await run(['start', '--port', '0'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be used: it is not a regular file')]);
  });

  it('in the environment exits 2 and names the variable', async () => {
    const env = { GATEWAY_SIM_PORT: 'many' };
    const { code, stderr } = await run(['start'], { cwd: await temporaryFolder(), env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('GATEWAY_SIM_PORT')]);
  });
});

describe('a configuration file', () => {
  it('named by GATEWAY_SIM_CONFIG is the one that start reads, and flags override it', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'one.json'), '{"port":0,"inMemory":true,"sandboxCode":"one"}');
    await writeFile(join(cwd, 'two.json'), '{"port":0,"inMemory":true,"sandboxCode":"two"}');
    const env = { GATEWAY_SIM_CONFIG: 'one.json' };
    for (const [args, code] of [
      [[], 'one'],
      [['--config', 'two.json'], 'two'],
    ] as const) {
      const { ready } = await start(args, { cwd, env });
      const status = (await (await fetch(`${ready.url}/_sim/status`)).json()) as { options: object };
      expect(status.options).toMatchObject({ sandboxCode: code });
    }
  });

  it('gives commands in its folder the address, data folder and token', async () => {
    const cwd = await temporaryFolder();
    const config = { dataDir: 'sim', host: '0.0.0.0', controlToken: 'a-long-secret' };
    await writeFile(join(cwd, 'gateway-sim.config.json'), JSON.stringify({ ...config, port: 0 }));
    const { ready } = await start([], { cwd });
    expect((await run(['clock', 'freeze'], { cwd })).code).toBe(0);
    const elsewhere = await temporaryFolder();
    await writeFile(
      join(elsewhere, 'gateway-sim.config.json'),
      JSON.stringify({ port: ready.port, controlToken: 'a-long-secret' }),
    );
    expect((await run(['clock', 'resume'], { cwd: elsewhere })).code).toBe(0);
  });

  it.each([
    ['--sandbox-email', ['--sandbox-email', 'x'], '--sandbox-email must be an e-mail address (got "x")'],
    ['equal keys', ['--public-key', 'k', '--secret-key', 'k'], '--public-key and --secret-key must differ'],
  ])('cannot have conflicting values, in the file or in flags: %s', async (_, args, message) => {
    const { code, stderr } = await run(['start', '--in-memory', ...args], { cwd: await temporaryFolder() });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('sets charges, currencies and wallets, which have no flag', async () => {
    const cwd = await temporaryFolder();
    const config = {
      $schema: './schema.json',
      port: 0,
      charges: { payment: { percent: '10', fixed: 0.5 } },
      currencies: [{ code: 'NPR', name: 'Nepalese Rupee', symbol: 'Rs' }],
      wallets: [{ email: 'ada@shop.example', holder: 'Ada', currency: 'NPR', balance: '12.50' }],
    };
    await writeFile(join(cwd, 'gateway-sim.config.json'), JSON.stringify(config));
    const { ready, stop } = await start([], { cwd });
    const wallets = async (url: string) =>
      ((await (await fetch(`${url}/_sim/wallets`)).json()) as { data: Record<string, string>[] }).data.filter(
        ({ currency }) => currency === 'NPR',
      );
    const inNpr = await wallets(ready.url);
    expect(inNpr.map(({ email }) => email)).toEqual(
      expect.arrayContaining(['ada@shop.example', 'wallet@example.com', 'poor@example.com']),
    );
    const ada = inNpr.find(({ email }) => email === 'ada@shop.example');
    expect(ada).toEqual({
      id: 'wal_ada_npr',
      email: 'ada@shop.example',
      holder: 'Ada',
      currency: 'NPR',
      balance: '12.50',
    });
    await fetch(`${ready.url}/_sim/wallets/wal_ada_npr/fund`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"amount":"1"}',
    });
    const created = await run(['payments', 'create', '--currency', 'NPR', '--amount', '100', '--json'], {
      cwd,
    });
    expect(JSON.parse(created.stdout)).toMatchObject({ currency: 'NPR', charge: '10.50' });
    await stop();
    const again = await start([], { cwd });
    const kept = await wallets(again.ready.url);
    expect(kept.find(({ email }) => email === 'ada@shop.example')).toMatchObject({ balance: '13.5' });
    expect(kept).toHaveLength(inNpr.length);
  });
});
