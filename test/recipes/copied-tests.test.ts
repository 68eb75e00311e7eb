import { createHmac } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { launchOptions } from '../helpers/chromium.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type Answer, type Received, startReceiver } from '../helpers/receiver.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';
import { missing } from '../merchants/running.ts';
import { createProject, missingRunner, phpunit } from './project.ts';

/* The tests that a payment page offers, in a project that has the package installed. */

const project = await createProject(['vitest', '@playwright/test']);
afterAll(() => project.remove());

/** A shop's receiver that checks the signature and fails on the first attempt of every IPN. */
function receiveWith({ secretKey }: { secretKey: string }) {
  return ({ url, headers, body }: Received): Answer => {
    if (url !== '/ipn') return {};
    const form = new URLSearchParams(body);
    const signed = `${form.get('data[amount]')}${form.get('identifier')}`;
    const signature = createHmac('sha256', secretKey).update(signed).digest('hex').toUpperCase();
    if (signature !== form.get('signature')) return { status: 403 };
    return headers['x-gateway-sim-attempt'] === '1' ? { status: 500 } : {};
  };
}

const PAIR = { publicKey: 'pub_of_the_shop_0123456789', secretKey: 'sec_of_the_shop_0123456789' };
const KEYS = { GATEWAY_SIM_PUBLIC_KEY: PAIR.publicKey, GATEWAY_SIM_SECRET_KEY: PAIR.secretKey };

/** A payment with hostile texts. Its receiver rejected the first IPN attempt and accepted the second, an hour later. */
async function playedStory(settle: (sim: Sim, checkout: string) => Promise<unknown>) {
  const receiver = await startReceiver(receiveWith(PAIR));
  const sim = await startSim({ ...PAIR, ipnSchedule: ['1h'], sandboxCode: '424242' });
  const checkout = await sim.initiate({
    ...ORDER,
    identifier: `o'1 "</b>$x`,
    details: 'Line 1\nLine 2 \\ `$' + '{y}` ?> */ </script>',
    ipn_url: `${receiver.url}/ipn`,
    success_url: `${receiver.url}/paid?a=1&b=ü`,
  });
  await settle(sim, checkout);
  await receiver.request(1);
  await sim.server.parts.clock.move({ advance: '1h' });
  expect(receiver.requests).toHaveLength(2);
  return { sim, receiver };
}

/** The test that the page of the newest payment offers. */
async function copied(sim: Sim, runner: 'vitest' | 'playwright' | 'phpunit'): Promise<string> {
  const id = [...sim.server.parts.payments.all.values()].at(-1)?.id;
  const html = await (await fetch(`${sim.url}/_sim/ui/payments/${id}`)).text();
  const [, text = ''] = new RegExp(`<code id="test-${runner}-text">(.*?)</code>`, 's').exec(html) ?? [];
  const signs: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => signs[name] ?? '');
}

const VITEST = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run'];

test('the test for Vitest passes while the receiver answers as before, and fails otherwise', async () => {
  const { sim, receiver } = await playedStory((sim) =>
    sim.server.parts.payments.settle(`o'1 "</b>$x`, { outcome: 'approve', by: 'control' }),
  );
  await project.write('payment.test.mjs', await copied(sim, 'vitest'));
  const { code, output } = await project.run(VITEST, KEYS);
  expect(output).toMatch(/Tests +1 passed/);
  expect(code).toBe(0);
  expect(receiver.requests).toHaveLength(4);
  expect(receiver.requests[3]?.body).toContain(new URLSearchParams({ identifier: `o'1 "</b>$x` }).toString());
  // With another key pair, the receiver rejects the first attempt, unlike before.
  const other = await project.run(VITEST, { ...KEYS, GATEWAY_SIM_SECRET_KEY: 'sec_of_somebody_else' });
  expect(other.output).toMatch(/expected \[ 403 \] to deeply equal \[ 500 \]/);
  expect(other.code).toBe(1);
});

const noPlaywright = missingRunner('@playwright/test');

test.skipIf(noPlaywright)(
  `the test for Playwright repeats the customer's steps in the checkout${noPlaywright}`,
  async () => {
    const enter = async (checkout: string, step: string, value: string) =>
      fetch(checkout.replace('/checkout?', `/checkout/${step}?`), {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ [step]: value }),
      });
    const { sim, receiver } = await playedStory(async (_, checkout) => {
      await enter(checkout, 'email', 'nobody@shop.test');
      await enter(checkout, 'email', 'test_mode@mail.com');
      await enter(checkout, 'code', "11'11");
      await enter(checkout, 'code', '424242');
    });
    const options = await launchOptions(await temporaryFolder());
    await project.write(
      'playwright.config.mjs',
      `export default { reporter: 'line', use: { launchOptions: ${JSON.stringify(options)} } };`,
    );
    await project.write('payment.spec.mjs', await copied(sim, 'playwright'));
    const run = [process.execPath, 'node_modules/@playwright/test/cli.js', 'test', 'payment.spec'];
    const { code, output } = await project.run(run, KEYS);
    expect(output).toMatch(/1 passed/);
    expect(code).toBe(0);
    // Two IPNs and the browser of the test, which was redirected to the shop; the original customer had no browser.
    expect(receiver.requests.map(({ url }) => url).slice(2)).toEqual(
      expect.arrayContaining(['/ipn', '/ipn', expect.stringMatching(/^\/paid\?a=1&b=/)]),
    );
  },
);

const noPhp = missing('php');
const why = noPhp ? ` (${noPhp})` : '';

test.skipIf(noPhp)(`the test for PHPUnit does the same over the control API${why}`, async () => {
  const { sim, receiver } = await playedStory((sim) =>
    sim.server.parts.payments.settle(`o'1 "</b>$x`, { outcome: 'approve', by: 'control' }),
  );
  const id = [...sim.server.parts.ipns.all.values()].at(-1)?.id ?? '';
  await sim.server.parts.ipns.resend(id);
  await project.write('PaymentTest.php', await copied(sim, 'phpunit'));
  await project.write('phpunit.php', phpunit('PaymentTest.php', 'testPayment'));
  const fresh = await startSim({ ...PAIR, ipnSchedule: ['1h'] });
  const { output } = await project.run(['php', 'phpunit.php'], { GATEWAY_SIM_URL: fresh.url, ...KEYS });
  expect(output).toBe('OK (1 test)');
  expect(receiver.requests).toHaveLength(6);
});
