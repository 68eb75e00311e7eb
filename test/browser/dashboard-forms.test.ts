import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { openPage, type TestPage } from '../helpers/browser.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { type Receiver, startReceiver } from '../helpers/receiver.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

const PHONE = { viewport: { width: 390, height: 700 } };

/** A page of the dashboard whose script runs. */
async function open(sim: Sim, path: string, options = {}): Promise<TestPage> {
  const opened = await openPage(options);
  await opened.page.goto(sim.url + path);
  await opened.page.locator('#live.on').waitFor();
  return opened;
}

const paymentPath = (sim: Sim, identifier = 'order-1') =>
  `/_sim/ui/payments/${sim.server.parts.state.current.findPayment(identifier)?.id}`;

const hasFocus = (element: Locator) => element.evaluate((one) => one.ownerDocument.activeElement === one);

const scrolled = (page: Page) => page.evaluate<number>('scrollY');

/** A receiver that answers the first IPNs at once and the others when it is told to. */
async function thinkingReceiver(first: number): Promise<{ receiver: Receiver; answer: () => void }> {
  let answer = () => {};
  const thinking = new Promise<void>((resolve) => {
    answer = resolve;
  });
  return {
    receiver: await startReceiver((_, number) => (number <= first ? {} : { after: thinking })),
    answer: () => answer(),
  };
}

/** Approved payments, each with an IPN that was delivered. */
async function settled(sim: Sim, receiver: Receiver, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    await sim.initiate({ ...ORDER, identifier: `order-${number}`, ipn_url: receiver.url });
    await sim.server.parts.payments.settle(`order-${number}`, {
      outcome: 'approve',
      by: 'control',
      awaitDelivery: true,
    });
  }
}

const ipnPath = (sim: Sim) =>
  `/_sim/ui/ipns/${[...sim.server.parts.state.current.deliveries.values()][0]?.id}`;

describe('a button whose form waits', () => {
  test('says so and for how long in its own width, acts once, and comes back with the focus', async () => {
    const { receiver, answer } = await thinkingReceiver(1);
    const sim = await startSim();
    await settled(sim, receiver, 1);
    const { page, errors } = await open(sim, ipnPath(sim));
    const resend = page.locator('#send form button').first();
    const before = await resend.boundingBox();
    await resend.click();
    await receiver.request(2);
    await page.getByRole('button', { name: /^Sending… ([2-9]|\d\d+) s$/ }).waitFor();
    expect(await resend.getAttribute('aria-busy')).toBe('true');
    expect(await resend.boundingBox()).toEqual(before);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await resend.click({ force: true });
    answer();
    await page.getByText('Attempt 2:').first().waitFor();
    await expect.poll(() => resend.textContent()).toBe('Resend');
    expect(await resend.getAttribute('aria-busy')).toBeNull();
    expect(await resend.boundingBox()).toMatchObject({ width: before?.width });
    expect(await hasFocus(resend)).toBe(true);
    expect(receiver.requests).toHaveLength(2);
    expect(errors).toEqual([]);
  });

  test('stays although the page goes on, and hands on the focus when it is no longer needed', async () => {
    const { receiver, answer } = await thinkingReceiver(0);
    const sim = await startSim();
    await sim.initiate({ ...ORDER, ipn_url: receiver.url });
    const { page } = await open(sim, paymentPath(sim));
    const before = await page.getByRole('button', { name: 'Approve → succeeded' }).boundingBox();
    await page.getByRole('button', { name: 'Approve → succeeded' }).click();
    await page.locator('.heading').getByText('succeeded').waitFor();
    const { width, height } = before ?? {};
    const waiting = page.getByRole('button', { name: /^Sending… \d+ s$/ });
    expect(await waiting.boundingBox()).toMatchObject({ width, height });
    await page.getByRole('button', { name: 'Cancel' }).click();
    answer();
    await page.locator('#settle').waitFor({ state: 'detached' });
    expect(await hasFocus(page.locator('main'))).toBe(true);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('says how long where it has no room for more', async () => {
    const { receiver, answer } = await thinkingReceiver(1);
    const sim = await startSim();
    await settled(sim, receiver, 1);
    const { page } = await open(sim, ipnPath(sim));
    const resend = page.locator('#send form button').first();
    await page.evaluate("document.styleSheets[0].insertRule('#send button { width: 60px; padding: 0 }')");
    await resend.click();
    await page.getByRole('button', { name: /^Sending… \d+ s$/ }).waitFor();
    await resend.locator('.unseen', { hasText: 'Sending…' }).waitFor();
    expect(await resend.evaluate((button) => button.scrollWidth <= button.clientWidth)).toBe(true);
    answer();
    await page.getByText('Attempt 2:').first().waitFor();
    await expect.poll(() => resend.innerHTML()).toBe('Resend');
  });

  test('waits its turn where two forms are on their way, so that the page still loads', async () => {
    const { receiver, answer } = await thinkingReceiver(3);
    const sim = await startSim();
    await settled(sim, receiver, 3);
    const { page } = await open(sim, '/_sim/ui/ipns');
    const buttons = page.locator('tbody button');
    for (const number of [0, 1, 2]) await buttons.nth(number).click();
    await receiver.request(5);
    expect(await page.locator('[aria-busy=true]').count()).toBe(3);
    const loaded = page.waitForResponse(`${sim.url}/_sim/ui/ipns`);
    await sim.initiate({ ...ORDER, identifier: 'order-9', ipn_url: receiver.url });
    await loaded;
    expect(receiver.requests).toHaveLength(5);
    answer();
    await receiver.request(6);
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  });
});

describe('a form that acts on its own page', () => {
  test('leaves a long list where it is', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    await settled(sim, receiver, 8);
    const { page } = await open(sim, '/_sim/ui/ipns', PHONE);
    const resend = page.locator('tbody button').last();
    await resend.scrollIntoViewIfNeeded();
    const before = await scrolled(page);
    expect(before).toBeGreaterThan(200);
    await resend.click();
    await receiver.request(9);
    await expect.poll(() => resend.getAttribute('aria-busy')).toBeNull();
    expect(Math.abs((await scrolled(page)) - before)).toBeLessThan(30);
    expect(await hasFocus(resend)).toBe(true);
    expect(new URL(page.url()).hash).toBe('');
  });

  test('leaves one way back: to where the reader came from', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page, errors } = await open(sim, '/_sim');
    await page.getByRole('link', { name: 'order-1' }).click();
    // Both pages have a connection that is on: only this one has the heading.
    await page.getByRole('heading', { level: 1, name: 'order-1' }).waitFor();
    await page.locator('#live.on').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('#settle').waitFor({ state: 'detached' });
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe('/_sim');
    expect(errors).toEqual([]);
  });

  test('leads to what it made, although events ask for the page meanwhile', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    await settled(sim, receiver, 1);
    const { page } = await open(sim, paymentPath(sim));
    // Nothing is answered until an event was told, and the page asked for because of it; then one after the other.
    let answered = page.locator('#news', { hasText: 'order-1' }).waitFor({ state: 'attached' });
    await page.route('**/ui/payments/*', (route) => {
      answered = answered.then(async () => route.fulfill({ response: await route.fetch() }));
      return answered;
    });
    await page.locator('.details:visible').getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL('**#step-ipn_*-2');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('of a list that is narrowed stays narrowed', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    await settled(sim, receiver, 1);
    const { page } = await open(sim, '/_sim/ui/ipns?state=&text=order');
    let loads = 0;
    page.on('load', () => loads++);
    const resend = page.locator('tbody button');
    await resend.click();
    await receiver.request(2);
    await expect.poll(() => resend.getAttribute('aria-busy')).toBeNull();
    expect([loads, new URL(page.url()).search]).toEqual([0, '?state=&text=order']);
  });
});

test('a form that is done is empty again, and others keep what was typed', async () => {
  const sim = await startSim();
  const { page, errors } = await open(sim, '/_sim/ui/cards');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: 'Test card' }).waitFor();
  await page.locator('#live.on').waitFor();
  await page.getByLabel('Amount to fund').fill('7');
  await page.getByLabel('Amount to charge').fill('12.50');
  await page.getByRole('button', { name: 'Charge' }).click();
  await page.locator('#transactions').getByText('12.50').waitFor();
  await expect.poll(() => page.getByLabel('Amount to charge').inputValue()).toBe('');
  expect(await page.getByLabel('Amount to fund').inputValue()).toBe('7');
  expect(await hasFocus(page.getByRole('button', { name: 'Charge' }))).toBe(true);
  expect(errors).toEqual([]);
});

/** The first time that the script asks for the page is answered when it has asked again. */
async function answerFirstLast(page: Page): Promise<() => number> {
  let asked = 0;
  let askedAgain = () => {};
  const again = new Promise<void>((resolve) => {
    askedAgain = resolve;
  });
  await page.route(page.url(), async (route) => {
    if (++asked === 1) await again;
    else askedAgain();
    await route.continue();
  });
  return () => asked;
}

describe('a form that is done while the page is fetched for another reason, too', () => {
  test('is empty again', async () => {
    const sim = await startSim();
    const { page } = await open(sim, '/_sim/ui/cards');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Test card' }).waitFor();
    await page.locator('#live.on').waitFor();
    const asked = await answerFirstLast(page);
    await page.getByLabel('Amount to charge').fill('12.50');
    await page.getByRole('button', { name: 'Charge' }).click();
    await page.locator('#transactions').getByText('12.50').waitFor();
    await expect.poll(() => page.getByLabel('Amount to charge').inputValue()).toBe('');
    expect(asked()).toBeGreaterThan(1);
  });

  test('hands on the focus', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page } = await open(sim, paymentPath(sim));
    const asked = await answerFirstLast(page);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('#settle').waitFor({ state: 'detached' });
    expect(await hasFocus(page.locator('main'))).toBe(true);
    expect(asked()).toBeGreaterThan(1);
  });
});

test('a form that leads to another page does so', async () => {
  const sim = await startSim();
  const { page, errors } = await open(sim, '/_sim/ui/cards');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: 'Test card' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Cards' }).waitFor();
  await page.locator('#live.on').waitFor();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: 'Test card' }).waitFor();
  expect(sim.server.parts.state.current.cards.size).toBe(2);
  expect(errors).toEqual([]);
});

describe('a form that does not reach the emulator', () => {
  test('leaves the page, says what was not sent, and can be sent again', async () => {
    const kept = { inMemory: false, dataDir: await temporaryFolder(), port: await freePort() };
    const first = await startSim(kept);
    await first.initiate(ORDER);
    const { page } = await open(first, paymentPath(first));
    await first.server.stop();
    await page.getByRole('button', { name: 'Approve' }).click();
    const told = page.getByRole('alert');
    await told.getByText('“Approve → succeeded” was not sent.').waitFor();
    expect(await told.textContent()).toContain('Disconnected, reconnecting…');
    expect(await page.locator('#live').textContent()).toBe('Disconnected, reconnecting…');
    expect(await page.getByRole('button', { name: 'Approve' }).getAttribute('aria-busy')).toBeNull();
    expect(await hasFocus(page.getByRole('button', { name: 'Approve' }))).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await startSim(kept);
    await page.locator('#live.on').waitFor();
    expect(await told.textContent()).toBe('“Approve → succeeded” was not sent.');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('#settle').waitFor({ state: 'detached' });
    await told.waitFor({ state: 'detached' });
  });

  test('says so where its connection breaks, and goes on when the next answer comes', async () => {
    const { receiver, answer } = await thinkingReceiver(1);
    const sim = await startSim();
    await settled(sim, receiver, 1);
    const { page } = await open(sim, ipnPath(sim));
    await page.route('**/resend', (route) => route.abort('connectionreset'));
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('alert').getByText('“Resend” was not sent.').waitFor();
    await page.locator('#live.on').waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('“Resend” was not sent.');
    await page.unroute('**/resend');
    await page.getByRole('button', { name: 'Resend' }).click();
    answer();
    await page.getByText('Attempt 2:').first().waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('asks for the control token where it was replaced', async () => {
    const guarded = { host: '0.0.0.0', controlToken: 'token-1' };
    const sim = await startSim(guarded);
    const { page } = await openPage();
    await page.goto(`${sim.url}/_sim/ui/cards`);
    await page.getByLabel('Control token').fill('token-1');
    await page.keyboard.press('Enter');
    await page.locator('#live.on').waitFor();
    await page.goto(`${sim.url}/_sim/ui/cards`);
    await page.locator('#live.on').waitFor();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByLabel('Control token').waitFor();
    expect(sim.server.parts.state.current.cards.size).toBe(0);
  });
});

describe('a form that is refused', () => {
  test.each([true, false])('marks what is wrong and focuses the first (script: %s)', async (hasScript) => {
    const sim = await startSim();
    const { page } = await openPage({ javaScriptEnabled: hasScript });
    await page.goto(`${sim.url}/_sim/ui/cards`);
    if (hasScript) await page.locator('#live.on').waitFor();
    await page.getByLabel('Title').fill('Half a card');
    await page.getByLabel('Name on the card').fill('A'.repeat(256));
    await page.getByLabel('Amount').fill('much');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('alert').waitFor();
    const amount = page.getByLabel('Amount');
    // Without a script the browser gives the focus in its own time.
    await expect.poll(() => hasFocus(amount)).toBe(true);
    expect(await page.locator('[aria-invalid=true]').count()).toBe(2);
    const described = await amount.getAttribute('aria-describedby');
    expect(await page.locator(`#${described}`).textContent()).toMatch(
      /^Enter a plain decimal greater than 0/,
    );
    expect(await page.getByLabel('Title').getAttribute('aria-invalid')).toBeNull();
    expect(await page.getByLabel('Title').inputValue()).toBe('Half a card');
    expect(await page.getByLabel('Name on the card').inputValue()).toHaveLength(256);
    if (!hasScript) return;
    expect(await violationsOf(page)).toEqual([]);
    sim.server.parts.faults.set({ route: 'cards', status: 503 });
    await page.locator('main', { hasText: /\b1 (rule|fault)/ }).waitFor();
    expect(await page.locator('[aria-invalid=true]').count()).toBe(2);
    await amount.fill('12');
    await page.getByLabel('Name on the card').fill('Ada');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Half a card' }).waitFor();
  });

  test('says what a number may be', async () => {
    const sim = await startSim();
    const { page, errors } = await open(sim, '/_sim/ui/faults');
    const status = page.getByLabel(/^Status/);
    await status.fill('teapot');
    await page.locator('form', { has: status }).getByRole('button', { name: 'Set' }).click();
    await page.getByText('Enter a whole number from 200 to 599').waitFor();
    expect(await hasFocus(status)).toBe(true);
    expect(errors).toEqual([]);
  });

  test('says that it is too large', async () => {
    const sim = await startSim();
    const { page } = await open(sim, '/_sim/ui/cards');
    await page.getByLabel('Title').evaluate((field) => field.setAttribute('value', 'x'.repeat(2 ** 21)));
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('alert').getByText('1 MiB').waitFor();
  });

  test('says what the emulator answers where that is no page', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page } = await open(sim, paymentPath(sim));
    await page.route('**/settle', (route) =>
      route.fulfill({ status: 507, json: { message: 'the disk is full' } }),
    );
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alert').getByText('the disk is full').waitFor();
    await page.unroute('**/settle');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('.heading').getByText('succeeded').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });
});

test('the ways to finish a payment look different and say what follows', async () => {
  const sim = await startSim();
  await sim.initiate(ORDER);
  const { page } = await open(sim, paymentPath(sim));
  const buttons = page.getByRole('region', { name: 'Finish this payment' }).getByRole('button');
  expect(await buttons.allTextContents()).toEqual([
    'Approve → succeeded',
    'Cancel → canceled',
    'Fail → failed',
    'Expire → expired',
  ]);
  const looks = await buttons.evaluateAll((all) =>
    all.map((one) => {
      const { color, backgroundColor } = one.ownerDocument.defaultView?.getComputedStyle(one) ?? {};
      return `${color} on ${backgroundColor}`;
    }),
  );
  expect(new Set(looks).size).toBe(4);
  expect(await page.getByLabel('IPN timing').locator('option:checked').textContent()).toBe(
    'IPN first, then redirect (ipn-then-redirect)',
  );
});
