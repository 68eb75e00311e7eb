import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BINARY, run } from '../helpers/binary.ts';
import { startIn } from '../helpers/cli.ts';
import { PROGRAM, withCommandsBelow } from '../helpers/commands.ts';
import { temporaryFolder } from '../helpers/folder.ts';

/** A command line of every command, what it exits with and what it says. Those not here run in tests of their own. */
const CASES: readonly (readonly [line: string, code: number, said: RegExp])[] = [
  ['pay --cancel', 0, /Status +canceled/],
  ['payments list', 0, /order-1/],
  ['payments show order-1', 0, /initiated/],
  ['payments create', 0, /payment_id=/],
  ['ipn list', 0, /No IPNs/],
  ['ipn show ipn_x', 4, /no IPN delivery/],
  ['ipn resend ipn_x', 4, /no IPN delivery/],
  ['ipn fire --to http://127.0.0.1:9/', 0, /failed/],
  ['ipn fire --to http://127.0.0.1:9/ --secret x --require-delivery', 1, /connection refused/],
  ['ipn verify status=success', 1, /not valid/],
  ['ipn listen --port x --secret x', 2, /--port must be/],
  ['keys show', 0, /Secret key/],
  ['keys generate', 0, /old pair stopped working/],
  ['keys env', 0, /^GATEWAY_SIM_URL=/],
  ['wallets list', 0, /wal_poor_usd/],
  ['wallets fund wal_poor_usd --amount 1', 0, /wal_poor_usd/],
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
  ['faults set cards --status 503', 0, /FAULT ON {2}cards: status 503/],
  ['faults clear', 0, /0 cleared/],
  ['clock show', 0, /Next due/],
  ['clock advance 1s', 0, /Ahead/],
  ['clock freeze', 0, /frozen/],
  ['clock resume', 0, /Time/],
  ['status', 0, /Base URL/],
  ['wait', 0, /^http:/],
  ['open nowhere', 2, /dashboard or checkout/],
  ['inbox', 0, /No codes/],
  ['logs', 0, /POST \/sandbox\/payment\/initiate/],
  ['init', 0, /wrote gateway-sim\.config\.json/],
  ['openapi', 0, /"openapi"/],
  ['completion bash', 0, /complete -F/],
  ['audit --list', 0, /sandbox-for-live/],
  ['conform --manifest nowhere', 2, /the manifest nowhere cannot be read/],
  ['reconcile', 2, /--probe-cmd or --probe-url/],
];

const ELSEWHERE = ['start', 'exec', 'stop'];

describe('the real binary', () => {
  it.each(CASES)('runs %s', async (line, code, said) => {
    const cwd = await temporaryFolder();
    const { initiate } = await startIn(cwd);
    await initiate({
      ...{
        identifier: 'order-1',
        currency: 'USD',
        amount: '1',
        details: 'x',
        ipn_url: 'http://127.0.0.1:9/',
      },
      ...{ success_url: 'http://127.0.0.1:9/', cancel_url: 'http://127.0.0.1:9/' },
      ...{ site_logo: 'http://127.0.0.1:9/', customer_name: 'Ada', customer_email: 'ada@example.com' },
    });
    const finished = await run(line.split(' '), { cwd });
    expect(finished).toMatchObject({ code });
    expect(finished.stdout + finished.stderr).toMatch(said);
  });

  it('runs every command', () => {
    const names = withCommandsBelow(PROGRAM)
      .filter(({ commands }) => !commands.length)
      .map((command) => (command.parent === PROGRAM ? '' : `${command.parent?.name()} `) + command.name());
    const missing = names.filter((name) => !CASES.some(([line]) => `${line} `.startsWith(`${name} `)));
    expect(missing).toEqual(ELSEWHERE);
  });
});

describe.runIf(existsSync('/dev/full'))('what cannot be (where there is a /dev/full)', () => {
  const shell = async (script: string) => {
    const cwd = await temporaryFolder();
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script, process.execPath, BINARY], {
      cwd,
      encoding: 'utf8',
    });
    return { code: status, stdout, stderr };
  };

  it.each(['--help', '--version', 'completion bash'])('written: %s exits 5 and says so', async (line) => {
    expect(await shell(`"$0" "$1" ${line} >/dev/full`)).toEqual({
      code: 5,
      stdout: '',
      stderr: 'gateway-sim: the output cannot be written: the disk is full\n',
    });
  });

  it('written by an emulator does not end it', async () => {
    const { stdout } = await shell(
      '"$0" "$1" start --port 0 >/dev/full 2>&1 & "$0" "$1" wait --data-dir .gateway-sim && "$0" "$1" stop; wait',
    );
    expect(stdout).toContain('Stopped http://127.0.0.1:');
  });

  it('found: a working folder that is gone', async () => {
    expect(await shell('mkdir gone && cd gone && rmdir ../gone && "$0" "$1" status')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'gateway-sim: the working folder does not exist any more\n  Change to another one.\n',
    });
  });

  it.each([
    ['a file', 'echo x >.gateway-sim', 'a file is in the way'],
    ['a dangling link', 'ln -s /nowhere/at/all .gateway-sim', 'a file is in the way'],
  ])('used: a data folder that is %s', async (_, make, why) => {
    const { code, stderr } = await shell(`${make}; "$0" "$1" start --port 0`);
    expect([code, stderr]).toEqual([
      5,
      expect.stringMatching(new RegExp(`cannot be written: ${why}\n.*--data-dir`)),
    ]);
  });
});
