import { describe, expect, it } from 'vitest';
import { run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

describe('every command', () => {
  it.each([
    [['strat'], 'start'],
    [['paymants', 'list'], 'payments'],
    [['start', '--prot', '1'], '--port'],
    [['start', '--publik-url', 'x'], '--public-url'],
    [['pay', '--aprove'], '--approve'],
    [['payments', 'create', '--amout', '1'], '--amount'],
    [['payments', 'lst'], 'payments list'],
    [['ipn', 'resnd', 'ipn_1'], 'ipn resend'],
    [['keys', 'genrate'], 'keys generate'],
    [['keys', 'quite-another-thing'], 'generate, env'],
    [['complete', 'bash'], 'completion'],
    [['faults', 'set', 'initiate', '--statsu', '503'], '--status'],
    [['init', '--forc'], '--force'],
    // Synonyms.
    [['ipn', 'fire', '--forged', 'amount'], '(Did you mean --tamper?)'],
    [['webhooks', 'list'], '(Did you mean ipn?)'],
    [['ipn', 'forge'], 'ipn fire'],
    [['ipn', 'send'], 'ipn fire'],
    [['pay', '--success'], '(Did you mean --approve?)'],
  ])('%j exits 2 and names %s', async (args, nearest) => {
    const { code, stdout, stderr } = await run(args, { cwd: await temporaryFolder() });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(nearest);
    expect(stderr).not.toMatch(/^\s+at /m);
    const asJson = await run([...args, '--json'], { cwd: await temporaryFolder() });
    // The first line of a start must be the only one that its reader gets.
    if (args[0] === 'start') expect(asJson.stdout).toBe('');
    else expect(JSON.parse(asJson.stdout)).toMatchObject({ code: 'usage', message: expect.any(String) });
  });

  it('help lists the exit codes and exits 0', async () => {
    const { code, stdout } = await run(['--help'], { cwd: await temporaryFolder() });
    expect(code).toBe(0);
    for (const number of [0, 1, 2, 3, 4, 5, 6])
      expect(stdout).toMatch(new RegExp(`^ +${number} {2}\\w`, 'm'));
  });

  it('without an emulator exits 3 and says how to start one, the way the program was called', async () => {
    const cwd = await temporaryFolder();
    for (const args of [
      ['status'],
      ['payments', 'list'],
      ['keys', 'show'],
      ['wallets', 'list'],
      ['inbox'],
      ['logs'],
    ]) {
      const { code, stderr } = await run([...args, '--url', 'http://127.0.0.1:9'], { cwd });
      expect([args, code]).toEqual([args, 3]);
      expect(stderr).toMatch(/node \S+gateway-sim\.js start/);
    }
  });
});
