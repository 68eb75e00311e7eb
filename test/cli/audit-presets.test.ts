import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { withPreset } from '../../src/audit/options.ts';
import { startAudited } from '../helpers/auditable.ts';
import { run } from '../helpers/cli.ts';
import { MISSING, startSqliteShop } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';
import { SECRET } from '../merchants/node-shop.ts';

const here = MISSING && ` (not tried here: ${MISSING} is missing)`;
const CONTROL = ['--only', 'control'];

describe('a preset', () => {
  /** A shop with a database, and WP-CLI, which places an order in it. */
  async function site() {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, 'bin'));
    const sim = await startSim({ secretKey: SECRET });
    const shop = await startSqliteShop(cwd, sim, { DB: join(cwd, 'shop.sqlite') });
    // A shell posts the order, because a program that can would take longer to start.
    const wp = `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${new URL(shop).port}
printf 'POST /order HTTP/1.0\\r\\nContent-Length: 0\\r\\n\\r\\n' >&3
cat <&3 >/dev/null
`;
    await writeFile(join(cwd, 'bin/wp'), wp, { mode: 0o755 });
    vi.stubEnv('PATH', `${join(cwd, 'bin')}:${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    return { cwd, env: { GATEWAY_SIM_URL: sim.url } };
  }

  it.skipIf(MISSING)(`woocommerce places orders with WP-CLI${here}`, async () => {
    const db = ['--db', 'sqlite:shop.sqlite'];
    const { code, stderr } = await run(['audit', '--preset', 'woocommerce', ...db, '--check'], await site());
    expect(stderr).toContain("the preset woocommerce uses: --order-cmd wp eval '");
    expect(code).toBe(0);
  });

  it('prestashop asks for orders by hand', () => {
    const notices: string[] = [];
    const options = withPreset({ preset: 'prestashop', onNotice: (text) => notices.push(text) });
    expect(options).toMatchObject({ orders: 9, db: expect.any(String) });
    expect(notices).toEqual([expect.stringContaining('9 orders that you place by hand')]);
  });

  it.each([
    ['opencart', 'http://localhost/shop/index.php?route=extension/payment/pay_me/callback', 'pay_me'],
    ['prestashop', 'http://localhost/shop/en/module/payme/ipn?cart=6', 'payme'],
    ['prestashop', 'http://localhost/shop/index.php?fc=module&module=payme&controller=ipn', 'payme'],
  ] as const)('%s orders in the storefront that the address names (%s)', (preset, ipnUrl, method) => {
    const { orderCmd = '', db } = withPreset({ preset, ipnUrl });
    expect(orderCmd).toMatch(/^B='http:\/\/localhost\/shop'\n/);
    expect([orderCmd.includes(`'${method}'`), db]).toEqual([true, `mysql://localhost/${preset}`]);
    execFileSync('sh', ['-n'], { input: orderCmd });
  });

  it('places as many orders as the user says', () => {
    const options = { ipnUrl: 'http://localhost/ipn', orders: 4 };
    expect(withPreset({ ...options, preset: 'plain' })).toMatchObject({
      orderUrl: 'http://localhost/orders',
      orders: 4,
    });
    expect(withPreset({ ...options, preset: 'prestashop' })).toMatchObject({ orders: 4 });
  });

  it('does not replace the options of the command line', async () => {
    const { audit } = await startAudited();
    const { code, stderr } = await audit(['--preset', 'plain', ...CONTROL]);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('the preset')]);
  });
});
