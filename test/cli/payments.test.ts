import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/contract/payment.ts';
import { run, runJson, startHere } from '../helpers/cli.ts';

describe('payments', () => {
  it('create initiates like a merchant, with pages of the emulator by default', async () => {
    const { cwd, ...ready } = await startHere();
    const { body } = await runJson<Payment>(['payments', 'create'], { cwd });
    for (const url of [body.checkoutUrl, body.successUrl, body.siteLogo]) {
      expect(url).toContain(ready.url);
      expect((await fetch(url ?? '')).status).toBe(200);
    }
    const forHumans = await run(['payments', 'create', '--live'], { cwd });
    expect(forHumans.stdout).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/initiate\/payment\/checkout\?payment_id=\S+\n$/,
    );
  });

  it('list leaves out what audits made, as ipn list does, unless --audits is given', async () => {
    const { cwd, url } = await startHere();
    for (const name of ['mine', 'of-the-audit'])
      await run(['payments', 'create', '--identifier', name], { cwd });
    await run(['pay', 'mine', '--approve'], { cwd });
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ outcome: 'approve', by: 'audit' });
    await fetch(`${url}/_sim/payments/of-the-audit/settle`, { method: 'POST', headers, body });
    for (const noun of ['payments', 'ipn']) {
      const names = async (...args: string[]) => {
        const list = await runJson<{ data: { identifier: string }[] }>([noun, 'list', ...args], { cwd });
        return list.body.data.map(({ identifier }) => identifier);
      };
      expect(await names()).toEqual(['mine']);
      expect(await names('--audits')).toEqual(['of-the-audit', 'mine']);
    }
  });

  it('show says how and when a payment settles automatically', async () => {
    const { cwd } = await startHere({ auto: 'approve', autoDelay: '1h' });
    await run(['payments', 'create', '--identifier', 'later'], { cwd });
    const { stdout } = await run(['payments', 'show', 'later'], { cwd });
    expect(stdout).toMatch(/^Settles +automatically: approve, at \d{4}-.* UTC$/m);
  });

  it('print errors as JSON with --json', async () => {
    const { cwd } = await startHere();
    const env = { npm_command: 'exec' };
    const { code, body, stderr } = await runJson(['payments', 'show', 'nobody'], { cwd, env });
    const remedy = 'List all payments with: npx gateway-sim payments';
    expect([code, body]).toEqual([4, expect.objectContaining({ error: 'true', code: 'not_found', remedy })]);
    expect(stderr).toMatch(new RegExp(`nobody.*\n  ${remedy}`));
  });
});
