import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { readCard } from '../../src/service/cards.ts';
import { violationsOf } from '../helpers/axe.ts';
import { openDashboard, openPage, withBrowser } from '../helpers/browser.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { gate, type Receiver, startReceiver } from '../helpers/receiver.ts';
import { CARD } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { ORDER, paid, type Sim, startSim } from '../helpers/sim.ts';

withBrowser();

const PHONE = { viewport: { width: 390, height: 700 } };

const paymentPath = (sim: Sim, identifier = 'order-1') =>
  `/_sim/ui/payments/${sim.server.parts.payments.require(identifier).id}`;

const hasFocus = (element: Locator) => element.evaluate((one) => one.ownerDocument.activeElement === one);

/** Starts a receiver that answers the first IPNs immediately, and the others on demand. */
async function thinkingReceiver(first: number): Promise<{ receiver: Receiver; answer: () => void }> {
  const { opened, open: answer } = gate();
  const receiver = await startReceiver((_, number) => (number <= first ? {} : { after: opened }));
  return { receiver, answer };
}

/** Creates approved payments, each with a delivered IPN. */
async function settled(sim: Sim, receiver: Receiver, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    await paid(sim, { identifier: `order-${number}`, ipn_url: receiver.url });
  }
}

describe('a button with a pending form', () => {
  test('says so, acts once, and keeps the focus', async () => {
    const { receiver, answer } = await thinkingReceiver(1);
    const sim = await startSim();
    await settled(sim, receiver, 1);
    const { page, errors } = await openDashboard(sim, paymentPath(sim));
    const resend = page.locator('#verdict form button').first();
    await resend.click();
    await receiver.request(2);
    await page.getByText('Waiting up to').waitFor();
    expect(await resend.getAttribute('aria-busy')).toBe('true');
    if (IS_RELEASE) expect(await violationsOf(page, { within: '#verdict' })).toEqual([]);
    await page.keyboard.press('Enter');
    await resend.click({ force: true });
    answer();
    await page.getByText('Your shop: accepted twice').waitFor();
    await expect.poll(() => resend.getAttribute('aria-busy')).toBeNull();
    expect(await hasFocus(resend)).toBe(true);
    expect(receiver.requests).toHaveLength(2);
    expect(errors).toEqual([]);
  });

  test('may disappear with its form meanwhile, and the focus returns to the page', async () => {
    const { receiver, answer } = await thinkingReceiver(0);
    const sim = await startSim();
    await sim.initiate({ ...ORDER, ipn_url: receiver.url });
    const { page, errors } = await openDashboard(sim, paymentPath(sim));
    const before = await page.evaluate('history.length');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('Customer: paid').waitFor();
    answer();
    await page.locator('.pill', { hasText: 'Your shop: accepted' }).waitFor();
    await page.locator('#settle').waitFor({ state: 'detached' });
    expect(await hasFocus(page.locator('main'))).toBe(true);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.evaluate('history.length')).toBe(before);
    expect(errors).toEqual([]);
  });
});

describe('a form that returns to its own page', () => {
  test('preserves the scroll position and the filter of a long list', async () => {
    const receiver = await startReceiver([{ status: 500 }]);
    const sim = await startSim();
    await settled(sim, receiver, 8);
    const filter = '?status=needs-attention&text=order-';
    const { page } = await openDashboard(sim, `/_sim${filter}`, PHONE);
    let loads = 0;
    page.on('load', () => loads++);
    const resend = page.locator('tbody button').last();
    await resend.scrollIntoViewIfNeeded();
    const before = await page.evaluate<number>('scrollY');
    expect(before).toBeGreaterThan(200);
    await resend.click();
    await receiver.request(9);
    await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
    expect(Math.abs((await page.evaluate<number>('scrollY')) - before)).toBeLessThan(30);
    expect(await hasFocus(resend)).toBe(true);
    const { search, hash } = new URL(page.url());
    expect([loads, search, hash]).toEqual([0, filter, '']);
  });

  test('shows its result on a phone without a script, and the keyboard continues from there', async () => {
    const sim = await startSim();
    await settled(sim, await startReceiver(), 1);
    const { page } = await openPage({ ...PHONE, javaScriptEnabled: false });
    await page.goto(sim.url + paymentPath(sim));
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByText('Your shop: accepted twice').waitFor();
    // The browser scrolls to it and moves the focus asynchronously.
    const outcome = page.locator(':target').getByText('200', { exact: true });
    await outcome.waitFor();
    const { y = -1, height = 0 } = (await outcome.boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThan(PHONE.viewport.height);
    await page.keyboard.press('Tab');
    expect(await page.locator(':target :focus').count()).toBe(1);
    await page.goto(`${sim.url}/_sim/ui/settings`);
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
  });
});

/** Answers the script's first request for the page only after its second. */
async function answerFirstLast(page: Page): Promise<() => number> {
  let requests = 0;
  const { opened, open: second } = gate();
  await page.route(page.url(), async (route) => {
    if (++requests === 1) await opened;
    else second();
    await route.continue();
  });
  return () => requests;
}

describe('a processed form', () => {
  test('is cleared on its page, while other forms keep their text', async () => {
    const sim = await startSim();
    const { cards, merchants } = sim.server.parts;
    const card = await cards.issue(merchants.default, readCard({ fields: CARD, text: '' }));
    const { page, errors } = await openDashboard(sim, `/_sim/ui/cards/${card.id}`);
    // An event refreshes the page, too.
    const requests = await answerFirstLast(page);
    await page.getByLabel('Amount to fund').fill('7');
    await page.getByLabel('Amount to charge').fill('12.50');
    await page.getByRole('button', { name: 'Charge' }).click();
    await page.locator('#transactions').getByText('12.50').waitFor();
    await expect.poll(() => page.getByLabel('Amount to charge').inputValue()).toBe('');
    expect(await page.getByLabel('Amount to fund').inputValue()).toBe('7');
    expect(await hasFocus(page.getByRole('button', { name: 'Charge' }))).toBe(true);
    expect(requests()).toBeGreaterThan(1);
    expect(errors).toEqual([]);
  });
});

describe('a form that does not reach the emulator', () => {
  test('keeps the page, says what was not sent, and can be sent again after a reconnect', async () => {
    const kept = { inMemory: false, dataDir: await temporaryFolder(), port: await freePort() };
    const first = await startSim(kept);
    await first.initiate(ORDER);
    const { page } = await openDashboard(first, paymentPath(first));
    await first.server.stop();
    await page.getByRole('button', { name: 'Approve' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('“Approve” was not sent: the emulator did not respond.').waitFor();
    await page.locator('#live', { hasText: 'Disconnected, reconnecting…' }).waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).getAttribute('aria-busy')).toBeNull();
    expect(await hasFocus(page.getByRole('button', { name: 'Approve' }))).toBe(true);
    if (IS_RELEASE) expect(await violationsOf(page, { within: '[role=alert]' })).toEqual([]);
    const second = await startSim(kept);
    await second.server.parts.merchants.add('Second Shop');
    second.server.parts.faults.set({ route: 'initiate', status: 503 });
    // The page shows what happened meanwhile.
    await page.locator('#live.on').waitFor();
    await page.getByText('1 fault active').waitFor();
    expect(await alert.textContent()).toContain('“Approve” was not sent');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('#settle').waitFor({ state: 'detached' });
    await alert.waitFor({ state: 'detached' });
  });

  test('asks for the control token again, and so does the event stream', async () => {
    const sim = await startSim({ host: '0.0.0.0', controlToken: 'token-1' });
    const { page } = await openPage();
    const enterToken = async () => {
      await page.getByLabel('Control token').fill('token-1');
      await page.keyboard.press('Enter');
      await page.locator('#live.on').waitFor();
    };
    await page.goto(`${sim.url}/_sim/ui/cards`);
    await enterToken();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await enterToken();
    expect(sim.server.parts.store.state.cards.size).toBe(0);
    await page.context().clearCookies();
    await page.evaluate(
      "dispatchEvent(new Event('pagehide')); dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))",
    );
    await page.getByLabel('Control token').waitFor();
  });
});

describe('a rejected form', () => {
  test('marks invalid fields, focuses the first, keeps the input through updates, and can be corrected', async () => {
    const sim = await startSim();
    const { page } = await openDashboard(sim, '/_sim/ui/cards');
    const create = page.getByRole('button', { name: 'Create', exact: true });
    const [title, name, amount] = [
      page.getByLabel('Title'),
      page.getByLabel('Name on the card'),
      page.getByLabel('Amount'),
    ];
    await title.fill('Half a card');
    await name.fill('A'.repeat(256));
    await amount.fill('much');
    await create.click();
    await expect.poll(() => hasFocus(amount)).toBe(true);
    expect(await page.getByRole('alert').textContent()).toContain('amount');
    const described = await amount.getAttribute('aria-describedby');
    expect(await page.locator(`#${described}`).textContent()).toMatch(
      /^Must be a plain decimal greater than 0/,
    );
    const expectKept = async () => {
      expect(await page.locator('[aria-invalid=true]').count()).toBe(2);
      expect(await title.getAttribute('aria-invalid')).toBeNull();
      expect(await title.inputValue()).toBe('Half a card');
      expect(await name.inputValue()).toHaveLength(256);
    };
    await expectKept();
    sim.server.parts.faults.set({ route: 'cards', status: 503 });
    await page.getByText('1 fault active').waitFor();
    await expectKept();
    expect(await page.getByRole('alert').isVisible()).toBe(true);
    expect(new URL(page.url()).pathname).toBe('/_sim/ui/cards');
    await amount.fill('12');
    await name.fill('Ada');
    await create.click();
    await page.getByRole('heading', { name: 'Half a card' }).waitFor();
  });

  test('shows the error in a response that is not a page, and says if another user was faster', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page } = await openDashboard(sim, paymentPath(sim));
    await page.route('**/settle', (route) =>
      route.fulfill({ status: 507, json: { message: 'the disk is full' } }),
    );
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.click();
    await page.getByRole('alert').getByText('the disk is full').waitFor();
    await page.unroute('**/settle');
    // Now the page receives no more events.
    await page.evaluate("dispatchEvent(new Event('pagehide'))");
    await sim.server.parts.payments.settle('order-1', { outcome: 'cancel', by: 'control' });
    await approve.click();
    await page.getByRole('alert').getByText('already canceled').waitFor();
    expect(new URL(page.url()).pathname).toBe(paymentPath(sim));
  });
});

test("events do not remove the signature checker's result", async () => {
  const sim = await startSim();
  const { page } = await openPage({ isNew: true });
  await page.clock.install();
  await page.goto(`${sim.url}/_sim/ui/signature`);
  await page.getByLabel('IPN', { exact: true }).fill('status=success');
  await page.getByRole('button', { name: 'Check signature' }).click();
  await page.locator('#verdict').waitFor();
  await page.locator('#live.on').waitFor();
  let fetched = 0;
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch') fetched++;
  });
  const since = await page.locator('#live').getAttribute('data-since');
  await sim.initiate(ORDER);
  await expect.poll(() => page.locator('#live').getAttribute('data-since')).not.toBe(since);
  await page.clock.runFor(500);
  expect([fetched, await page.locator('#verdict').count()]).toEqual([0, 1]);
});
