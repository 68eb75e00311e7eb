import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/audit/report.ts';
import { startAudited } from '../helpers/auditable.ts';
import { launch, run, runJson } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { ORDER } from '../helpers/sim.ts';
import { SECRET } from '../merchants/node-shop.ts';

const ONE = ['--only', 'signature-missing'];

describe('audit', () => {
  it('--json prints only the report on stdout', async () => {
    const { audit } = await startAudited();
    const { code, stdout, stderr } = await audit([...ONE, '--json']);
    const report = JSON.parse(stdout) as AuditReport;
    expect(code).toBe(0);
    expect(report).toMatchObject({ summary: { pass: 2, fail: 0 }, orders: 2, notices: [] });
    expect(stderr).toBe('');
  });

  it('finds the handler by an order, and counts it', async () => {
    const { options, byUrl, paidWhen } = await startAudited();
    const { body } = await runJson<AuditReport>(['audit', ...byUrl, ...paidWhen, ...ONE], options);
    expect(body).toMatchObject({ summary: { pass: 2 }, orders: 3 });
  });

  it('exits 1 if a case fails, and for at-risk only with --fail-on', async () => {
    const flawed = await startAudited({ isToken: () => true });
    const only = ['--only', 'sandbox-for-live'];
    const { code, stdout } = await flawed.audit(only);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Nothing failed\. Of 2 cases: 1 passed, 1 at risk\.\n\n {2}at-risk \S+ \(sandbox-for-live\): .*\n/,
      ),
    ]);
    const failed = await flawed.audit([...only, '--fail-on', 'at-risk']);
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('1 of 2 cases failed')]);
  });

  it('exits 0 for unproven, and 1 with --fail-on', async () => {
    const { audit } = await startAudited({
      initiate: (fields) => ({ ...fields, success_url: 'http://127.0.0.1:9/' }),
    });
    const only = ['--only', 'return-unpaid', '--only', 'signature-missing'];
    expect((await audit(only)).code).toBe(0);
    expect((await audit([...only, '--fail-on', 'at-risk', '--fail-on', 'unproven'])).code).toBe(1);
  });

  it.each<[wrong: string, code: number, what: RegExp, handler: object, replace?: readonly [RegExp, string]]>([
    ['nothing', 0, /^Result +OK: order, probe, condition and handler work\.$/m, {}],
    [
      'the order',
      2,
      /^Result +The order does not work: could not place an order/m,
      {},
      [/\/order$/, '/nowhere'],
    ],
    [
      'the probe',
      2,
      /^Result +The probe does not work: the probe answered 405/m,
      {},
      [/\/orders\//, '/nowhere/'],
    ],
    [
      'the condition',
      2,
      /^Result +The condition does not work: .*still does not match$/m,
      {},
      [/=paid$/, '=PAID'],
    ],
    ['the handler', 1, /^Result +The handler does not work: .*still unpaid/m, { pay: () => {} }],
  ])(
    '--check tries only the set-up, and names what is wrong: %s',
    async (_, code, what, handler, replace) => {
      const { shop, options, byUrl, paidWhen } = await startAudited(handler);
      const [pattern, other] = replace ?? [/$^/, ''];
      const given = [...byUrl, ...paidWhen].map((word) => word.replace(pattern, other));
      const checked = await run(['audit', shop.ipnUrl, ...given, '--check'], options);
      expect([checked.code, checked.stdout]).toEqual([code, expect.stringMatching(what)]);
    },
  );

  it('writes an HTML report, which shows no key', async () => {
    const flawed = { isWhole: () => true, isSigned: () => true };
    const { shop, options, byUrl, paidWhen } = await startAudited(flawed);
    const { cwd } = options;
    const args = [...byUrl, ...paidWhen, ...ONE, '--html', 'report.html'];
    await run(['audit', `${shop.ipnUrl}?k=${SECRET}`, ...args], options);
    const html = await readFile(join(cwd, 'report.html'), 'utf8');
    expect(html).toContain('signature-missing');
    expect(html).not.toMatch(/<(?:script|link|img|iframe|object)\b|\bsrc=|url\(|@import/i);
    expect(html).toContain('?k=sec_sim_…_1</title>');
    expect(html).toContain('?k=sec_sim_…_1</code>');
    expect(html).not.toContain(SECRET);
  });

  it('reuses an order with --orders, and selects cases with --only', async () => {
    const { audit } = await startAudited();
    const selected = '--orders 1 --only B --only C,-secret-in-request --json'.split(' ');
    const { cases, orders } = JSON.parse((await audit(selected)).stdout) as AuditReport;
    expect(orders).toBe(1);
    expect(new Set(cases.map((one) => one.class))).toEqual(new Set(['control', 'B', 'C']));
    expect(cases.map(({ name }) => name)).not.toContain('secret-in-request');
    expect(cases.at(-1)?.why).toContain('raise --orders');
  });

  it('proves with --effect that a payment takes effect once', async () => {
    const { shop, audit } = await startAudited();
    shop.probe = (identifier) => JSON.stringify({ status: shop.orders.get(identifier)?.status });
    const effect = ['--effect', 'mails=echo 1, {identifier}'];
    const { stdout } = await audit(['--only', 'replay-at-once', '--json', ...effect]);
    expect((JSON.parse(stdout) as AuditReport).cases.at(-1)?.verdict).toBe('pass');
  });

  it('--orders alone waits for orders placed by hand', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    const probe = [...byUrl.slice(2), ...paidWhen];
    const running = launch(['audit', shop.ipnUrl, '--orders', '3', ...probe, ...ONE], options);
    for (const number of [1, 2]) {
      await running.until((_, stderr) => stderr.split('Place an order in the shop').length > number);
      await shop.place();
    }
    const { code, stdout } = await running.ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/2 pass/)]);
  });

  it('starts a temporary emulator if none is running, and says so', async () => {
    const { shop } = await startAudited();
    const elsewhere = await temporaryFolder();
    const env = { GATEWAY_SIM_PORT: String(await freePort()), GATEWAY_SIM_SECRET_KEY: SECRET };
    const invented = await run(['audit', shop.ipnUrl, ...ONE], { cwd: elsewhere, env });
    expect([invented.code, invented.stderr]).toEqual([
      2,
      expect.stringContaining('the audit starts its own'),
    ]);
    // The shop gets its address from variables.
    const order = { ...ORDER, ipn_url: shop.ipnUrl, success_url: shop.ipnUrl };
    const initiate = `fetch(process.env.GATEWAY_SIM_INITIATE_URL, { method: "POST", body: new URLSearchParams(
      { ...${JSON.stringify(order)}, public_key: process.env.GATEWAY_SIM_PUBLIC_KEY }) })`;
    const cmd = `"${process.execPath}" -e '${initiate}'`;
    const only = ['--only', 'ipn-url-is-success-url'];
    const args = ['audit', shop.ipnUrl, '--order-cmd', cmd, '--json', ...only];
    const own = await run(args, { cwd: elsewhere, env });
    const { cases } = JSON.parse(own.stdout) as AuditReport;
    // The shop does not know that order.
    expect(cases[0]).toMatchObject({ verdict: 'fail', observed: expect.stringContaining('400') });
  });
});

describe('an audit that proves nothing', () => {
  /** Its exit code, and the first line that it prints. */
  const outcome = async (ended: ReturnType<typeof run>) => {
    const { code, stdout } = await ended;
    return [code, stdout.split('\n', 1)[0]];
  };

  it.each([
    ['exited with code 7: broken', '--order-cmd', 'echo broken >&2; exit 7'],
    ['initiated no payment within 1 s', '--order-cmd', 'true'],
    ['probe command `exit 7 # {identifier}` exited with code 7', '--probe-cmd', 'exit 7 # {identifier}'],
    ['did not finish within 1 s', '--probe-cmd', "sh -c 'sleep 1000' {identifier}"],
    ['probe reports the order as paid before anything was sent', '--paid-when', '/./'],
  ])('exits 2, and its first line says: %s', async (why, flag, value) => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    const kept = [byUrl.slice(0, 2), byUrl.slice(2), paidWhen].filter(
      ([name = '']) => name.slice(0, 6) !== flag.slice(0, 6),
    );
    const args = [...kept.flat(), flag, value, ...ONE, '--timeout', '1s'];
    const { code, stdout, stderr } = await run(['audit', shop.ipnUrl, ...args], options);
    expect([code, stdout.split('\n', 1)]).toEqual([2, [expect.stringContaining(why)]]);
    expect(stdout).toMatch(/^Nothing is proven: /);
    expect(stderr).toContain('gateway-sim: nothing is proven: ');
  });

  it('finds an address that shows orders, and says so', async () => {
    const { shop, options, byUrl } = await startAudited();
    const { code, body } = await runJson<AuditReport>(
      ['audit', shop.ipnUrl, ...byUrl.slice(0, 2), ...ONE],
      options,
    );
    expect([code, body.summary]).toEqual([0, expect.objectContaining({ pass: 2 })]);
    const probe = `no probe was given: ${shop.url}/orders/{identifier} shows each order`;
    expect(body.notices).toEqual([expect.stringContaining(probe)]);
  });

  it('because there is no probe or no order exits 2, and says so', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    const { probe } = shop;
    shop.probe = () => 'no JSON';
    const withoutProbe = run(['audit', shop.ipnUrl, ...byUrl.slice(0, 2), ...ONE], options);
    expect(await outcome(withoutProbe)).toEqual([
      2,
      expect.stringMatching(/^Nothing is proven: no probe shows/),
    ]);
    shop.probe = probe;
    const madeUp = run(['audit', shop.ipnUrl, ...byUrl.slice(2), ...paidWhen, ...ONE], options);
    expect(await outcome(madeUp)).toEqual([
      2,
      expect.stringMatching(/^Nothing is proven: the order is made up/),
    ]);
  });

  it('because no attack could be judged exits 2, and says why', async () => {
    const { audit } = await startAudited();
    expect(await outcome(audit(['--only', 'confirm-unpaid']))).toEqual([
      2,
      expect.stringMatching(
        /^Nothing is proven, except that the shop accepts a correct IPN: .*--confirm-url/,
      ),
    ]);
  });

  it('because its handler ignores a correct IPN exits 1', async () => {
    const ignoring = await startAudited({ pay: () => {} });
    expect(await outcome(ignoring.audit(ONE))).toEqual([
      1,
      'Nothing is proven: the shop does not accept a correct IPN.',
    ]);
  });

  it('because the shop crashed exits 2, and names the cause', async () => {
    const { shop, audit } = await startAudited({
      refuse: (response) => {
        response.destroy();
        void shop[Symbol.asyncDispose]();
      },
    });
    const { code, stdout } = await audit(['--only', 'A', '--only', 'B']);
    expect([code, stdout.split('\n', 1)]).toEqual([
      2,
      [
        expect.stringMatching(
          /^The audit was cut short, because the shop stopped while [\w, -]+ ran: \d+ of \d+ cases prove nothing\.$/,
        ),
      ],
    ]);
    expect(stdout).toContain('since these requests were running: POST ');
  });

  it('because the emulator stopped exits 2, and says so', async () => {
    const { sim, shop, options, byUrl, paidWhen } = await startAudited();
    let orders = 0;
    const { place } = shop;
    shop.place = async () => {
      if (++orders === 2) await sim.server.stop();
      else await place();
    };
    const ended = run(
      ['audit', shop.ipnUrl, ...byUrl, ...paidWhen, '--only', 'B', '--timeout', '1s'],
      options,
    );
    expect(await outcome(ended)).toEqual([
      2,
      expect.stringMatching(/^The audit was cut short, because the emulator stopped/),
    ]);
  });
});
