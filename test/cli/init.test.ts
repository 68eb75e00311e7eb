import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJsonc } from '../../src/cli/configuration.ts';
import { START_OPTIONS } from '../../src/options/start-options.ts';
import { run, runJson, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const CONFIG = 'gateway-sim.config.json';
const FIXTURES = 'gateway-sim.fixtures.json';

describe('init', () => {
  it('writes a configuration with every option and fixtures, and prints the next command', async () => {
    const cwd = await temporaryFolder();
    const { code, stdout, stderr } = await run(['init'], { cwd });
    expect([code, stdout]).toEqual([0, `wrote ${CONFIG}\nwrote ${FIXTURES}\n`]);
    expect(stderr).toMatch(/run: node \S+gateway-sim\.js start/);
    const text = await readFile(join(cwd, CONFIG), 'utf8');
    expect(parseJsonc(text)).toEqual({ fixtures: FIXTURES });
    const everything = parseJsonc(text.replace(/^ {2}\/\/ (?=")/gm, '  ')) as Record<string, unknown>;
    expect(Object.keys(everything).sort()).toEqual(['$schema', ...Object.keys(START_OPTIONS)].sort());
    for (const [name, spec] of Object.entries(START_OPTIONS)) {
      expect(text).toContain(`  // ${spec.description}\n`);
      if ('default' in spec) expect([name, everything[name]]).toEqual([name, spec.default]);
    }
    const packaged = await readFile(new URL('../../fixtures/default.json', import.meta.url), 'utf8');
    expect(await readFile(join(cwd, FIXTURES), 'utf8')).toBe(packaged);
  });

  it('writes a configuration and fixtures that start uses, edits included', async () => {
    const cwd = await temporaryFolder();
    await run(['init', '--dir', 'a/b'], { cwd });
    const folder = join(cwd, 'a/b');
    const edit = async (file: string, from: string | RegExp, to: string) => {
      const text = await readFile(join(folder, file), 'utf8');
      await writeFile(join(folder, file), text.replace(from, to));
    };
    await edit(CONFIG, '// "sandboxCode": "222666",', '"sandboxCode": "111111", // ours');
    await edit(CONFIG, '// "auto": "approve",', '/* headless */ "auto": "approve"');
    await edit(FIXTURES, 'wallet@example.com', 'ada@shop.example');
    let running = await start([], { cwd: folder });
    const get = async (path: string) => (await fetch(`${running.ready.url}/_sim/${path}`)).json();
    expect(await get('status')).toMatchObject({
      options: { sandboxCode: '111111', auto: 'approve', fixtures: FIXTURES },
    });
    const { data } = (await get('wallets')) as { data: { email: string }[] };
    expect(data.map(({ email }) => email)).toContain('ada@shop.example');
    // A later start reports ignored fixtures only if they come from a flag.
    for (const [args, notice] of [
      [[], ''],
      [['--fixtures', FIXTURES], expect.stringContaining('--fixtures is ignored')],
    ] as const) {
      await running.stop();
      running = await start(args, { cwd: folder });
      expect(running.stderr()).toEqual(notice);
    }
  });

  it.skipIf(process.platform === 'win32').each(['init', 'init --force'])(
    'does not write through a link (%s)',
    async (line) => {
      const cwd = await temporaryFolder({ mine: 'mine' });
      for (const target of ['mine', 'nowhere']) {
        await symlink(target, join(cwd, FIXTURES));
        const { code, stderr } = await run(line.split(' '), { cwd });
        expect([code, stderr]).toEqual([2, expect.stringContaining(`${FIXTURES} is not a regular file`)]);
        await rm(join(cwd, FIXTURES));
        expect(await readdir(cwd)).toEqual(['mine']);
        expect(await readFile(join(cwd, 'mine'), 'utf8')).toBe('mine');
      }
    },
  );

  it.each([CONFIG, FIXTURES])(
    'never overwrites %s without --force, and writes no other file',
    async (file) => {
      const cwd = await temporaryFolder({ [file]: 'mine' });
      const { code, stdout, stderr } = await run(['init'], { cwd });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(file);
      expect(stderr).toContain('--force');
      expect(await readdir(cwd)).toEqual([file]);
      expect(await readFile(join(cwd, file), 'utf8')).toBe('mine');
      const { code: forced, body } = await runJson(['init', '--force'], { cwd });
      expect([forced, body]).toEqual([0, { files: [join(cwd, CONFIG), join(cwd, FIXTURES)] }]);
      expect(await readFile(join(cwd, file), 'utf8')).not.toBe('mine');
    },
  );

  it('refers to the schema of the installed package, relative to its own folder', async () => {
    const cwd = await temporaryFolder({ 'node_modules/gateway-sim/fixtures/config.schema.json': '{}' });
    for (const [dir, schema] of [
      ['.', './node_modules/gateway-sim/fixtures/config.schema.json'],
      ['test/gateway', '../../node_modules/gateway-sim/fixtures/config.schema.json'],
    ] as const) {
      await run(['init', '--dir', dir], { cwd });
      const text = await readFile(join(cwd, dir, CONFIG), 'utf8');
      expect(parseJsonc(text)).toMatchObject({ $schema: schema });
    }
  });

  it('reports a --dir that is not a folder', async () => {
    const cwd = await temporaryFolder({ file: '' });
    const { code, stderr } = await run(['init', '--dir', 'file'], { cwd });
    expect([code, stderr]).toEqual([5, expect.stringContaining('file cannot be written')]);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('init for a test runner', () => {
  it.each([
    ['php', 'GatewaySim.php', 'payments.php', 'GatewaySimTest.php'],
    ['python', 'gateway_sim.py', 'payments.py', 'test_gateway_sim.py'],
    ['node', 'payments.d.cts', 'payments.cjs', 'gateway-sim-test.mjs'],
    ['vitest', 'payments.d.cts', 'payments.cjs', 'gateway-sim.test.mjs'],
    ['jest', 'payments.d.cts', 'payments.cjs', 'gateway-sim.test.cjs'],
    ['playwright', 'payments.d.cts', 'payments.cjs', 'gateway-sim.spec.mjs'],
  ])('writes only a test for %s and its setup', async (runner, ...files) => {
    const cwd = await temporaryFolder();
    const { code, stdout, stderr } = await run(['init', `--${runner}`, 'tests/pay'], { cwd });
    expect([code, stdout]).toEqual([0, files.map((file) => `wrote tests/pay/${file}\n`).join('')]);
    expect(stderr).toMatch(new RegExp(`^Run it: .+ tests/pay/${files.at(-1)}\\. .+${files.at(-2)}`));
    expect((await readdir(join(cwd, 'tests/pay'))).sort()).toEqual(files.sort());
  });

  it.each([
    ['php', 'vendor/bin/phpunit', 'composer require --dev phpunit/phpunit'],
    ['vitest', 'node_modules/vitest', 'npm install --save-dev vitest'],
  ])('says what the test for %s needs, only if it is missing', async (runner, file, install) => {
    const cwd = await temporaryFolder();
    expect((await run(['init', `--${runner}`], { cwd })).stderr).toContain(
      `\nFirst install what it needs: ${install}\n`,
    );
    await mkdir(join(cwd, file), { recursive: true });
    expect((await run(['init', `--${runner}`], { cwd })).stderr).not.toContain('install');
  });

  it('checks the version of PHP first, in a file that older ones can read', async () => {
    const cwd = await temporaryFolder();
    await run(['init', '--php'], { cwd });
    const text = await readFile(join(cwd, 'GatewaySim.php'), 'utf8');
    expect(text).toMatch(/^<\?php\n\nif \(PHP_VERSION_ID < 80100\) exit\('GatewaySim.php needs PHP 8.1/);
    expect(text).not.toMatch(/\breadonly\b|\benum\b|: never\b|\(\.\.\.\)/);
  });

  it('keeps identical files, and never overwrites changed ones without --force', async () => {
    const cwd = await temporaryFolder();
    const first = await run(['init', '--python', '--vitest'], { cwd });
    expect([first.code, (await run(['init', '--python', '--jest'], { cwd })).code]).toEqual([0, 0]);
    await writeFile(join(cwd, 'payments.py'), 'mine');
    await rm(join(cwd, 'gateway_sim.py'));
    const { code, stderr } = await run(['init', '--python'], { cwd });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/this would overwrite payments\.py\n.*--force/),
    ]);
    expect(await readFile(join(cwd, 'payments.py'), 'utf8')).toBe('mine');
    expect(await readdir(cwd)).not.toContain('gateway_sim.py');
    const forced = await run(['init', '--python', '--force'], { cwd });
    expect([forced.code, forced.stdout]).toEqual([
      0,
      'wrote gateway_sim.py\nwrote payments.py\nkept test_gateway_sim.py\n',
    ]);
    expect(await readFile(join(cwd, 'payments.py'), 'utf8')).not.toBe('mine');
  });

  it('writes none of the files if one of them is a folder, even with --force', async () => {
    const cwd = await temporaryFolder({ 'payments.py': 'mine' });
    await mkdir(join(cwd, 'test_gateway_sim.py'));
    const { code, stderr } = await run(['init', '--python', '--force'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('test_gateway_sim.py is not a regular file')]);
    expect(await readFile(join(cwd, 'payments.py'), 'utf8')).toBe('mine');
  });
});

describe('a configuration file', () => {
  it.each([
    ['comments and trailing commas', '{ // a\n "a": [/* b */ 1, 2,], }', { a: [1, 2] }],
    ['a byte order mark', '\uFEFF{}', {}],
  ])('may have %s', (_, text, value) => {
    expect(parseJsonc(text)).toEqual(value);
  });

  it('that is invalid is rejected, and the error names the line', async () => {
    const cwd = await temporaryFolder({
      [CONFIG]: '{\n  // "port": 1,\n  "loose": true\n  "panel": true\n}\n',
    });
    const { code, stderr } = await run(['start', '--in-memory'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(CONFIG);
    expect(stderr).toContain('line 4');
  });
});
