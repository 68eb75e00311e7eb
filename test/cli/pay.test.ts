import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/contract/delivery.ts';
import type { Payment, Settled } from '../../src/contract/payment.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { launch, run, runJson, startHere } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';

async function start(options: StartOptions = {}) {
  const { cwd, ...ready } = await startHere(options);
  const create = async (identifier: string, ...more: string[]) =>
    (await runJson<{ id: string }>(['payments', 'create', '--identifier', identifier, ...more], { cwd })).body
      .id;
  return { cwd, ready, create };
}

describe('pay', () => {
  it('settles the newest pending payment', async () => {
    const { cwd, create } = await start();
    await create('older');
    const newest = await create('newest');
    const { code, body } = await runJson<Settled>(['pay', '--cancel'], { cwd });
    expect([code, body.payment.id]).toEqual([0, newest]);
  });

  it('shows each of two IPNs', async () => {
    const receiver = await startReceiver();
    const { cwd } = await startHere({ faults: [{ route: 'ipn', duplicate: true }] });
    await run(['payments', 'create', '--ipn-url', `${receiver.url}/ipn`], { cwd });
    const { stdout } = await run(['pay', '--approve'], { cwd });
    expect(stdout).toMatch(/^IPN +delivered: .*: The first got 200\. .* 200\.$/ms);
    await run(['faults', 'clear'], { cwd });
    await run(['payments', 'create', '--ipn-url', `${receiver.url}/ipn`], { cwd });
    const twice = await run(['pay', '--approve', '--delivery', 'ipn-twice'], { cwd });
    expect(twice.stdout).toMatch(/^IPN 1 +delivered: .* 200$\n^IPN 2 +delivered: .* 200$/m);
  });

  it('--all settles every pending payment, even if there are none', async () => {
    const { cwd, create } = await start();
    for (const name of ['a', 'b', 'c']) await create(name);
    const all = ['pay', '--all', '--cancel'];
    const { body } = await runJson<{ data: Settled[] }>(all, { cwd });
    expect(body.data.map(({ payment }) => payment.identifier).sort()).toEqual(['a', 'b', 'c']);
    expect(await runJson(all, { cwd })).toMatchObject({ code: 0, body: { data: [] } });
  });

  it('exits 4 if no payment is pending', async () => {
    const { cwd } = await start();
    for (const line of ['--approve', '--approve --wait 200ms']) {
      const { code, stdout } = await run(['pay', ...line.split(' ')], { cwd });
      expect([line, code, stdout]).toEqual([line, 4, '']);
    }
  });

  it('--wait waits for a later payment', async () => {
    const { cwd, create } = await start();
    const waiting = launch(['pay', 'late', '--cancel', '--wait', '60s', '--json'], { cwd });
    await create('late');
    const { code, stdout } = await waiting.ended;
    expect([code, (JSON.parse(stdout) as Settled).payment.status]).toEqual([0, 'canceled']);
  });

  it('exits 3 without an emulator, with --wait after the time limit', async () => {
    const cwd = await temporaryFolder();
    for (const more of [[], ['--wait', '300ms']]) {
      const args = ['pay', '--approve', '--url', 'http://127.0.0.1:9', ...more];
      const { code, stderr } = await run(args, { cwd });
      expect([more, code]).toEqual([more, 3]);
      expect(stderr).toContain('gateway-sim.js start');
    }
  });

  it.each([
    [[]],
    [['--approve', '--cancel']],
    [['x', '--approve', '--all']],
    [['--approve', '--wait', 'long']],
    [['--decline'], '--cancel'],
  ])('with %j exits 2', async (args, suggestion = '') => {
    const { cwd, create } = await start();
    await create('x');
    const stderr = expect.stringContaining(suggestion);
    expect(await run(['pay', ...args], { cwd })).toMatchObject({ code: 2, stderr });
  });

  it('--visit opens the redirect address, for a shop that pays when the customer returns', async () => {
    const receiver = await startReceiver(({ method }) =>
      method === 'GET'
        ? { status: 302, headers: { Location: '/orders/1' }, body: '<h1>Thank you</h1>' }
        : { status: 405 },
    );
    const { cwd, create } = await start();
    const urls = ['--ipn-url', `${receiver.url}/ipn`, '--success-url', `${receiver.url}/paid?order=1`];
    await create('order-1', ...urls);
    const { code, stdout } = await run(['pay', '--approve', '--visit'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('Visit     returned 302, redirects to /orders/1, “Thank you”\n');
    expect(stdout).toMatch(
      /Verdict {3}The route does not accept POST \(405\)\.[\s\S]*If your shop pays when the customer returns/,
    );
    const [, visit, ...more] = receiver.requests;
    expect([visit?.method, visit?.url, visit?.body, more]).toEqual(['GET', '/paid?order=1', '', []]);
    expect((await run(['logs'], { cwd })).stdout).toContain(
      `GET ${receiver.url}/paid?order=1  302  order-1  (visit)`,
    );
    expect((await run(['payments', 'show', 'order-1'], { cwd })).stdout).toMatch(/ redirected +http/);
    await create('order-2', ...urls);
    const { body } = await runJson<Settled>(['pay', '--cancel', '--delivery', 'redirect-only'], { cwd });
    expect(body).not.toHaveProperty('visit');
  });

  it('--visit obeys the egress rules, and opens nothing without a redirect', async () => {
    const { cwd, create } = await start();
    await create('public', '--success-url', 'http://203.0.113.9/paid');
    const refused = await runJson<Settled>(['pay', '--approve', '--visit', '--delivery', 'redirect-only'], {
      cwd,
    });
    expect(refused).toMatchObject({
      code: 0,
      body: {
        visit: { status: null, body: null, error: expect.stringContaining('--allow-ipn-host 203.0.113.9') },
      },
    });
    await create('staying', '--success-url', 'http://127.0.0.1:9/paid');
    const { code, stdout } = await run(['pay', '--approve', '--visit', '--delivery', 'ipn-only'], { cwd });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('Visit     none: there is no redirect address\n'),
    ]);
  });

  it('reports how long it waits for a hanging receiver, as does the log', async () => {
    const receiver = await startReceiver(['hang']);
    const { cwd, create } = await start({ ipnTimeout: '12s' });
    await create('order-1', '--ipn-url', `${receiver.url}/ipn`);
    const { code, stdout } = await run(['pay', '--approve'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(
      `pending: POST ${receiver.url}/ipn: no response within 3 s; attempt 1 is waiting up to 12 s for a response`,
    );
    expect((await run(['ipn', 'list'], { cwd })).stdout).toContain('1 (waiting)');
    const following = launch(['logs', '--follow'], { cwd });
    const line = `<--  IPN POST ${receiver.url}/ipn  no response after 3 s, waiting up to 12 s  order-1  attempt 1`;
    await following.until((log) => log.includes(line));
  });

  it('explains an error response like payments show and ipn show, and fails with --require-delivery', async () => {
    const receiver = await startReceiver([{ body: '{"status":"error","message":"no such order"}' }]);
    const { cwd, create } = await start();
    await create('order-1', '--ipn-url', `${receiver.url}/ipn`);
    const pay = ['pay', '--approve', '--require-delivery'];
    const { code, body, stderr } = await runJson<Settled>(pay, { cwd });
    const cause =
      "Your handler returned 200, but its body rejects the IPN: “no such order”. This order stays unpaid. The gateway won't send this IPN again.";
    expect(body.verdict).toEqual({
      tone: 'bad',
      cause,
      fix: expect.stringMatching(/^Find the check that fails/),
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`1 of 1 IPNs not accepted: ${cause}`)]);
    const payment = await runJson<Payment>(['payments', 'show', 'order-1'], { cwd });
    const ipn = await runJson<Delivery>(['ipn', 'show', body.delivery?.id ?? ''], { cwd });
    expect([payment.body.verdict, ipn.body.verdict]).toEqual([body.verdict, body.verdict]);
    const { stdout } = await run(['payments', 'show', 'order-1'], { cwd });
    expect(stdout).toMatch(new RegExp(`^Verdict +${cause}\nFix +Find the check that fails`, 'm'));
  });

  it('exits 0 for a settled payment whose IPN was not accepted, with the verdict and the option to require it', async () => {
    const receiver = await startReceiver([{ status: 500 }]);
    const { cwd, create } = await start();
    const notice = 'Exit code 0: the payment is settled. Add --require-delivery to fail when the IPN does.';
    for (const [more, expected] of [
      [[], 0],
      [['--all'], 0],
      [['--require-delivery'], 1],
    ] as const) {
      await create('order-1', '--ipn-url', `${receiver.url}/ipn`);
      const { code, stdout, stderr } = await run(['pay', '--approve', ...more], { cwd });
      expect([more, code]).toEqual([more, expected]);
      expect(stdout).toMatch(/^Status +succeeded$/m);
      expect(stdout).toMatch(
        /^Verdict .*returned 500.* This order stays unpaid\. The gateway won't send this IPN again\.$/m,
      );
      expect(stdout).toMatch(/^Fix .*Then resend the IPN\.$/m);
      if (!more.some((flag) => flag === '--all'))
        expect(stderr).toMatch(/^After the fix, resend it: .* ipn resend ipn_\w+$/m);
      expect(stderr.split('\n').filter((line) => line === notice)).toHaveLength(expected === 0 ? 1 : 0);
    }
    const accepted = await startReceiver();
    await create('order-2', '--ipn-url', `${accepted.url}/ipn`);
    expect(await run(['pay', '--approve'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([401, 500])('shows the response %i, the next attempt and the next command', async (status) => {
    const body = '\n  Invalid signature  \nat line 2';
    const receiver = await startReceiver([{ status, body }]);
    const { cwd, create } = await start({ ipnSchedule: ['1h'] });
    await create('order-1', '--ipn-url', `${receiver.url}/ipn`);
    const { stdout, stderr } = await run(['pay', '--approve'], { cwd });
    expect(stdout).toContain(`the receiver returned ${status}`);
    expect(stdout).toMatch(/^Response +Invalid signature$/m);
    expect(stdout).toMatch(/^Next +attempt 2 at \d{4}-\d\d-\d\d [\d:]{8} UTC$/m);
    const next = status === 401 ? 'Find the cause: .* ipn diagnose' : 'Request and response: .* ipn show';
    expect(stderr).toMatch(new RegExp(`^${next} ipn_\\w+$`, 'm'));
    expect((await run(['logs'], { cwd })).stdout).toMatch(new RegExp(`^ +! +${next} ipn_\\w+$`, 'm'));
  });

  it('shows the warnings of the settlement, but not of the initiate request', async () => {
    const { cwd, create } = await start();
    const poor = ['--live', '--amount', '900000', '--customer-email', 'poor@example.com'];
    await create('order-1');
    await create('order-1', ...poor, '--ipn-url', 'http://127.0.0.1:9/ipn');
    const { stderr } = await run(['pay', '--approve', '--delivery', 'redirect-only'], { cwd });
    expect(stderr).toBe('! the balance of wallet wal_poor_usd was too small and is now negative\n');
    expect((await run(['logs'], { cwd })).stdout).toMatch(
      /succeeded.*\n +! +the balance of wallet wal_poor_usd/,
    );
  });

  it('shows the address to which an IPN was forwarded, not its ipn_url', async () => {
    const receiver = await startReceiver();
    const ipnUrl = 'https://shop.example/ipn';
    const { cwd, create } = await start({ forwardIpn: `${receiver.url}/mine` });
    await create('order-1', '--ipn-url', ipnUrl);
    const { delivery } = (await runJson<Settled>(['pay', '--approve'], { cwd })).body;
    expect(delivery).toMatchObject({ forwardedTo: `${receiver.url}/mine`, url: ipnUrl });
    const id = delivery?.id ?? '';
    await create('order-2', '--ipn-url', ipnUrl);
    for (const command of [['pay', '--approve'], ['ipn', 'show', id], ['logs']]) {
      const { stdout } = await run(command, { cwd });
      expect([command, stdout]).toEqual([
        command,
        expect.stringContaining(`forwarded to ${receiver.url}/mine`),
      ]);
      expect(stdout).not.toMatch(/POST https:\/\/shop/);
    }
  });

  it.each([
    [['--cancel'], 'start the emulator with --ipn-on canceled to send one for canceled payments'],
    [['--approve', '--delivery', 'redirect-only'], 'the delivery order is redirect-only'],
  ])('%j --require-delivery says that no IPN was sent and exits 1', async (args, why) => {
    const { cwd, create } = await start();
    await create('order-1');
    const { code, stderr } = await run(['pay', ...args, '--require-delivery'], { cwd });
    expect([code, stderr]).toEqual([1, `gateway-sim: no IPN was sent: ${why}\n`]);
  });
});
