import { expect, test } from 'vitest';
import { openPage, resize } from '../helpers/browser.ts';
import { startSim } from '../helpers/sim.ts';

/** The number of characters in each full line of the paragraphs of a page. */
const LINE_LENGTHS = `[...document.querySelectorAll('.doc > p')].flatMap((paragraph) => {
  const range = document.createRange();
  const lengths = [];
  let [top, count] = [undefined, 0];
  const texts = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    for (let index = 0; index < node.length; index++) {
      range.setStart(node, index);
      range.setEnd(node, index + 1);
      const box = range.getBoundingClientRect();
      if (top === undefined || box.top > top + box.height / 2) {
        if (count) lengths.push(count);
        [top, count] = [box.top, 0];
      }
      count++;
    }
  }
  return lengths;
})`;

test('lines of the documentation have about 75 characters, and a search leads to a section', async () => {
  const sim = await startSim();
  const { page, errors } = await openPage();
  await resize(page, { width: 1440, height: 900 });
  await page.goto(`${sim.url}/_sim/ui/docs/audit.md`);
  const lengths = (await page.evaluate(LINE_LENGTHS)) as number[];
  expect(lengths.length).toBeGreaterThan(20);
  const mean = lengths.reduce((sum, one) => sum + one, 0) / lengths.length;
  expect(mean).toBeGreaterThan(65);
  expect(mean).toBeLessThanOrEqual(75);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(85);

  await page.goto(`${sim.url}/_sim/ui/docs`);
  await page.getByLabel('Find in the documentation').fill('flask');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByRole('link', { name: 'Start here: Flask', exact: true }).click();
  await page.getByRole('heading', { name: 'Start here: Flask' }).waitFor();
  expect(errors).toEqual([]);
});
