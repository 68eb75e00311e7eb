import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SNAPSHOT_VERSION } from '../../src/store/snapshot.ts';
import { run, runJson, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { merchant } from '../helpers/records.ts';

describe('start with an invalid configuration', () => {
  const CASES: [what: string, config: string, named: string[]][] = [
    ['an unknown key', '{"prot": 1}', ['"prot"', '"port"']],
    ['an invalid port', '{"port": 70000}', ['"port"', '65535']],
    ['an invalid list', '{"allowHost": {}}', ['"allowHost"', 'list']],
    ['a list instead of an object', '[1]', ['gateway-sim.config.json', 'object']],
    ['an unknown charge', '{"charges": {"paymnt": {"percent": "1"}}}', ['charges.paymnt', 'payment']],
    ['a wallet without an e-mail', '{"wallets": [{"holder": "A"}]}', ['wallets.0.email', 'required']],
    // As an editor of Windows may save it.
    ['text in UTF-16', [...'{"port": 0}'].join('\0'), ['it is UTF-16: save it as UTF-8']],
  ];

  it.each(CASES)('with %s exits 2, and the error names the place and the fix', async (_, config, named) => {
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': config });
    const { code, stdout, stderr } = await run(['start', '--in-memory'], { cwd });
    expect([code, stdout]).toEqual([2, '']);
    for (const text of named) expect(stderr).toContain(text);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('that is named but does not exist exits 2', async () => {
    const env = { GATEWAY_SIM_CONFIG: 'nope.json' };
    const { code, stderr } = await run(['start'], { cwd: await temporaryFolder(), env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('nope.json')]);
  });

  it.skipIf(process.platform === 'win32').each([{}, { GATEWAY_SIM_CONFIG: '/dev/zero' }])(
    'that is a device exits 2 without waiting or reading (%j)',
    async (env) => {
      const cwd = await temporaryFolder();
      await symlink('/dev/null', join(cwd, 'gateway-sim.config.json'));
      const { code, stderr } = await run(['start', '--port', '0'], { cwd, env });
      const why = 'cannot be used: it is not a regular file';
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    },
  );
});

describe('a configuration file', () => {
  it('is named by GATEWAY_SIM_CONFIG', async () => {
    const cwd = await temporaryFolder({
      'gateway-sim.config.json': '{"port":0,"inMemory":true,"sandboxCode":"of-the-folder"}',
      'one.json': '{"port":0,"inMemory":true,"sandboxCode":"one"}',
    });
    const { ready } = await start([], { cwd, env: { GATEWAY_SIM_CONFIG: 'one.json' } });
    const status = (await (await fetch(`${ready.url}/_sim/status`)).json()) as { options: object };
    expect(status.options).toMatchObject({ sandboxCode: 'one' });
  });

  describe('of a parent', () => {
    const CONFIG = '{"port":0,"inMemory":true,"sandboxCode":"of-the-parent","fixtures":"data/mine.json"}';

    /** A folder two levels below the configuration, and a file with fixtures beside it. */
    async function subfolder(...roots: string[]): Promise<string> {
      const wallets = [
        { id: 'w', email: 'of-the-parent@example.com', holder: 'A', currency: 'USD', balance: '1' },
      ];
      const top = await temporaryFolder({
        'gateway-sim.config.json': CONFIG,
        'data/mine.json': JSON.stringify({ version: SNAPSHOT_VERSION, wallets }),
      });
      const cwd = join(top, 'apps', 'shop');
      await mkdir(cwd, { recursive: true });
      for (const root of roots) await mkdir(join(top, root), { recursive: true });
      return cwd;
    }

    it.each(['.git', 'package.json'])(
      'is used in a subfolder, and its paths are relative to it, up to the folder with %s',
      async (root) => {
        const cwd = await subfolder(root);
        const { ready } = await start([], { cwd });
        const { body } = await runJson<{ options: object }>(['status', '--url', ready.url], { cwd });
        expect(body.options).toMatchObject({ sandboxCode: 'of-the-parent' });
        const wallets = await run(['wallets', '--url', ready.url], { cwd });
        expect(wallets.stdout).toContain('of-the-parent@example.com');
      },
    );

    it.each([
      ['beyond the nearest root', ['.git', 'apps/package.json']],
      ['without any root', []],
    ])('is not used %s', async (_, roots) => {
      const cwd = await subfolder(...roots);
      const { ready } = await start(['--in-memory'], { cwd });
      const { body } = await runJson<{ options: object }>(['status', '--url', ready.url], { cwd });
      expect(body.options).toMatchObject({ sandboxCode: '222666' });
    });

    it('tells commands in a subfolder the address, and is named in errors', async () => {
      const cwd = await subfolder('.git');
      const file = join(cwd, '../../gateway-sim.config.json');
      const { ready } = await start([], { cwd });
      await writeFile(file, JSON.stringify({ port: ready.port }));
      expect((await run(['clock', 'freeze'], { cwd })).code).toBe(0);
      await writeFile(file, '{"port":-1}');
      const { code, stderr } = await run(['payments'], { cwd });
      const named = `"port" in ${join('..', '..', 'gateway-sim.config.json')} must be`;
      expect([code, stderr]).toEqual([2, expect.stringContaining(named)]);
    });
  });

  it('tells commands in its folder the address, data folder and token', async () => {
    const project = (config: object) =>
      temporaryFolder({ 'gateway-sim.config.json': JSON.stringify(config) });
    const controlToken = 'a-long-secret';
    const cwd = await project({ dataDir: 'sim', host: '0.0.0.0', controlToken, port: 0 });
    const { ready } = await start([], { cwd });
    expect((await run(['clock', 'freeze'], { cwd })).code).toBe(0);
    const elsewhere = await project({ port: ready.port, controlToken });
    expect((await run(['clock', 'resume'], { cwd: elsewhere })).code).toBe(0);
  });

  it('sets charges, currencies and wallets, which have no flag', async () => {
    const config = {
      $schema: './schema.json',
      port: 0,
      charges: { payment: { percent: '10', fixed: 0.5 } },
      currencies: [{ code: 'NPR', name: 'Nepalese Rupee', symbol: 'Rs' }],
      wallets: [{ email: 'ada@shop.example', holder: 'Ada', currency: 'NPR', balance: '12.50' }],
    };
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': JSON.stringify(config) });
    await start([], { cwd });
    const { body } = await runJson<{ data: object[] }>(['wallets'], { cwd });
    expect(body.data).toContainEqual({ id: 'wal_ada_npr', ...config.wallets[0] });
    const created = await runJson(['payments', 'create', '--currency', 'NPR', '--amount', '100'], { cwd });
    expect(created.body).toMatchObject({ currency: 'NPR', charge: '10.50' });
  });
});

describe('the fixtures of a discovered configuration file', () => {
  const SECRET_KEY = merchant().secretKey;
  const FIXTURES = JSON.stringify({ version: SNAPSHOT_VERSION, merchants: [merchant()] });

  /** A project with a configuration file, in a folder with other projects. */
  async function project({ fixtures, repository }: { fixtures: string; repository: '' | '..' | '.' }) {
    const work = await temporaryFolder({
      'outside.json': FIXTURES,
      'repo/shared.json': FIXTURES,
      'repo/shop/own.json': FIXTURES,
      'repo/shop/.gateway-sim/backup/db.json': FIXTURES,
      'repo/other/.gateway-sim/db.json': FIXTURES,
      'repo/named/db.json': FIXTURES,
      'repo/named/journal.jsonl': '',
      'repo/fixtures/db.json': FIXTURES,
      'repo/shop/gateway-sim.config.json': JSON.stringify({ fixtures, inMemory: true, port: 0 }),
    });
    const cwd = join(work, 'repo', 'shop');
    await symlink(join(work, 'outside.json'), join(cwd, 'link.json'));
    if (repository) await mkdir(join(cwd, repository, '.git'));
    return cwd;
  }

  it.each([
    ['../shared.json', '', 'points outside its own repository'],
    ['../shared.json', '.', 'points outside its own repository'],
    ['../../outside.json', '..', 'points outside its own repository'],
    ['link.json', '..', 'points outside its own repository'],
    ['../other/.gateway-sim/db.json', '..', 'points into the data folder of another emulator'],
    ['../named/db.json', '..', 'points into the data folder of another emulator'],
  ] as const)('%s in the repository "%s": %s', async (fixtures, repository, problem) => {
    const cwd = await project({ fixtures, repository });
    const { code, stderr, stdout } = await run(['start'], { cwd });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`"fixtures" in gateway-sim.config.json ${problem}: ${join(cwd, fixtures)}`);
    expect(stderr).toMatch(/with GATEWAY_SIM_CONFIG, or set this value with its flag/);
    // Named by the user, anything goes.
    for (const [args, env] of [
      [['--fixtures', fixtures], {}],
      [[], { GATEWAY_SIM_CONFIG: 'gateway-sim.config.json' }],
    ] as const)
      expect((await start(args, { cwd, env })).ready.secretKey).toBe(SECRET_KEY);
  });

  it.each([
    ['own.json', ''],
    ['.gateway-sim/backup/db.json', ''],
    ['../shared.json', '..'],
    ['../fixtures/db.json', '..'],
  ] as const)('%s in the repository "%s" is used', async (fixtures, repository) => {
    const cwd = await project({ fixtures, repository });
    expect((await start([], { cwd })).ready.secretKey).toBe(SECRET_KEY);
  });
});
