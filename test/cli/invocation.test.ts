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
    [['faults', 'set', 'initiate', '--statsu', '503'], '--status'],
    [['init', '--forc'], '--force'],
    // Synonyms.
    [['ipn', 'fire', '--forged', 'amount'], ': did you mean --tamper?'],
    [['webhooks', 'list'], ': did you mean ipn?'],
    [['ipn', 'forge'], 'ipn fire'],
    [['ipn', 'send'], 'ipn fire'],
    [['pay', '--success'], ': did you mean --approve?'],
  ])('%j exits 2, and the error suggests %s', async (args, suggestion) => {
    const { code, stdout, stderr } = await run(args, { cwd: await temporaryFolder() });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(suggestion);
    expect(stderr).not.toMatch(/^\s+at /m);
    const asJson = await run([...args, '--json'], { cwd: await temporaryFolder() });
    // A program that reads the first line of start must get a ready event or nothing.
    if (args[0] === 'start') expect(asJson.stdout).toBe('');
    else expect(JSON.parse(asJson.stdout)).toMatchObject({ code: 'usage', message: expect.any(String) });
  });

  it('lists the exit codes in the help', async () => {
    const { code, stdout } = await run(['--help'], { cwd: '.' });
    expect(code).toBe(0);
    for (const number of [0, 1, 2, 3, 4, 5, 6])
      expect(stdout).toMatch(new RegExp(`^ +${number} {2}\\w`, 'm'));
  });

  it.each(['status', 'payments list', 'keys show', 'logs'])(
    'without an emulator exits 3, and says how to start one: %s',
    async (line) => {
      const args = [...line.split(' '), '--url', 'http://127.0.0.1:9'];
      const { code, stderr } = await run(args, { cwd: await temporaryFolder() });
      expect([code, stderr]).toEqual([3, expect.stringMatching(/node \S+gateway-sim\.js start/)]);
    },
  );
});
