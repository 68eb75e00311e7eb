import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** The minified version, because every page has to parse it. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2 up to level AA, and axe's best practices. */
export const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules that a different theme or size can break. They take half the time of all rules. */
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

/** Loads axe into everything that a page opens from now on. Cheaper than one time for each page. */
export const addAxe = (page: Page) => page.addInitScript(SOURCE);

/**
 * The problems that axe-core finds in the current page, one text for each place.
 *
 * @param how the names or tags of rules, and the selector of the part to check
 */
export async function violationsOf(
  page: Page,
  { rules = ALL_RULES, within = 'html' }: { rules?: readonly string[]; within?: string } = {},
): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(SOURCE);
  const options = { runOnly: rules, resultTypes: ['violations'] };
  const run = `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`;
  const { violations } = await page.evaluate<{ violations: Finding[] }>(run);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}
