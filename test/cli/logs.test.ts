import { describe, expect, it } from 'vitest';
import { payWithMistakes } from '../helpers/busy.ts';
import { launch, run, runJson, startHere, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { enter, ORDER } from '../helpers/sim.ts';
import { tunnel } from '../helpers/tunnel.ts';

describe('inbox and logs', () => {
  it('show the code of a live checkout and its events, without secrets', async () => {
    const { cwd, ...ready } = await startHere();
    const create = ['payments', 'create', '--live'];
    const { body } = await runJson<{ id: string; checkoutUrl: string }>(create, { cwd });
    await enter(body.checkoutUrl, 'email', { email: 'wallet@example.com', note: ready.secretKey });
    const inbox = await runJson<{ data: object[] }>(['inbox'], { cwd });
    const code = expect.stringMatching(/^\d{6}$/);
    expect(inbox.body.data).toMatchObject([{ paymentId: body.id, email: 'wallet@example.com', code }]);
    const { stdout } = await run(['logs', '--json'], { cwd });
    for (const type of ['payment', 'request', 'message']) expect(stdout).toContain(`"type":"${type}"`);
    expect(stdout).not.toContain(ready.secretKey);
  });

  it('show why an initiate request was rejected, although its status is 200', async () => {
    const { cwd, ...ready } = await startHere();
    const path = '/sandbox/payment/initiate';
    await fetch(ready.url + path, { method: 'POST', body: new URLSearchParams({ identifier: 'a' }) });
    const json = JSON.stringify({ identifier: 'a' });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    await fetch(ready.url + path, { method: 'POST', body: json, headers });
    const { stdout } = await run(['logs'], { cwd });
    expect(stdout).toMatch(/POST \/sandbox\/payment\/initiate {2}200 rejected/);
    expect(stdout).toContain('public_key is required');
    expect(stdout).toContain('and 6 more');
    expect(stdout).toContain('looks like JSON');
  });

  it('show which flag lets the proxy serve a host that it rejected, as start does', async () => {
    const cwd = await temporaryFolder();
    const flags = ['start', '--port', '0', '--proxy', '--host-alias', 'pay.example.com'];
    const server = launch(flags, { cwd });
    await server.until((stdout) => stdout.includes('Ctrl-C'));
    const port = Number(/Base URL +http:\/\/127\.0\.0\.1:(\d+)/.exec(server.stdout())?.[1]);
    expect((await tunnel(port, 'other.example:443')).status).toBe(403);
    const line =
      /^[\d:]{8} +! +this proxy serves only .* start with --host-alias other\.example\. Otherwise/m;
    await server.until((stdout) => line.test(stdout));
    expect((await run(['logs'], { cwd })).stdout).toMatch(line);
  });

  it('name every option that would accept a rejected initiate request', async () => {
    const cwd = await temporaryFolder();
    const flags = ['start', '--port', '0', '--currency', 'NPR:Rs', '--control-token', 'token-of-the-team'];
    const server = launch(flags, { cwd });
    await server.until((stdout) => stdout.includes('Ctrl-C'));
    const url = /Base URL +(\S+)/.exec(server.stdout())?.[1] ?? '';
    const body = new URLSearchParams({ ...ORDER, public_key: 'nobody', currency: 'xof', site_logo: '' });
    await fetch(`${url}/payment/initiate`, { method: 'POST', body });
    await server.until((stdout) =>
      /start with --loose and --currency XOF to accept the other fields$/m.test(stdout),
    );
  });

  it('show each event of a checkout once, in order, and rejected entries', async () => {
    const cwd = await temporaryFolder();
    const receiver = await startReceiver();
    const sim = await startIn(cwd);
    await payWithMistakes(sim, { ipn_url: `${receiver.url}/ipn` });
    const { stdout } = await run(['logs'], { cwd });
    const lines = stdout.split('\n').filter((line) => / order-1( |$)/.test(line));
    const events = lines.map((line) => line.replace(/^[\d:]{8} +| {2}(pay_\w+|[\d.]+ ms)/g, ''));
    expect(events).toEqual([
      'payment order-1  49.90 USD  sandbox  pending',
      'payment order-1  E-mail rejected: nobody@shop.test (the sandbox accepts only its test e-mail)',
      'payment order-1  E-mail entered: test_mode@mail.com',
      'payment order-1  Code rejected: 111111 (wrong code)',
      'payment order-1  49.90 USD  sandbox  succeeded',
      `<--  IPN POST ${receiver.url}/ipn  200  order-1  attempt 1`,
      expect.stringMatching(/^payment order-1 {2}Browser redirected: http/),
    ]);
    const times = stdout.split('\n').flatMap((line) => /^[\d:]{8}/.exec(line) ?? []);
    expect(times).toEqual(times.toSorted());
  });

  it('logs --follow runs until the server stops, and exits 0', async () => {
    const { cwd } = await startHere();
    await run(['payments', 'create', '--identifier', 'first'], { cwd });
    const following = launch(['logs', '--follow', '--json'], { cwd });
    await following.until((stdout) => stdout.includes('first'));
    await run(['payments', 'create', '--identifier', 'second'], { cwd });
    await following.until((stdout) => stdout.includes('second'));
    await run(['stop'], { cwd });
    expect((await following.ended).code).toBe(0);
  });
});
