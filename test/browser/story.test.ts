import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openPage } from '../helpers/browser.ts';
import { freePort } from '../helpers/port.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

/**
 * Somebody who never read the documentation: from an empty dashboard to an IPN that arrived, by what the pages show.
 */
test('the first payment, from the dashboard alone', async () => {
  const sim = await startSim({ ipnSchedule: ['1h'] });
  const { page, errors } = await openPage();

  await page.goto(sim.url);
  await page.getByRole('link', { name: 'Api Key' }).click();
  const secretKey = await page
    .getByText(/^sec_sim_/)
    .first()
    .innerText();
  const publicKey = await page
    .getByText(/^pub_sim_/)
    .first()
    .innerText();
  expect({ publicKey, secretKey }).toEqual({ publicKey: sim.publicKey, secretKey: sim.secretKey });
  await page.getByRole('link', { name: 'Payments' }).click();

  // The port of the receiver that is to be: nothing listens there yet.
  const port = await freePort();
  const shown = await page.getByRole('region', { name: 'The command that initiates a payment' }).innerText();
  const command = shown.replace('http://localhost:3000/ipn', `http://127.0.0.1:${port}/ipn`);
  expect(command).not.toBe(shown);
  await promisify(execFile)('sh', ['-c', `${command} --silent --show-error --noproxy '*'`]);

  await page.getByRole('link', { name: 'order-1' }).click();
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Open checkout' }).click();
  const checkout = await opened;
  await checkout.getByLabel('E-mail').fill('test_mode@mail.com');
  await checkout.keyboard.press('Enter');
  await checkout.getByLabel('Verification code').fill('222666');
  await checkout.keyboard.press('Enter');
  await checkout.waitForURL('**/_sim/ui/paid');

  await page.bringToFront();
  await expect.poll(() => page.getByText('connection refused').first().isVisible()).toBe(true);

  const receiver = await startReceiver([{}], port);
  await page.getByRole('button', { name: 'Resend' }).click();
  await page.getByText('delivered').first().waitFor();
  expect(receiver.requests).toHaveLength(1);
  expect(receiver.requests[0]?.body).toContain('identifier=order-1');
  expect(errors).toEqual([]);
});

test('a payment, its IPN and its delivery appear without a reload', async () => {
  const receiver = await startReceiver();
  const sim = await startSim();
  const { page, errors } = await openPage();
  await page.goto(`${sim.url}/_sim`);
  await page.getByText('No payment yet').waitFor();
  let navigations = 0;
  page.on('framenavigated', () => navigations++);
  await page.locator('#live.on').waitFor();
  await sim.initiate({
    identifier: 'order-7',
    currency: 'USD',
    amount: '12.50',
    details: 'Tea',
    ipn_url: `${receiver.url}/ipn`,
    success_url: `${receiver.url}/paid`,
    cancel_url: `${receiver.url}/canceled`,
    site_logo: `${receiver.url}/logo.png`,
    customer_name: 'Ada',
    customer_email: 'ada@example.com',
  });
  await page.getByRole('link', { name: 'order-7' }).waitFor();
  await sim.server.parts.payments.settle('order-7', { outcome: 'approve', by: 'control' });
  await page.getByRole('link', { name: 'delivered' }).waitFor();
  expect(navigations).toBe(0);
  expect(errors).toEqual([]);
});
