import { writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startAudited } from '../helpers/auditable.ts';
import { launch, run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { GOOD } from '../merchants/node-shop.ts';

const CONTROL = ['--only', 'control'];

describe('a preset', () => {
  /** A shop with the commands of every kind of shop that has a preset. An order is paid if it has a file. */
  async function withStubs() {
    const folder = await temporaryFolder();
    const paid = join(folder, 'paid');
    const bin = join(folder, 'bin');
    for (const name of [paid, bin]) await mkdir(name);
    const { options, shop } = await startAudited({
      pay: (order, form) => {
        GOOD.pay(order, form);
        for (const name of [order.identifier, Buffer.from(order.identifier).toString('hex')])
          writeFileSync(join(paid, name), '');
      },
    });
    const place = `exec '${process.execPath}' -e "fetch('${shop.url}/order')"`;
    const say = (id: string, yes: string, no: string) =>
      `if [ -e "${paid}/${id}" ]; then echo '${yes}'; else echo '${no}'; fi`;
    const order = (status: string) => JSON.stringify({ status, total: '49.90' });
    const stubs = {
      wp: `[ "$1" = eval ] && ${place}\n${say('$4', order('processing'), order('pending'))}`,
      php: say('$SHOP_ORDER', order('paid'), order('pending')),
      mysql: `eval query=\\\${$#}
        id=$(printf %s "$query" | sed "s/.*x'\\([0-9a-f]*\\)'.*/\\1/")
        case $query in
          *tblinvoices*) ${say('$id', 'status=Paid', 'status=Unpaid')};;
          *) ${say('$id', 'orders=1 paid=1', 'orders=1 paid=0')};;
        esac`,
    };
    for (const [name, script] of Object.entries(stubs))
      await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    return { options, shop };
  }

  it.each(['woocommerce', 'laravel', 'prestashop', 'whmcs'])(
    '%s prints its commands, and runs them',
    async (preset) => {
      const { options, shop } = await withStubs();
      const orders = preset === 'woocommerce' ? [] : ['--order-url', `${shop.url}/order`];
      const ended = await run(['audit', shop.ipnUrl, '--preset', preset, ...orders, ...CONTROL], options);
      expect(ended.stderr).toMatch(new RegExp(`^gateway-sim: the preset ${preset} uses: `));
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/1 pass/) });
    },
  );

  it('does not replace the options of the command line', async () => {
    const { audit } = await startAudited();
    const { code, stderr } = await audit(['--preset', 'plain', ...CONTROL]);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('the preset')]);
  });

  it('asks for manual orders if it cannot place them', async () => {
    const { options, shop } = await withStubs();
    const args = ['audit', shop.ipnUrl, '--preset', 'whmcs', ...CONTROL, '--orders', '1'];
    const running = launch(args, options);
    await running.until((_, stderr) => stderr.includes('Place an order in the shop'));
    await shop.place();
    expect((await running.ended).stderr).toContain('place orders by hand');
  });
});
