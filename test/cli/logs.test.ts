import { describe, expect, it } from 'vitest';
import { launch, run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

describe('inbox and logs', () => {
  it('show the code of a live checkout and what led to it, without any secret', async () => {
    const cwd = await temporaryFolder();
    const ready = await startIn(cwd);
    const { body } = await runJson<{ id: string; checkoutUrl: string }>(
      ['payments', 'create', '--live', '--identifier', 'x'],
      { cwd },
    );
    await fetch(body.checkoutUrl.replace('/checkout?', '/checkout/email?'), {
      method: 'POST',
      body: new URLSearchParams({ email: 'wallet@example.com', note: ready.secretKey }),
    });
    const inbox = await runJson<{ data: object[] }>(['inbox'], { cwd });
    expect(inbox.body.data).toEqual([
      expect.objectContaining({
        paymentId: body.id,
        identifier: 'x',
        email: 'wallet@example.com',
        code: expect.stringMatching(/^\d{6}$/) as string,
        expiresAt: expect.any(String) as string,
      }),
    ]);
    const logs = await run(['logs', '--json'], { cwd });
    const types = logs.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(expect.arrayContaining(['payment', 'request', 'message']));
    expect(logs.stdout).not.toContain(ready.secretKey);
    expect((await run(['logs'], { cwd })).stdout).toContain('-->');
  });

  it('say why an initiate was refused, though it was answered 200', async () => {
    const cwd = await temporaryFolder();
    const ready = await startIn(cwd);
    const path = '/sandbox/payment/initiate';
    await fetch(ready.url + path, { method: 'POST', body: new URLSearchParams({ identifier: 'a' }) });
    const json = JSON.stringify({ identifier: 'a' });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    await fetch(ready.url + path, { method: 'POST', body: json, headers });
    const { stdout } = await run(['logs'], { cwd });
    expect(stdout).toMatch(/POST \/sandbox\/payment\/initiate {2}200 refused/);
    expect(stdout).toContain('public_key is required');
    expect(stdout).toContain('and 6 more');
    expect(stdout).toContain('looks like JSON');
  });

  it('tell of an audit its beginning, its end, and what did not go well', async () => {
    const cwd = await temporaryFolder();
    const { url } = await startIn(cwd);
    await fetch(`${url}/_sim/audit`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ipnUrl: 'http://127.0.0.1:9/ipn', only: ['signature-missing'] }),
    });
    const shown = async () => (await run(['logs'], { cwd })).stdout;
    await expect.poll(shown, { timeout: 15_000 }).toContain('finished');
    expect((await shown()).match(/audit \d of .*/g)).toEqual([
      'audit 0 of 2  running',
      'audit 1 of 2  fail control',
      'audit 2 of 2  finished',
    ]);
  });

  it('logs --follow goes on until the server stops, and ends with 0', async () => {
    const cwd = await temporaryFolder();
    await startIn(cwd);
    await run(['payments', 'create', '--identifier', 'first'], { cwd });
    const following = launch(['logs', '--follow', '--json'], { cwd });
    await following.until((stdout) => stdout.includes('first'));
    await run(['payments', 'create', '--identifier', 'second'], { cwd });
    await following.until((stdout) => stdout.includes('second'));
    await run(['stop'], { cwd });
    expect((await following.ended).code).toBe(0);
  });
});
