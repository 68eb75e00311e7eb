import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../helpers/child.ts';
import { startHere } from '../helpers/cli.ts';
import { bother } from '../helpers/hostile-clients.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { AUDIT_CASES, sample } from '../helpers/scope.ts';
import { missing } from '../merchants/running.ts';
import { FENCES, fence, ROOT } from './pages.ts';
import { serve } from './serve.ts';
import { typed } from './typed.ts';

const SHOPS = [
  {
    place: 'stacks/node.md: Node',
    language: 'js',
    runtime: 'node',
    run: [process.execPath, 'shop.cjs'],
    payments: 'payments.cjs',
  },
  {
    place: 'stacks/python.md: Python',
    language: 'python',
    runtime: 'python',
    run: ['python3', 'shop.py'],
    payments: 'payments.py',
  },
] as const;

/** The shop on a page, with an emulator. */
async function open({ place, language, run, payments }: (typeof SHOPS)[number]) {
  const { cwd, ...sim } = await startHere({ secretKey: 'sec_sim_kept_by_this_shop_alone_1' });
  await writeFile(join(cwd, run.at(-1) ?? ''), fence(place, language));
  await copyFile(join(ROOT, 'src/init', payments), join(cwd, payments));
  const env = {
    PORT: '0',
    GATEWAY_SIM_INITIATE_URL: `${sim.url}/sandbox/payment/initiate`,
    GATEWAY_SIM_PUBLIC_KEY: sim.publicKey,
    GATEWAY_SIM_SECRET_KEY: sim.secretKey,
  };
  const url = await serve(run, { cwd, env });
  return {
    url,
    type: (text: string, more: readonly string[] = []) =>
      typed(text.replaceAll('http://localhost:3000', url), { cwd, more }),
  };
}

describe.each(SHOPS)('the shop in $place', (shop) => {
  const why = missing(shop.runtime);
  const here = why ? ` (${why})` : '';

  test.skipIf(why)(
    `initiates a payment, and is paid even after requests from hostile clients${here}`,
    async () => {
      const { url, type } = await open(shop);
      await bother(`${url}/ipn`);
      const { status } = await fetch(`${url}/orders`, { method: 'POST', redirect: 'manual' });
      expect(status).toBe(303);
      const { stdout } = await type('npx gateway-sim pay --approve --require-delivery', ['--json']);
      const { payment } = JSON.parse(stdout) as { payment: { identifier: string } };
      const order = await fetch(`${url}/orders/${payment.identifier}`);
      expect(await order.json()).toEqual({ status: 'paid', shipped: 1 });
    },
  );
});

describe.each(sample(SHOPS, ({ language }) => language === 'js'))('the shop in $place', (shop) => {
  const why = missing(shop.runtime);
  test.skipIf(why)(`passes the audit${why ? ` (${why})` : ''}`, async () => {
    const { type } = await open(shop);
    const [place = '', pay = '', audit = ''] = fence('stacks/node.md: Node', 'sh').trim().split('\n');
    expect((await type(place)).stdout).toContain('/sandbox/initiate/payment/checkout');
    expect((await type(pay)).stdout).toContain('returned 200');
    const { code, stdout } = await type(audit, AUDIT_CASES ? ['--only', AUDIT_CASES.join()] : []);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\d\d pass/)]);
    expect(stdout).not.toMatch(/at-risk|unproven/);
  });
});

const noPhp = missing('php');
const FRAMEWORKS = [
  'stacks/laravel.md: Laravel',
  'stacks/woocommerce.md: WooCommerce',
  'stacks/whmcs.md: WHMCS',
  'stacks/prestashop.md: PrestaShop',
];

test.skipIf(noPhp).each(FRAMEWORKS)(
  `the code in %s has no syntax errors (its framework is not installed${noPhp ? `, ${noPhp}` : ''})`,
  async (place) => {
    const codes = FENCES.filter((one) => one.place === place && one.language === 'php');
    expect(codes.length).toBeGreaterThan(0);
    for (const { code } of codes) {
      const { stdout } = await runProgram(['php', '-l'], { input: code });
      expect(stdout).toMatch(/^No syntax errors/);
    }
  },
);

test('the commands in stacks/curl.md initiate, pay, and sign like the emulator', async () => {
  const { cwd, ...sim } = await startHere({ secretKey: 'sec_sim_example_not_a_real_key' });
  const receiver = await startReceiver();
  const type = async (number: number) => {
    const text = fence('stacks/curl.md: curl', 'sh', number)
      .replaceAll('http://127.0.0.1:4477', sim.url)
      .replaceAll('http://localhost:3000/ipn', `${receiver.url}/ipn`)
      .replaceAll('pub_sim_example_not_a_real_key', sim.publicKey);
    const { code, stdout } = await typed(text, { cwd });
    expect(code).toBe(0);
    return stdout;
  };
  expect(await type(0)).toContain('"success":"ok"');
  expect(await type(1)).toContain('"state":"delivered"');
  const signature = new URLSearchParams((await receiver.request(1)).body).get('signature');
  expect(await type(2)).toContain('returned 200');
  expect((await type(3)).trim()).toBe(signature);
  await type(4);
  const copies = [await receiver.request(3), await receiver.request(4)];
  for (const { body } of copies) expect(new URLSearchParams(body).get('signature')).toBe(signature);
});
