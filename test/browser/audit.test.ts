import { expect, test } from 'vitest';
import { htmlReport } from '../../src/audit/reports.ts';
import { prepareAudit } from '../helpers/auditable.ts';
import { OF_LOOKS, violationsOf } from '../helpers/axe.ts';
import { openPage, picture, resize, withBrowser } from '../helpers/browser.ts';
import { misfits } from '../helpers/layout.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';

withBrowser();

const LOOKS = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 600 },
  { colorScheme: 'dark', width: 360 },
] as const;

test('the HTML report shows the mistakes and their fixes, fits and is accessible', async () => {
  const { shop, audit } = await prepareAudit({ isAmount: () => true });
  const report = await audit({ only: IS_RELEASE ? ['amount', 'merchant', 'A', 'L'] : ['amount'] });
  const { page, errors } = await openPage();
  await page.setContent(htmlReport(report, shop.ipnUrl));
  await page.getByRole('heading', { name: 'Not safe: ' }).waitFor();
  const mistake = page.locator('#mistake-amount-not-compared');
  expect(await mistake.getByText('PHP', { exact: true }).isVisible()).toBe(true);
  expect(await page.locator('#amount-too-low').getByText('and the order is paid').isVisible()).toBe(true);
  for (const { colorScheme, width } of sample(LOOKS, (look) => look.width === 1440 || look.width === 360)) {
    await page.emulateMedia({ colorScheme });
    await resize(page, { width, height: 800 });
    if (width === 1440) await picture(mistake, 'docs-audit');
    const how = colorScheme === 'light' ? {} : { rules: OF_LOOKS };
    expect([width, ...(await misfits(page)), ...(await violationsOf(page, how))]).toEqual([width]);
  }
  expect(errors).toEqual([]);
});
