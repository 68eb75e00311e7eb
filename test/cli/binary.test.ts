import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BINARY } from '../helpers/binary.ts';
import { launchProgram, runProgram } from '../helpers/child.ts';
import { runJson, startHere } from '../helpers/cli.ts';
import { PROGRAM, withCommandsBelow } from '../helpers/commands.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { ORDER } from '../helpers/sim.ts';

/**
 * A command line for every command with its exit code and output, in order. `ELSEWHERE` lists the commands with their
 * own tests.
 */
const CASES: readonly (readonly [line: string, code: number, output: RegExp])[] = [
  ['pay --cancel', 0, /Status +canceled/],
  ['payments list', 0, /order-1/],
  ['payments show order-1', 0, /Initiated/],
  ['open checkout', 4, /no payment is pending/],
  ['open checkout order-2', 4, /order-2/],
  ['payments create', 0, /payment_id=/],
  ['ipn list', 0, /No IPNs/],
  ['ipn show ipn_x', 4, /no IPN delivery/],
  ['ipn resend ipn_x', 4, /no IPN delivery/],
  ['ipn diagnose ipn_x', 4, /no payment has the id or identifier/],
  ['ipn fire --to http://127.0.0.1:9/', 1, /failed/],
  ['ipn fire --to http://127.0.0.1:9/ --secret x --require-delivery', 1, /connection refused/],
  ['ipn verify status=success', 1, /not valid/],
  ['ipn listen --port x --secret x', 2, /--port must be/],
  ['keys show', 0, /Secret key/],
  ['keys generate', 0, /old keys no longer work/],
  ['keys show --merchant Third', 4, /no merchant is called "Third"/],
  ['keys env --merchant Third', 4, /no merchant is called "Third"/],
  [
    'keys env',
    0,
    /^GATEWAY_SIM_URL=http\S+\n\w+_PUBLIC_KEY=pub_\S+\n\w+_SECRET_KEY=sec_\S+\n\w+_INITIATE_URL=\S+\/initiate\n/,
  ],
  ['wallets list', 0, /wal_poor_usd/],
  ['wallets fund wal_poor_usd --amount 1', 0, /wal_poor_usd {2}2.00 USD/],
  ['wallets fund wal_poor_usd', 2, /--amount/],
  ['wallets fund wal_x --amount 1', 4, /wal_x/],
  ['state export -', 0, /"version"/],
  ['state import -', 2, /stdin is not JSON/],
  ['state reset', 0, /Merchants kept their keys/],
  ['cards list', 0, /No cards/],
  ['cards show card_x', 4, /card_x/],
  ['cards create', 0, /Test card/],
  ['cards activate card_x', 4, /card_x/],
  ['cards block card_x', 4, /card_x/],
  ['cards cancel card_x', 4, /card_x/],
  ['cards charge card_x --amount 1', 4, /card_x/],
  ['cards fund card_x --amount 1', 4, /card_x/],
  ['faults list', 0, /No faults/],
  ['faults clear', 0, /0 cleared/],
  ['faults set initiate --status 503', 0, /FAULT ON {2}initiate: status 503/],
  ['clock show', 0, /^Time .*\nOffset .*\nNext due/],
  ['clock advance 1s', 0, /Offset/],
  ['clock freeze', 0, /frozen/],
  ['clock resume', 0, /^Time +\S+Z\n/],
  ['clock reset', 0, /^Time +\S+Z\nOffset +0 s/],
  ['status', 0, /Base URL/],
  ['wait', 0, /^http:/],
  ['open nowhere', 2, /dashboard or checkout/],
  ['inbox', 0, /No codes/],
  ['logs', 0, /the state was reset/],
  ['docs ci', 0, /^# CI/],
  ['openapi', 0, /"openapi"/],
  ['audit', 2, /requires the address of the IPN handler/],
  ['conform --manifest nowhere', 2, /the manifest nowhere cannot be read/],
  ['reconcile', 2, /--probe-cmd, --probe-url or --db/],
  // Last, because the configuration would apply to the commands after it.
  ['init', 0, /wrote gateway-sim\.config\.json/],
];

const ELSEWHERE = ['start', 'exec', 'stop'];

const MAIN = fileURLToPath(new URL('../../dist/main.cjs', import.meta.url));

/** Runs command lines one after another in one process of the packed program. */
const ALL_OF_THEM = `
  const { main } = require(process.argv[1]);
  for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
  (async () => {
    for (const line of process.argv.slice(2)) {
      process.exitCode = 0;
      await main([process.execPath, 'gateway-sim.js', ...line.split(' ')]);
      process.stdout.write('\\f' + process.exitCode + '\\n');
      process.stderr.write('\\f');
    }
    process.exitCode = 0;
  })();`;

describe('the built program', () => {
  it('runs every command', async () => {
    const { cwd, initiate } = await startHere();
    await initiate(ORDER);
    const lines = CASES.map(([line]) => line);
    const program = [process.execPath, '-e', ALL_OF_THEM, MAIN, ...lines];
    const { code, stdout, stderr } = await runProgram(program, { cwd, input: '' });
    const ends = stdout.split(/\f(\d+)\n/);
    const errors = stderr.split('\f');
    expect([code, errors.length]).toEqual([0, lines.length + 1]);
    const ended = lines.map((line, at) => [line, Number(ends[2 * at + 1]), `${ends[2 * at]}${errors[at]}`]);
    expect(ended).toEqual(CASES.map(([line, code, output]) => [line, code, expect.stringMatching(output)]));
  });

  it('has no other command', () => {
    const names = withCommandsBelow(PROGRAM)
      .filter(({ commands }) => !commands.length)
      .map((command) => (command.parent === PROGRAM ? '' : `${command.parent?.name()} `) + command.name());
    const missing = names.filter((name) => !CASES.some(([line]) => `${line} `.startsWith(`${name} `)));
    expect(missing).toEqual(ELSEWHERE);
  });
});

const shell = async (script: string) => {
  const cwd = await temporaryFolder();
  return { cwd, ...launchProgram(['sh', '-c', script, process.execPath, BINARY], { cwd }) };
};

describe.runIf(existsSync('/dev/full'))(
  'a command whose output cannot be written (on a system with /dev/full)',
  () => {
    it.each(['--help', '--version'])('exits 5 with an error: %s', async (line) => {
      const { ended } = await shell(`"$0" "$1" ${line} >/dev/full`);
      const stderr = 'gateway-sim: the output cannot be written: the disk is full\n';
      expect(await ended).toMatchObject({ code: 5, stdout: '', stderr });
    });

    it('does not stop an emulator', async () => {
      const { cwd, child, ended } = await shell('exec "$0" "$1" start --port 0 >/dev/full 2>&1');
      const { url } = (await runJson<{ url: string }>(['wait', '--data-dir', '.gateway-sim'], { cwd })).body;
      for (let number = 0; number < 20; number++) await fetch(`${url}/nowhere`);
      expect(await (await fetch(`${url}/_sim/livez`)).json()).toEqual({ status: 'live' });
      child.kill('SIGTERM');
      // The emulator stopped as requested, but its output was lost.
      expect(await ended).toMatchObject({ code: 5, signal: null });
    });
  },
);

it('reports a missing working directory', async () => {
  const { ended } = await shell('mkdir gone && cd gone && rmdir ../gone && "$0" "$1" status');
  const stderr = 'gateway-sim: the working folder no longer exists\n  Change to another folder.\n';
  expect(await ended).toMatchObject({ code: 2, stdout: '', stderr });
});

it('tells the user of a clone how to build it', async () => {
  const cwd = await temporaryFolder();
  const root = join(dirname(BINARY), '..');
  for (const name of ['bin', 'package.json'])
    await cp(join(root, name), join(cwd, name), { recursive: true });
  const { code, stderr } = await runProgram([process.execPath, 'bin/gateway-sim.js', 'status'], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringContaining('npm run build')]);
});

describe('a clone', () => {
  const SCRIPT = join(dirname(BINARY), '..', '.config', 'build-if-stale.mjs');
  const BUILD = 'mkdir -p dist && touch dist/index.d.cts && ls src';

  it('builds before its first start and after a change of its sources, and says so', async () => {
    const manifest = JSON.stringify({ scripts: { build: BUILD } });
    const files = ['package-lock.json', 'tsconfig.json'];
    const cwd = await temporaryFolder({
      'package.json': manifest,
      ...Object.fromEntries(files.map((name) => [name, ''])),
    });
    for (const name of ['.config', 'fixtures', 'src']) await mkdir(join(cwd, name));
    await writeFile(join(cwd, 'src', 'removed.ts'), '');
    const build = () => runProgram([process.execPath, SCRIPT], { cwd });
    const notice = 'gateway-sim: building, which takes up to a minute…\n';
    expect(await build()).toMatchObject({ code: 0, stdout: '', stderr: notice });
    expect(await build()).toMatchObject({ code: 0, stdout: '', stderr: '' });
    await rm(join(cwd, 'src', 'removed.ts'));
    expect(await build()).toMatchObject({ code: 0, stdout: '', stderr: notice });
    await writeFile(join(cwd, 'package.json'), manifest.replace('ls src', 'ls nowhere'));
    const { code, stderr } = await build();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^gateway-sim: building, [\s\S]*nowhere/)]);
  });
});
