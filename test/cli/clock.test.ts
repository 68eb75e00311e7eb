import { describe, expect, it } from 'vitest';
import type { StartOptions } from '../../src/options/table.ts';
import { launch, run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';

interface Clock {
  now: string;
  frozen: boolean;
  aheadMs: number;
  nextDue: string | null;
}

/** An emulator in its own folder, and the folder to run commands in. */
async function started(options: StartOptions = {}): Promise<{ cwd: string; url: string }> {
  const cwd = await temporaryFolder();
  const { url } = await startIn(cwd, options);
  return { cwd, url };
}

describe('gateway-sim clock', () => {
  it('shows the time and the next event', async () => {
    const options = await started({ paymentExpires: '30m' });
    const { code, body } = await runJson<Clock>(['clock'], options);
    expect([code, body]).toEqual([0, expect.objectContaining({ frozen: false, nextDue: null })]);
    await run(['payments', 'create'], options);
    const { stdout } = await run(['clock', 'show'], options);
    expect(stdout).toMatch(/^Time .*\nAhead .*\nNext due {2}\d{4}-/);
  });

  it('reports what it is waiting for', async () => {
    const receiver = await startReceiver(['hang']);
    const options = await started({ delivery: 'redirect-then-ipn' });
    const to = `${receiver.url}/slow`;
    await run(['payments', 'create', '--identifier', 'a', '--ipn-url', to], options);
    await run(['clock', 'freeze'], options);
    await run(['pay', 'a', '--approve'], options);
    const advancing = launch(['clock', 'advance', '1s'], options);
    await advancing.until((_, stderr) =>
      new RegExp(`is waiting for ${to} to respond to IPN ipn_\\w+, attempt 1\n`).test(stderr),
    );
    await receiver.close();
    expect((await advancing.ended).code).toBe(0);
  });

  it('freezes at a future time and resumes from there', async () => {
    const options = await started();
    const frozen = await runJson<Clock>(['clock', 'freeze', '2999-01-01T00:00:00Z'], options);
    expect(frozen.body).toMatchObject({ now: '2999-01-01T00:00:00.000Z', frozen: true });
    expect((await run(['clock'], options)).stdout).toContain('(frozen)');
    const resumed = await runJson<Clock>(['clock', 'resume'], options);
    expect(resumed.body.frozen).toBe(false);
    expect(resumed.body.now >= frozen.body.now).toBe(true);
  });

  it('rejects invalid moves with exit code 2 and explains why', async () => {
    const options = await started();
    for (const [args, message] of [
      [['advance', '-2h'], 'the clock only moves forward'],
      [['advance', 'soon'], 'advance must be a duration'],
      [['advance'], "missing required argument 'duration'"],
      [['freeze', '2020-01-01T00:00:00Z'], 'must not move the clock backwards'],
      [['freeze', 'yesterday'], 'a time with its zone'],
    ] as const) {
      const { code, stdout, stderr } = await run(['clock', ...args], options);
      expect({ args, code, stdout, stderr }).toEqual({
        args,
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(message),
      });
    }
  });
});
