import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openPage } from '../helpers/browser.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

/** The list of payments with three of them, newest first: order-3, order-2, order-1. */
async function listOfThree(options = {}): Promise<{ sim: Sim; page: Page; errors: string[] }> {
  const sim = await startSim();
  for (const number of [1, 2, 3]) await sim.initiate({ ...ORDER, identifier: `order-${number}` });
  const { page, errors } = await openPage(options);
  await page.goto(`${sim.url}/_sim`);
  await page.locator('#live.on').waitFor();
  return { sim, page, errors };
}

const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.id || document.activeElement.textContent');

/** Puts HTML on the page that it keeps when it is made anew. */
const put = (page: Page, html: string) =>
  page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend', ${JSON.stringify(html)})`);

describe('by keyboard', () => {
  test('j and k go from row to row, and Enter opens one', async () => {
    const { page, errors } = await listOfThree();
    await page.keyboard.press('k');
    expect(await focused(page)).toBe('order-3');
    for (const name of ['order-2', 'order-1', 'order-1']) {
      await page.keyboard.press('j');
      expect(await focused(page)).toBe(name);
    }
    await page.keyboard.press('k');
    expect(await focused(page)).toBe('order-2');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'order-2' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('a slash goes to the search, and a question mark shows the keys', async () => {
    const { page } = await listOfThree();
    if ((await page.locator('[data-search]').count()) === 0)
      await put(page, '<input id="search" data-search data-keep aria-label="Search">');
    if ((await page.locator('#shortcuts').count()) === 0)
      await put(page, '<details id="shortcuts" data-keep><summary>Keys</summary>j and k</details>');
    await page.keyboard.press('/');
    expect(await focused(page)).toBe('search');
    await page.keyboard.type('/j?');
    expect(await page.locator('#search').inputValue()).toBe('/j?');
    await page.locator('main').focus();
    await page.keyboard.press('?');
    expect(await page.locator('#shortcuts[open]').count()).toBe(1);
    await page.keyboard.press('?');
    expect(await page.locator('#shortcuts[open]').count()).toBe(0);
  });

  test('keys with a modifier are the browser’s', async () => {
    const { page } = await listOfThree();
    for (const modifier of ['Control', 'Alt', 'Meta']) await page.keyboard.press(`${modifier}+j`);
    expect(await page.locator('tbody a:focus').count()).toBe(0);
  });
});

describe('a row that is new', () => {
  test('flashes once, and only where it came by itself', async () => {
    const { sim, page } = await listOfThree();
    await page.evaluate(`
      flashed = [];
      addEventListener('animationstart', ({ target }) => flashed.push(target.textContent.slice(0, 7)));
    `);
    await sim.initiate({ ...ORDER, identifier: 'order-4' });
    await page.getByRole('link', { name: 'order-4' }).waitFor();
    await expect.poll(() => page.evaluate('flashed')).toEqual(['order-4']);
    await page.locator('tr.new').waitFor({ state: 'detached' });
    await page.getByLabel('Text').fill('order-1');
    await page.getByRole('link', { name: 'order-4' }).waitFor({ state: 'detached' });
    await page.getByLabel('Text').fill('');
    await page.getByRole('link', { name: 'order-4' }).waitFor();
    expect(await page.evaluate('flashed')).toEqual(['order-4']);
  });

  test('does not flash for who wants no motion', async () => {
    const { sim, page } = await listOfThree({ reducedMotion: 'reduce' });
    await sim.initiate({ ...ORDER, identifier: 'order-4' });
    await page.getByRole('link', { name: 'order-4' }).waitFor();
    const animation = await page
      .locator('tr', { hasText: 'order-4' })
      .evaluate((row) => row.ownerDocument.defaultView?.getComputedStyle(row).animationName);
    expect(animation).toBe('none');
  });
});

describe('a filter', () => {
  test('applies a moment after the last letter, and the field keeps the focus and its text', async () => {
    const { page, errors } = await listOfThree();
    let loads = 0;
    page.on('load', () => loads++);
    const text = page.getByLabel('Text');
    await text.pressSequentially('order-2');
    await page.getByRole('link', { name: 'order-1' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('link', { name: 'order-2' }).isVisible()).toBe(true);
    expect(new URL(page.url()).search).toBe('?text=order-2');
    await page.keyboard.type('2');
    await page.getByRole('link', { name: 'order-2' }).waitFor({ state: 'detached' });
    expect(await text.inputValue()).toBe('order-22');
    expect(loads).toBe(0);
    expect(errors).toEqual([]);
  });

  test('applies a choice at once, and stays what it is when something happens', async () => {
    const { sim, page } = await listOfThree();
    await sim.server.parts.payments.settle('order-1', { outcome: 'cancel', by: 'control' });
    await put(
      page,
      '<search data-keep><form method="get" action="/_sim"><select name="status" aria-label="Which"><option value="">any<option>canceled</select></form></search>',
    );
    await page.getByLabel('Which').selectOption('canceled');
    await page.getByRole('link', { name: 'order-2' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?status=canceled');
    await sim.server.parts.payments.settle('order-3', { outcome: 'cancel', by: 'control' });
    await page.getByRole('link', { name: 'order-3' }).waitFor();
    expect(await page.getByRole('link', { name: 'order-2' }).count()).toBe(0);
  });
});

describe('how long ago something was', () => {
  const at = Date.parse('2027-01-01T12:00:00Z');
  const html = `<p data-keep><time data-ago id="ago" datetime="${new Date(at).toISOString()}">59 s ago</time></p>`;

  test('is kept true by the emulator’s time', async () => {
    const { page } = await listOfThree();
    await put(page, html);
    const now = new Date(at + 59_000).toISOString();
    await page.evaluate(
      `{ const { dataset } = document.querySelector('main'); delete dataset.frozen; dataset.now = '${now}'; }`,
    );
    await page.getByText('1 min ago').waitFor();
  });

  test('stands where that is paused', async () => {
    const { page } = await listOfThree();
    await put(page, html);
    const now = new Date(at + 3_600_000).toISOString();
    await page.evaluate(
      `Object.assign(document.querySelector('main').dataset, { frozen: '', now: '${now}' })`,
    );
    await page.getByText('1 h ago').waitFor();
    // Another time that runs shows that seconds go by.
    await put(page, '<p data-keep><time data-runs id="runs" datetime="2027-01-01T00:00:00Z"></time></p>');
    await expect.poll(() => page.locator('#runs').textContent()).toMatch(/:(0[2-9]|[1-5]\d)$/);
    expect(await page.locator('#ago').textContent()).toBe('1 h ago');
  });
});
