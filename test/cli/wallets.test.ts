import { describe, expect, it } from 'vitest';
import { run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

describe('wallets', () => {
  it('fund adds to the balance, and rejects an invalid amount and an unknown wallet', async () => {
    const cwd = await temporaryFolder();
    await startIn(cwd);
    const { body } = await runJson<{ balance: string }>(
      ['wallets', 'fund', 'wal_rich_usd', '--amount', '0.10'],
      { cwd },
    );
    expect(body.balance).toBe('1000000.1');
    for (const [args, code] of [
      [['wal_rich_usd', '--amount', '-1'], 2],
      [['wal_rich_usd', '--amount', '1e3'], 2],
      [['wal_nope', '--amount', '1'], 4],
      [['wal_rich_usd'], 2],
    ] as const) {
      expect([args, (await run(['wallets', 'fund', ...args], { cwd })).code]).toEqual([args, code]);
    }
  });
});
