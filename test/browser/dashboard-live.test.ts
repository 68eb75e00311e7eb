import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { openPage, type TestPage } from '../helpers/browser.ts';
import { freePort } from '../helpers/port.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

/** A page of the dashboard that hears what happens. */
async function watching(sim: Sim, path: string): Promise<TestPage> {
  const opened = await openPage();
  await opened.page.goto(sim.url + path);
  await opened.page.locator('#live.on').waitFor();
  return opened;
}

const paymentPath = (sim: Sim, identifier: string) =>
  `/_sim/ui/payments/${sim.server.parts.state.current.findPayment(identifier)?.id}`;

/** Waits until the page has heard of everything that happened. */
const heardAll = (sim: Sim, page: Page) =>
  expect
    .poll(() => page.locator('#live').getAttribute('data-since'))
    .toBe(String(sim.server.parts.events.newest));

const act = (sim: Sim, path: string, body: object = {}) =>
  fetch(`${sim.url}/_sim${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('while things happen', () => {
  test('the first payment brings the filter and the counts with it', async () => {
    const sim = await startSim();
    const { page, errors } = await watching(sim, '/_sim');
    await page.getByText('No payment yet').waitFor();
    await sim.initiate(ORDER);
    await page.getByRole('link', { name: 'order-1' }).waitFor();
    expect(await page.getByRole('button', { name: 'Filter' }).isVisible()).toBe(true);
    expect(await page.getByRole('link', { name: '1 pending' }).isVisible()).toBe(true);
    expect(await page.getByText('No payment yet').count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('what the reader chose, opened and selected stays', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page } = await watching(sim, paymentPath(sim, 'order-1'));
    await page.getByLabel('IPN timing').selectOption('ipn-twice');
    await page.locator('#step-initiated-1-curl summary').click();
    await page.locator('#facts').getByText('Two paperbacks').click({ clickCount: 3 });
    const selected = () => page.evaluate<string>('String(getSelection())');
    const before = await selected();
    expect(before).toContain('Two paperbacks');
    const payment = sim.server.parts.state.current.findPayment('order-1');
    if (payment) await sim.server.parts.checkout.enterEmail(payment, 'nobody@example.com').catch(() => {});
    await page.getByText('E-mail refused').waitFor();
    expect(await page.getByLabel('IPN timing').inputValue()).toBe('ipn-twice');
    expect(await page.locator('#step-initiated-1-curl-text').isVisible()).toBe(true);
    expect(await selected()).toBe(before);
  });

  test('it is said to those who do not see it, once for many', async () => {
    const sim = await startSim();
    const { page } = await openPage();
    // Its seconds go by when this says so: otherwise the last of many could come after a few were told.
    await page.clock.install();
    await page.goto(`${sim.url}/_sim`);
    await page.locator('#live.on').waitFor();
    await page.clock.pauseAt(await page.evaluate<number>('Date.now() + 60_000'));
    const news = page.locator('#news');
    await sim.initiate(ORDER);
    await heardAll(sim, page);
    await page.clock.runFor(500);
    expect(await news.textContent()).toBe('Payment order-1 pending');
    for (let number = 2; number < 9; number++)
      await sim.initiate({ ...ORDER, identifier: `order-${number}` });
    await heardAll(sim, page);
    await page.clock.runFor(3_900);
    expect(await news.textContent()).toBe('Payment order-1 pending');
    await page.clock.runFor(100);
    expect(await news.textContent()).toBe('7 changes, the last: Payment order-8 pending');
  });

  test('faults, a frozen clock and new keys show themselves wherever one is', async () => {
    const sim = await startSim();
    const { page, errors } = await watching(sim, '/_sim/ui/keys');
    await act(sim, '/faults', { route: 'initiate', status: 503 });
    await page.getByText('fault active').waitFor();
    await act(sim, '/clock', { freeze: '2099-01-01T00:00:00Z' });
    await page.getByText('Clock is paused').waitFor();
    const [merchant] = sim.server.parts.state.current.merchants.values();
    await act(sim, `/merchants/${merchant?.id}/keys`);
    await expect.poll(() => page.getByText(sim.secretKey).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear all' }).click();
    await expect.poll(() => page.getByText('fault active').count()).toBe(0);
    expect(await page.getByRole('heading', { name: 'Api Key' }).isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText(/Clock is .* ahead/).waitFor();
    const running = page.locator('time[data-runs]').first();
    const at = await running.textContent();
    await expect.poll(() => running.textContent()).not.toBe(at);
    expect(errors).toEqual([]);
  });

  test('a reset leaves no stale page and no error behind', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page, errors } = await watching(sim, paymentPath(sim, 'order-1'));
    await act(sim, '/reset');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    expect(errors).toEqual([]);
  });
});

describe('a form', () => {
  test('that is refused keeps what was typed, and the page goes on being live', async () => {
    const sim = await startSim();
    const { page } = await watching(sim, '/_sim/ui/cards');
    await page.getByLabel('Title').fill('Half a card');
    await page.getByLabel('Amount').fill('much');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    expect(await page.getByRole('alert').textContent()).toContain('amount');
    expect(await page.getByLabel('Title').inputValue()).toBe('Half a card');
    expect(new URL(page.url()).pathname).toBe('/_sim/ui/cards');
    await page.locator('#live.on').waitFor();
    await act(sim, '/faults', { route: 'cards', status: 503 });
    await page.getByText('fault active').waitFor();
    expect(await page.getByRole('alert').isVisible()).toBe(true);
    expect(await page.getByLabel('Title').inputValue()).toBe('Half a card');
  });

  test('of a payment that somebody else settled says so, and reloading sends nothing again', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page } = await openPage({ javaScriptEnabled: false });
    const path = paymentPath(sim, 'order-1');
    await page.goto(sim.url + path);
    await sim.server.parts.payments.settle('order-1', { outcome: 'cancel', by: 'control' });
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('already canceled');
    const { page: live } = await openPage();
    await sim.initiate({ ...ORDER, identifier: 'order-2' });
    await live.goto(sim.url + paymentPath(sim, 'order-2'));
    await live.evaluate("dispatchEvent(new Event('pagehide'))");
    await sim.server.parts.payments.settle('order-2', { outcome: 'cancel', by: 'control' });
    await live.getByRole('button', { name: 'Approve' }).click();
    await live.getByRole('alert').waitFor();
    expect(new URL(live.url()).pathname).toBe(paymentPath(sim, 'order-2'));
  });

  test('acts once, however often it is pressed while the receiver thinks', async () => {
    let answer = () => {};
    const thinking = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const receiver = await startReceiver((_, number) => (number === 1 ? {} : { after: thinking }));
    const sim = await startSim();
    await sim.initiate({ ...ORDER, ipn_url: receiver.url });
    await sim.server.parts.payments.settle('order-1', {
      outcome: 'approve',
      by: 'control',
      awaitDelivery: true,
    });
    const { current: state } = sim.server.parts.state;
    const [delivery] = state.deliveries.values();
    const { page } = await watching(sim, `/_sim/ui/ipns/${delivery?.id}`);
    const pressedAgain = new Promise<void>((resolve) => {
      page.on('console', (message) => message.text() === 'pressed again' && resolve());
    });
    await page.evaluate(`
      const button = document.querySelector('form[action$="/tamper"] button');
      setTimeout(() => { button.click(); setTimeout(() => console.log('pressed again'), 200); }, 300);
      button.click();
    `);
    await receiver.request(2);
    await pressedAgain;
    answer();
    await page.getByText('Not right for the secret key').waitFor();
    expect(state.deliveries.size).toBe(2);
  });
});

test('an emulator that comes back is noticed, with what it knows now', async () => {
  const port = await freePort();
  const first = await startSim({ port });
  const { page } = await watching(first, '/_sim');
  await first.server.stop();
  await page.getByText('Disconnected, reconnecting…').waitFor();
  const second = await startSim({ port });
  await second.initiate(ORDER);
  await page.getByRole('link', { name: 'order-1' }).waitFor();
  await page.locator('#live.on').waitFor();
});

test('a control token is asked for once, and again when it is another one', async () => {
  const guarded = { host: '0.0.0.0', controlToken: 'token-1', port: await freePort() };
  const first = await startSim(guarded);
  const { page } = await openPage();
  await page.goto(`${first.url}/_sim/ui/ipns`);
  await page.getByLabel('Control token').fill('token-1');
  await page.keyboard.press('Enter');
  await page.locator('#live.on').waitFor();
  await first.server.stop();
  await page.getByText('Disconnected, reconnecting…').waitFor();
  await startSim({ ...guarded, controlToken: 'token-2' });
  await page.getByLabel('Control token').waitFor();
});

test('every form and link is reached by keyboard, in an order that makes sense', async () => {
  const sim = await startSim();
  await sim.initiate(ORDER);
  const { page } = await openPage();
  await page.goto(sim.url + paymentPath(sim, 'order-1'));
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Skip to the content');
  await page.keyboard.press('Enter');
  await page.waitForURL('**#content');
  const names: string[] = [];
  for (let presses = 0; presses < 7; presses++) {
    await page.keyboard.press('Tab');
    names.push(await page.evaluate('document.activeElement.textContent.slice(0, 20)'));
  }
  expect(names).toEqual([
    'Back to the list',
    'Open checkout',
    expect.stringContaining('IPN first, then redi'),
    'Approve → succeeded',
    'Cancel → canceled',
    'Fail → failed',
    'Expire → expired',
  ]);
});
