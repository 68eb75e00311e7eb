import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/contract/audit-report.ts';
import { startAudited } from '../helpers/auditable.ts';
import { launch, run, runJson } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { SECRET } from '../merchants/node-shop.ts';

const ONE = ['--only', 'signature-missing'];

/** A Node script as a command line. */
const script = (code: string, ...args: string[]) =>
  `"${process.execPath}" -e '${code}' ${args.join(' ')}`.trim();
/** XML elements that are not closed correctly. */
function unclosed(xml: string): string[] {
  const open: string[] = [];
  for (const [, end, name = '', alone] of xml.matchAll(/<(\/?)([a-z]+)(?:\s+[a-z]+="[^"<>]*")*(\/?)>/g)) {
    if (alone) continue;
    if (!end) open.push(name);
    else if (open.pop() !== name) return [name];
  }
  const text = xml.replace(/^<\?xml [^>]*\?>/, '').replace(/<\/?[a-z]+(?:\s+[a-z]+="[^"<>]*")*\/?>/g, '');
  return [...open, ...(text.match(/<|&(?!(?:amp|lt|gt|quot|#39);)/g) ?? [])];
}

describe('audit', () => {
  it('--list prints every case, and needs no emulator', async () => {
    const cwd = await temporaryFolder();
    const { code, body } = await runJson<{ cases: { name: string; class: string }[] }>(['audit', '--list'], {
      cwd,
    });
    expect(code).toBe(0);
    expect(body.cases.length).toBeGreaterThanOrEqual(60);
    expect(body.cases[0]).toEqual({
      ...{ name: 'control', class: 'control', group: 'control' },
      about: 'A correct IPN for a real payment, which must mark its order as paid.',
    });
    const { stdout } = await run(['audit', '--list'], { cwd });
    for (const { name } of body.cases) expect(stdout).toContain(name);
  });

  it('--json is the report, and nothing else is on stdout', async () => {
    const { audit } = await startAudited();
    const { code, stdout, stderr } = await audit([...ONE, '--json']);
    const report = JSON.parse(stdout) as AuditReport;
    expect(code).toBe(0);
    expect(report).toMatchObject({ summary: { pass: 2, fail: 0 }, orders: 2, notices: [] });
    expect(Object.keys(report.cases[1] ?? {})).toEqual([
      ...[
        'name',
        'group',
        'class',
        'about',
        'verdict',
        'sent',
        'observed',
        'why',
        'mistake',
        'cost',
        'fix',
        'instruction',
        'code',
        'unpaid',
        'curl',
      ],
    ]);
    expect(stderr).toBe('[1/2] pass     control\n[2/2] pass     signature-missing\n');
  });

  it('exits 1 if a case fails, and for at-risk only with --fail-on', async () => {
    const flawed = await startAudited({ isToken: () => true });
    const only = ['--only', 'sandbox-for-live'];
    expect((await flawed.audit(only)).code).toBe(0);
    const told = await flawed.audit([...only, '--fail-on', 'at-risk']);
    expect([told.code, told.stderr]).toEqual([1, expect.stringContaining('1 of 2 cases failed')]);
    expect(
      (await flawed.audit(['--only', 'G', '--skip', 'sandbox-for-live', '--skip', 'merchant'])).code,
    ).toBe(0);
  });

  it('exits 0 for unproven, and 1 with --fail-on', async () => {
    const { shop, options } = await startAudited();
    const without = ['audit', shop.ipnUrl, '--order-url', `${shop.url}/order`, ...ONE];
    expect((await run(without, options)).code).toBe(0);
    const failing = [...without, '--fail-on', 'at-risk', '--fail-on', 'unproven'];
    expect((await run(failing, options)).code).toBe(1);
  });

  it.each([
    [['audit'], 2, 'audit requires the address of the IPN handler'],
    [['audit', '/ipn'], 2, 'the URL of the IPN handler must be an absolute'],
    [['audit', 'https://shop.example/ipn', '--own'], 2, 'allow-ipn-host'],
    [
      ['audit', 'http://127.0.0.1:9/ipn', '--fail-on', 'pass', '--own'],
      2,
      '--fail-on accepts at-risk and unproven',
    ],
    [['audit', 'http://127.0.0.1:9/ipn', '--only', 'signature-mising', '--own'], 2, 'signature-missing'],
    [['audit', 'http://127.0.0.1:9/ipn', '--url', 'http://127.0.0.1:9'], 3, ''],
    [['audit', 'http://127.0.0.1:9/ipn', '--probe-cmd', 'cat', '--own'], 2, '{identifier}'],
    [
      ['audit', 'http://127.0.0.1:9/ipn', '--probe-cmd', 'id "{identifier}"', '--paid-when', 'x', '--own'],
      2,
      'write {identifier} outside quotes, or $GATEWAY_SIM_IDENTIFIER between double quotes',
    ],
    [
      ['audit', 'http://127.0.0.1:9/ipn', '--order-cmd', 'order {identifier}', '--own'],
      2,
      'the order command uses {identifier}, which is not available there: use {ipn_url}',
    ],
    [['audit', 'http://127.0.0.1:9/ipn', '--preset', 'magento', '--own'], 2, 'woocommerce'],
    [['reconcile'], 3, ''],
  ])('%j exits %i', async (args, code, said) => {
    const env = { GATEWAY_SIM_PORT: String(await freePort()) };
    const ended = await run(args, { cwd: await temporaryFolder(), env });
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(said)]);
  });

  it('and reconcile connect only to hosts that --allow-ipn-host names', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    const elsewhere = byUrl.map((one) => one.replace('127.0.0.1', '0.0.0.0'));
    for (const args of [
      ['audit', shop.ipnUrl, ...elsewhere, '--only', 'control'],
      ['reconcile', ...elsewhere.slice(2)],
    ]) {
      const refused = await run([...args, ...paidWhen], options);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringContaining('--allow-ipn-host 0.0.0.0'),
      ]);
      const allowed = await run([...args, ...paidWhen, '--allow-ipn-host', '0.0.0.0'], options);
      // Nothing to compare is not a success.
      expect(allowed).toMatchObject({ code: args[0] === 'audit' ? 0 : 2, stdout: expect.any(String) });
      expect(allowed.stderr).not.toContain('--allow-ipn-host');
    }
  });

  it('writes a report for CI and an HTML report', async () => {
    const { audit, options } = await startAudited({ isWhole: () => true, isSigned: () => true });
    const { cwd } = options;
    await audit([...ONE, '--junit', 'report.xml', '--html', 'report.html']);
    const xml = await readFile(join(cwd, 'report.xml'), 'utf8');
    expect(xml).toContain('<testsuites tests="2" failures="1" skipped="0">');
    expect(unclosed(xml)).toEqual([]);
    const html = await readFile(join(cwd, 'report.html'), 'utf8');
    expect(html).toContain('signature-missing');
    expect(html).not.toMatch(/<(?:script|link|img|iframe|object)\b|\bsrc=|url\(|@import/i);
  });

  it('shows no key in the HTML report or its title', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    const ipnUrl = `${shop.ipnUrl}?k=${SECRET}`;
    await run(
      ['audit', ipnUrl, ...byUrl, ...paidWhen, '--only', 'control', '--html', 'report.html'],
      options,
    );
    const html = await readFile(join(options.cwd, 'report.html'), 'utf8');
    expect(html).toContain('?k=sec_sim_…_1</title>');
    expect(html).toContain('?k=sec_sim_…_1</code>');
    expect(html).not.toContain(SECRET);
  });

  it('reuses an order with --orders, and selects cases with --only and --skip', async () => {
    const { audit } = await startAudited();
    const { stdout } = await audit([
      '--json',
      '--orders',
      '1',
      '--only',
      'B',
      '--only',
      'C',
      '--skip',
      'secret-null',
    ]);
    const { cases, orders } = JSON.parse(stdout) as AuditReport;
    expect(orders).toBe(1);
    expect(
      cases.map(({ class: kind }) => kind).filter((kind) => !['control', 'B', 'C'].includes(kind)),
    ).toEqual([]);
    expect(cases.map(({ name }) => name)).not.toContain('secret-null');
    expect(cases.at(-1)?.why).toContain('raise --orders');
  });

  it('--order-wait waits for orders placed by hand', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    const looks = [...byUrl.slice(2), ...paidWhen];
    const running = launch(['audit', shop.ipnUrl, '--order-wait', ...looks, ...ONE], options);
    for (const asked of [1, 2]) {
      await running.until((_, stderr) => stderr.split('Place an order in the shop').length > asked);
      await shop.place();
    }
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining('[2/2] pass     signature-missing')]);
  });

  it('starts a temporary emulator if none runs, and reports it', async () => {
    const { shop } = await startAudited();
    const elsewhere = await temporaryFolder();
    const env = { GATEWAY_SIM_PORT: String(await freePort()), GATEWAY_SIM_SECRET_KEY: SECRET };
    const invented = await run(['audit', shop.ipnUrl, ...ONE], { cwd: elsewhere, env });
    expect([invented.code, invented.stderr]).toEqual([
      0,
      expect.stringContaining('the audit starts its own'),
    ]);
    // The shop gets its address from variables.
    const cmd = script(
      'fetch(process.env.GATEWAY_SIM_INITIATE_URL, { method: "POST", body: new URLSearchParams({ public_key: process.env.GATEWAY_SIM_PUBLIC_KEY, identifier: "own-" + Date.now(), currency: "USD", amount: "49.90", details: "x", ipn_url: process.argv[1], success_url: process.argv[1], cancel_url: process.argv[1], site_logo: process.argv[1], customer_name: "Ada", customer_email: "a@example.com" }) })',
      shop.ipnUrl,
    );
    const own = await run(
      ['audit', shop.ipnUrl, '--own', '--order-cmd', cmd, '--json', '--only', 'ipn-url-is-success-url'],
      { cwd: elsewhere, env },
    );
    const { cases } = JSON.parse(own.stdout) as AuditReport;
    // The shop does not know that order.
    expect(cases[0]).toMatchObject({ verdict: 'fail', observed: expect.stringContaining('400') });
  });
});
