import { describe, expect, it } from 'vitest';
import { launch, run, startHere, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';

describe('gateway-sim clock', () => {
  it('waits for the response to what has fallen due', async () => {
    const cwd = await temporaryFolder();
    const receiver = await startReceiver(['hang']);
    await startIn(cwd, { delivery: 'redirect-then-ipn' });
    const to = `${receiver.url}/slow`;
    await run(['payments', 'create', '--identifier', 'a', '--ipn-url', to], { cwd });
    await run(['clock', 'freeze'], { cwd });
    await run(['pay', 'a', '--approve'], { cwd });
    expect((await run(['clock'], { cwd })).stdout).toMatch(/^Next due {2}\d{4}-/m);
    const advancing = launch(['clock', 'advance', '1s'], { cwd });
    await receiver.request(1);
    await receiver.close();
    expect((await advancing.ended).code).toBe(0);
  });

  it('rejects a move to the past with exit code 2', async () => {
    const { cwd } = await startHere();
    const { code, stderr } = await run(['clock', 'advance', '-2h'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('the clock only moves forward')]);
  });
});
