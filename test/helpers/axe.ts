import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** Minified: it is read anew by every page. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2 up to level AA, and what the makers of axe call best practice. */
const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What another theme or size can break of a page that was looked at: half of the time. */
export const OF_LOOKS = [
  'color-contrast',
  'target-size',
  'link-in-text-block',
  'scrollable-region-focusable',
];

interface Finding {
  id: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

const seen = new WeakSet<Page>();

/**
 * What axe-core finds wrong with a page as it stands: one text for each place, empty when all is well.
 *
 * @param how by which rules, named or tagged, and at what of the page, by its selector
 */
export async function violationsOf(
  page: Page,
  { rules = ALL, within = 'html' }: { rules?: readonly string[]; within?: string } = {},
): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    await page.evaluate(SOURCE);
    // Who looks again after the page was loaded anew will do so often.
    if (seen.has(page)) await page.addInitScript(SOURCE);
    seen.add(page);
  }
  const options = { runOnly: rules, resultTypes: ['violations'] };
  const run = `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`;
  const { violations } = await page.evaluate<{ violations: Finding[] }>(run);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}
