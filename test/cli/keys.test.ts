import { describe, expect, it } from 'vitest';
import { run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

describe('keys', () => {
  it('generate replaces the keys immediately, creates a merchant for a new name, and env can be sourced', async () => {
    const cwd = await temporaryFolder();
    const ready = await startIn(cwd);
    type Keys = { merchant: string; publicKey: string; secretKey: string };
    const { body: rotated } = await runJson<Keys>(['keys', 'generate'], { cwd });
    expect(Object.keys(rotated).sort()).toEqual(['merchant', 'publicKey', 'secretKey']);
    expect(rotated.publicKey).not.toBe(ready.publicKey);
    expect((await runJson<Keys>(['keys', 'show'], { cwd })).body).toEqual(rotated);
    const { body: made } = await runJson<Keys>(['keys', 'generate', '--merchant', 'Second'], { cwd });
    expect(made.merchant).toBe('Second');
    expect((await runJson<Keys>(['keys', 'show', '--merchant', 'Second'], { cwd })).body).toEqual(made);
    expect((await run(['keys', 'show', '--merchant', 'Third'], { cwd })).code).toBe(4);
    const { stdout } = await run(['keys', 'env'], { cwd });
    expect(stdout.trimEnd().split('\n')).toEqual([
      `GATEWAY_SIM_URL=${ready.url}`,
      `GATEWAY_SIM_PUBLIC_KEY=${rotated.publicKey}`,
      `GATEWAY_SIM_SECRET_KEY=${rotated.secretKey}`,
      `GATEWAY_SIM_INITIATE_URL=${ready.url}/sandbox/payment/initiate`,
    ]);
  });
});
