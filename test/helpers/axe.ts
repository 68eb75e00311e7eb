import { source } from 'axe-core';
import type { Page } from 'playwright-core';

/** WCAG 2.2 up to level AA, and what the makers of axe call best practice. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Finding {
  id: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

/** What axe-core finds wrong with a page as it stands: one text for each place, empty when all is well. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] })`;
  const { violations } = await page.evaluate<{ violations: Finding[] }>(run);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}
