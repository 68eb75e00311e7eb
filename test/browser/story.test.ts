import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openPage } from '../helpers/browser.ts';
import { freePort } from '../helpers/port.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

test('a user without the documentation gets from an empty dashboard to a delivered IPN', async () => {
  const sim = await startSim();
  const { page, errors } = await openPage();

  await page.goto(sim.url);
  await page.getByRole('link', { name: 'Settings' }).click();
  const shownKey = (start: RegExp) => page.getByText(start).first().innerText();
  expect([await shownKey(/^pub_sim_/), await shownKey(/^sec_sim_/)]).toEqual([sim.publicKey, sim.secretKey]);
  await page.getByRole('link', { name: 'Payments' }).click();

  // The future receiver's port. No server listens there yet.
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
  await page.getByText('Connection refused').first().waitFor();

  const receiver = await startReceiver([{}], port);
  await page.getByRole('button', { name: 'Resend', exact: true }).click();
  await page.getByText('Your shop: accepted').waitFor();
  expect(receiver.requests).toHaveLength(1);
  expect(receiver.requests[0]?.body).toContain('identifier=order-1');
  expect(errors).toEqual([]);
});
