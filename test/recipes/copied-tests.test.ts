import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { verifyIpn } from '../../src/index.ts';
import { inherited } from '../helpers/child.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, startSim } from '../helpers/sim.ts';
import { missing } from '../merchants/running.ts';
import { createProject, phpunit } from './project.ts';

/* The tests that a payment's page offers, in a project that has the package installed. */

const project = await createProject(['vitest']);
afterAll(() => project.remove());

const PAIR = { publicKey: 'pub_of_the_shop_0123456789', secretKey: 'sec_of_the_shop_0123456789' };
const KEYS = { GATEWAY_SIM_PUBLIC_KEY: PAIR.publicKey, GATEWAY_SIM_SECRET_KEY: PAIR.secretKey };

const HOSTILE = {
  identifier: `o'1 "</b>$x`,
  details: 'Line 1\nLine 2 \\ `$' + '{y}` ?> */ </script>',
};

/** The test that the page of a paid payment offers, and the shop's receiver, which checks signatures. */
async function copied(runner: string) {
  const receiver = await startReceiver(({ body }) => ({
    status: verifyIpn(body, PAIR.secretKey).valid ? 200 : 403,
  }));
  const sim = await startSim(PAIR);
  const success_url = 'http://localhost:4/paid?a=1&b=ü';
  await sim.initiate({ ...ORDER, ...HOSTILE, ipn_url: `${receiver.url}/ipn`, success_url });
  const { payments } = sim.server.parts;
  const { payment } = await payments.settle(HOSTILE.identifier, { outcome: 'approve', by: 'control' });
  const html = await (await fetch(`${sim.url}/_sim/ui/payments/${payment.id}`)).text();
  const [, text = ''] = new RegExp(`<code id="test-${runner}-text">(.*?)</code>`, 's').exec(html) ?? [];
  const signs: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return { text: text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => signs[name] ?? ''), receiver };
}

const init = (language: string) =>
  project.run([join('node_modules', '.bin', 'gateway-sim'), 'init', `--${language}`, '.']);

test('the test for Vitest passes if the receiver accepts the IPN, and fails otherwise', async () => {
  const { text, receiver } = await copied('vitest');
  await project.write('payment.test.mjs', text);
  const command = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', 'payment.test.mjs'];
  expect(await project.run(command, KEYS)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/1 passed/),
  });
  expect(receiver.requests).toHaveLength(2);
  expect(receiver.requests[1]?.body).toContain(`${new URLSearchParams({ identifier: HOSTILE.identifier })}`);
  const other = { ...KEYS, GATEWAY_SIM_SECRET_KEY: 'sec_of_somebody_else' };
  const failed = await project.run(command, other);
  expect(failed).toMatchObject({
    code: 1,
    output: expect.stringMatching(/Your handler rejected a genuine IPN \(403\)/),
  });
});

const noPhp = missing('php');

test.skipIf(noPhp)(`the test for PHPUnit passes${noPhp ? ` (${noPhp})` : ''}`, async () => {
  const { text, receiver } = await copied('phpunit');
  await init('php');
  await project.write('PaymentTest.php', text);
  await project.write('phpunit.php', phpunit('PaymentTest.php', 'testPayment'));
  const { output } = await project.run(['php', 'phpunit.php'], KEYS);
  expect(output).toBe('OK (1 test)');
  expect(receiver.requests).toHaveLength(2);
});

const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version'], { env: inherited() }).status === 0;

test.skipIf(!hasPytest)('the test for pytest passes', async () => {
  const { text, receiver } = await copied('pytest');
  await init('python');
  await project.write('test_payment.py', text);
  const { output } = await project.run(['python3', '-m', 'pytest', 'test_payment.py'], KEYS);
  expect(output).toMatch(/1 passed/);
  expect(receiver.requests).toHaveLength(2);
});
