import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launch, run } from '../helpers/binary.ts';
import { prepare } from '../merchants/running.ts';

const CONTROL = ['--only', 'control'];

describe('a preset', () => {
  /** Puts a command on the PATH that runs a script of Node. */
  async function stub(folder: string, name: string, code: string): Promise<void> {
    const file = join(folder, name);
    await writeFile(file, `#!${process.execPath}\n${code}\n`);
    await chmod(file, 0o755);
  }

  /** As the shells of those shops answer, from the shop in Node. */
  async function withStubs() {
    const prepared = await prepare('node');
    const { cwd, url, env } = prepared;
    const folder = join(cwd, 'stubs');
    await mkdir(folder);
    const look = (identifier: string, then: string) =>
      `const identifier = ${identifier}; fetch('${url}/orders/' + identifier).then((a) => a.json()).then((order) => { ${then} });`;
    await stub(
      folder,
      'wp',
      `const [first, , , id] = process.argv.slice(2);
      if (first === 'eval') fetch('${url}/order', { method: 'POST' });
      else { ${look('id', "console.log(JSON.stringify({ status: order.status === 'paid' ? 'processing' : 'pending', total: order.total }))")} }`,
    );
    await stub(folder, 'php', look('process.env.SHOP_ORDER', 'console.log(JSON.stringify(order))'));
    const hex = "Buffer.from(/x'([0-9a-f]+)'/.exec(process.argv.at(-1))[1], 'hex').toString()";
    await stub(
      folder,
      'mysql',
      look(
        hex,
        "const paid = order.status === 'paid'; console.log(/tblinvoices/.test(process.argv.at(-1)) ? 'status=' + (paid ? 'Paid' : 'Unpaid') : 'orders=1 paid=' + Number(paid))",
      ),
    );
    return { ...prepared, env: { ...env, PATH: `${folder}:${env.PATH}` } };
  }

  it.each(['woocommerce', 'laravel', 'prestashop', 'whmcs'])(
    '%s says what it runs, and runs it',
    async (preset) => {
      const { cwd, url, env } = await withStubs();
      const orders = preset === 'woocommerce' ? [] : ['--order-url', `${url}/order`];
      const ended = await run(['audit', `${url}/ipn`, '--preset', preset, ...orders, ...CONTROL], {
        cwd,
        env,
      });
      expect(ended.stderr).toMatch(new RegExp(`^gateway-sim: the preset ${preset} runs: `));
      expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('[1/1] pass     control')]);
    },
  );

  it('is beaten by what is given', async () => {
    const { audit } = await prepare('node');
    const { code, stderr } = await audit(['--preset', 'plain', ...CONTROL]);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('the preset')]);
  });

  it('asks for orders by hand where it knows no way', async () => {
    const { cwd, url, env } = await withStubs();
    const running = launch(['audit', `${url}/ipn`, '--preset', 'whmcs', ...CONTROL, '--orders', '1'], {
      cwd,
      env,
    });
    await running.until((_, stderr) => stderr.includes('Place an order at the shop now'));
    await fetch(`${url}/order`, { method: 'POST' });
    expect((await running.ended).stderr).toContain('orders are placed by hand');
  });
});
