import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openDashboard, openPage, type TestPage, withBrowser } from '../helpers/browser.ts';
import { busySim } from '../helpers/busy.ts';
import { freePort } from '../helpers/port.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, paid, type Sim, startSim } from '../helpers/sim.ts';

withBrowser();

const paymentPath = (sim: Sim) => `/_sim/ui/payments/${sim.server.parts.payments.require('order-1').id}`;

/** Waits until the page has received every event. */
const receivedAll = (sim: Sim, page: Page) =>
  expect
    .poll(() => page.locator('#live').getAttribute('data-since'))
    .toBe(String(sim.server.parts.events.newest));

const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.id || document.activeElement.textContent');

test('a user without the documentation gets from an empty dashboard to a delivered IPN', async () => {
  const sim = await startSim();
  const { page, errors } = await openPage();

  await page.goto(sim.url);
  // The future receiver's port. No server listens there yet.
  const port = await freePort();
  const shown = await page.getByRole('region', { name: 'The command that initiates a payment' }).innerText();
  const command = shown.replace('http://localhost:3000/ipn', `http://127.0.0.1:${port}/ipn`);
  expect(command).not.toBe(shown);
  await promisify(execFile)('sh', ['-c', `${command} --silent --show-error --noproxy '*'`]);

  await page.getByRole('link', { name: 'order-1' }).click();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Connection refused').first().waitFor();

  const receiver = await startReceiver([{}], port);
  await page.getByRole('button', { name: 'Resend', exact: true }).click();
  await page.getByText('Your shop: accepted, 2 attempts').waitFor();
  expect(receiver.requests).toHaveLength(1);
  expect(receiver.requests[0]?.body).toContain('identifier=order-1');
  expect(errors).toEqual([]);
});

describe('a page that receives events', () => {
  test('shows a new payment and the delivery of its IPN without a reload, and keeps the focus', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    const { page, errors } = await openDashboard(sim, '/_sim');
    await page.getByText('No payments yet').waitFor();
    let navigations = 0;
    page.on('framenavigated', () => navigations++);
    await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
    const link = page.getByRole('link', { name: 'order-1' });
    await link.waitFor();
    expect(await page.getByRole('link', { name: '1 pending' }).isVisible()).toBe(true);
    expect(await page.getByText('No payments yet').count()).toBe(0);
    await link.focus();
    await sim.server.parts.payments.settle('order-1', { outcome: 'approve', by: 'control' });
    await page.getByRole('row').getByText('accepted').waitFor();
    expect(await focused(page)).toBe('order-1');
    expect(navigations).toBe(0);
    expect(errors).toEqual([]);
  });

  test('preserves what the user has chosen, opened and selected, until its record is removed', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page, errors } = await openDashboard(sim, paymentPath(sim));
    await page.getByLabel('IPN timing').selectOption('ipn-twice');
    await page.getByText('Initiated', { exact: true }).click();
    await page.locator('#step-initiated-1-curl summary').click();
    await page.getByText('Payment details').click();
    await page.locator('#facts').getByText('Two paperbacks').click({ clickCount: 3 });
    const selected = () => page.evaluate<string>('String(getSelection())');
    const before = await selected();
    expect(before).toContain('Two paperbacks');
    const { checkout, payments } = sim.server.parts;
    await checkout.enterEmail(payments.require('order-1'), 'nobody@example.com').catch(() => {});
    await page.getByText('E-mail rejected').waitFor();
    expect(await page.getByLabel('IPN timing').inputValue()).toBe('ipn-twice');
    expect(await page.locator('#step-initiated-1-curl-text').isVisible()).toBe(true);
    expect(await selected()).toBe(before);
    await sim.server.parts.state.reset();
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('is fetched once for many events', async () => {
    const sim = await startSim();
    const { page } = await openPage({ isNew: true });
    // The test controls the page's time, so that nothing is fetched before the last event arrives.
    await page.clock.install();
    await page.goto(`${sim.url}/_sim`);
    await page.locator('#live.on').waitFor();
    await page.clock.pauseAt(await page.evaluate<number>('Date.now() + 60_000'));
    let fetched = 0;
    page.on('request', (request) => {
      if (request.resourceType() === 'fetch') fetched++;
    });
    for (let number = 1; number < 12; number++)
      await sim.initiate({ ...ORDER, identifier: `order-${number}` });
    await receivedAll(sim, page);
    await page.clock.runFor(500);
    await page.getByRole('link', { name: '11 all' }).waitFor();
    expect(fetched).toBe(1);
  });
});

/** Opens a list of three payments, newest first: order-3, order-2, order-1. */
async function listOfThree(): Promise<TestPage & { sim: Sim }> {
  const sim = await startSim();
  for (const number of [1, 2, 3]) await sim.initiate({ ...ORDER, identifier: `order-${number}` });
  return { sim, ...(await openDashboard(sim, '/_sim')) };
}

describe('a list', () => {
  test('keeps the focus on its row while rows are added above it', async () => {
    const { sim, page, errors } = await listOfThree();
    const search = page.getByLabel('Search', { exact: true });
    await search.fill('order/');
    await page.getByRole('link', { name: 'order-2' }).focus();
    await sim.initiate({ ...ORDER, identifier: 'order-4' });
    await sim.server.parts.payments.settle('order-2', { outcome: 'cancel', by: 'control' });
    await page.getByRole('link', { name: 'order-4' }).waitFor();
    await page.locator('tr', { hasText: 'order-2' }).getByText('canceled').waitFor();
    expect(await focused(page)).toBe('order-2');
    expect(await page.locator('tbody th').allTextContents()).toEqual(
      [4, 3, 2, 1].map((one) => `order-${one}`),
    );
    expect(await search.inputValue()).toBe('order/');
    expect(errors).toEqual([]);
  });

  test('flashes a row once if an event added it, but not with reduced motion', async () => {
    const { sim, page } = await listOfThree();
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.evaluate(`
      flashed = [];
      addEventListener('animationstart', ({ target }) => flashed.push(target.textContent.slice(0, 7)));
    `);
    const fourth = page.getByRole('link', { name: 'order-4' });
    await sim.initiate({ ...ORDER, identifier: 'order-4' });
    await fourth.waitFor();
    await expect.poll(() => page.evaluate('flashed')).toEqual(['order-4']);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await sim.initiate({ ...ORDER, identifier: 'order-5' });
    const fifth = page.locator('tr.new', { hasText: 'order-5' });
    const animation = await fifth.evaluate(
      (row) => row.ownerDocument.defaultView?.getComputedStyle(row).animationName,
    );
    expect(animation).toBe('none');
    expect(await page.evaluate('flashed')).toEqual(['order-4']);
  });

  test('opens a record with a click anywhere in its row except on controls, and the focus ring surrounds the row', async () => {
    const { sim } = await busySim();
    const { page } = await openPage();
    await page.goto(`${sim.url}/_sim?status=needs-attention`);
    const row = page.locator('tbody tr', { hasText: 'order-6' }).first();
    const link = row.locator('th a');
    // Only a key shows the ring.
    await page.keyboard.press('Tab');
    await link.focus();
    const ring = await link.evaluate((one) => {
      const { outlineStyle, width } = one.ownerDocument.defaultView?.getComputedStyle(one, '::after') ?? {};
      return [outlineStyle, Math.round(Number.parseFloat(width ?? ''))];
    });
    expect(ring).toEqual(['solid', Math.round((await row.boundingBox())?.width ?? 0)]);
    const { x = 0, y = 0, width = 0 } = (await row.getByRole('cell').nth(2).boundingBox()) ?? {};
    await page.mouse.click(x + width - 4, y + 4);
    await page.getByRole('heading', { level: 1, name: 'order-6' }).waitFor();
  });
});

test("times follow the emulator's clock, and stop while it is paused", async () => {
  const sim = await startSim({ ipnSchedule: ['1h'] });
  const { page } = await openPage({ isNew: true });
  await page.clock.install();
  const receiver = await startReceiver([{ status: 500 }]);
  await paid(sim, { identifier: 'retried', ipn_url: `${receiver.url}/ipn` });
  await sim.server.parts.clock.move({ advance: '1m' });
  await page.goto(`${sim.url}/_sim/ui/payments/${sim.server.parts.payments.require('retried').id}`);
  const due = page.locator('.due time');
  expect(await due.textContent()).toMatch(/^in 5\d min$/);
  await page.clock.runFor(600_000);
  expect(await due.textContent()).toMatch(/^in 4\d min$/);

  await sim.initiate(ORDER);
  await page.goto(`${sim.url}/_sim`);
  await page.locator('#live.on').waitFor();
  const ago = page.locator('tbody tr:first-child time[data-ago]');
  await page.clock.runFor(61_000);
  expect(await ago.textContent()).toBe('1 min ago');
  await sim.server.parts.clock.move({ freeze: 'now' });
  await receivedAll(sim, page);
  await page.clock.runFor(500);
  await page.getByText('Clock is paused', { exact: true }).waitFor();
  const paused = await ago.textContent();
  await page.clock.runFor(3_600_000);
  expect(await ago.textContent()).toBe(paused);
});

test('the keyboard reaches every action on a payment in a sensible order, and only Approve stands out', async () => {
  const sim = await startSim();
  await sim.initiate(ORDER);
  const { page } = await openPage();
  await page.goto(sim.url + paymentPath(sim));
  await page.keyboard.press('Tab');
  expect(await focused(page)).toContain('Skip to content');
  await page.keyboard.press('Enter');
  await page.waitForURL('**#content');
  const names: string[] = [];
  for (let presses = 0; presses < 6; presses++) {
    await page.keyboard.press('Tab');
    names.push(await page.evaluate('document.activeElement.textContent.slice(0, 20)'));
  }
  expect(names.join()).toBe('Approve,Cancel,Fail,Expire,IPN first, then redi,Open checkout');
  expect((await page.locator('#settle li').allTextContents()).join()).toBe(
    'Approvesucceeded,Cancelcanceled,Failfailed,Expireexpired',
  );
  const colors = await page.locator('#settle button').evaluateAll((all) =>
    all.map((one) => {
      const { color, backgroundColor } = one.ownerDocument.defaultView?.getComputedStyle(one) ?? {};
      return `${color} on ${backgroundColor}`;
    }),
  );
  expect(colors.map((color) => colors.filter((one) => one === color).length)).toEqual([1, 3, 3, 3]);
});

test('the keys can be copied, and replaced after a confirmation', async () => {
  const sim = await startSim();
  const { page } = await openPage();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${sim.url}/_sim/ui/settings`);
  await page.getByRole('button', { name: 'Copy the secret key' }).click();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(sim.secretKey);
  const questions: string[] = [];
  page.on('dialog', async (dialog) => {
    questions.push(dialog.message());
    await (questions.length === 1 ? dialog.dismiss() : dialog.accept());
  });
  await page.getByRole('button', { name: 'Generate API key' }).click();
  expect(questions).toHaveLength(1);
  expect(await page.getByText(sim.secretKey).count()).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Generate API key' }).click();
  await expect.poll(() => page.getByText(sim.secretKey).count()).toBe(0);
});
