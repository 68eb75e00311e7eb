import { describe, expect, test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { openPage } from '../helpers/browser.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

/** A customer paid, with a wrong code first; the receiver refuses the first IPN. The clock is paused afterwards. */
async function paidStory() {
  const receiver = await startReceiver(({ headers }) =>
    headers['x-gateway-sim-attempt'] === '1' ? { status: 500, body: 'no database' } : { body: 'thanks' },
  );
  const sim = await startSim({ ipnSchedule: ['8m'] });
  const { page, errors } = await openPage();
  const addresses = { ipn_url: `${receiver.url}/ipn`, success_url: `${receiver.url}/paid` };
  await page.goto(await sim.initiate({ ...ORDER, ...addresses, site_logo: `${sim.url}/_sim/ui/logo.svg` }));
  await page.getByLabel('E-mail').fill('test_mode@mail.com');
  await page.keyboard.press('Enter');
  for (const code of ['111111', '222666']) {
    await page.getByLabel('Verification code').fill(code);
    await page.keyboard.press('Enter');
    if (code === '111111') await page.getByRole('alert').waitFor();
  }
  await page.waitForURL('**/paid');
  await sim.server.parts.clock.move({ freeze: 'now' });
  const { id } = sim.server.parts.payments.require('order-1');
  const ipn = sim.server.parts.state.current.deliveriesOf(id)[0]?.id ?? '';
  return { sim, receiver, page, errors, path: `${sim.url}/_sim/ui/payments/${id}`, ipn };
}

describe('the story of a payment', () => {
  test('shows every step with both sides, and runs until the attempt that is due', async () => {
    const { page, errors, path, ipn, receiver } = await paidStory();
    await page.goto(path);
    const rows = page.locator('.waterfall .row');
    expect(await rows.locator('strong').allTextContents()).toEqual([
      ...['Initiated', 'Checkout opened', 'E-mail entered', 'Code refused', 'Settled'],
      ...['IPN attempt 1', 'Browser redirected', 'IPN due 2'],
    ]);
    // The last attempt is shown first; every other step by its link.
    const details = page.locator('.details:visible');
    await details.getByText('no database').first().waitFor();
    await rows.filter({ hasText: 'Code refused' }).click();
    await page.waitForURL('**#step-code-refused-1');
    await details.getByText('code = 111111').waitFor();
    expect(await details.count()).toBe(1);
    await rows.filter({ hasText: 'Initiated' }).click();
    await details.getByText('identifier = order-1').waitFor();
    await details.getByText('"success": "ok"').waitFor();
    await details.getByText('Copy as curl').click();
    await details.getByText(/^curl '.*\/sandbox\/payment\/initiate'/).waitFor();
    await page.getByText(/The IPN came first: its attempt ended/).waitFor();
    await rows.filter({ hasText: 'IPN due 2' }).click();
    await details.getByRole('button', { name: 'Run until this attempt' }).click();
    await details.getByText('thanks').first().waitFor();
    await page.waitForURL(`**#step-${ipn}-2`);
    expect(receiver.requests.filter(({ url }) => url === '/ipn')).toHaveLength(2);
    await page
      .getByRole('region', { name: 'Verdict' })
      .getByText(/^Your receiver took it: 200/)
      .waitFor();
    await details.getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL(`**#step-${ipn}-3`);
    await details.getByText('POST ').first().waitFor();
    expect(errors).toEqual([]);
  });

  test.each([
    ['light', 360],
    ['light', 1440],
    ['dark', 360],
    ['dark', 1440],
  ] as const)('can be read by everybody (%s, %d wide), and widens no page', async (colorScheme, width) => {
    const { page, path } = await paidStory();
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const hash of ['', '#step-initiated-1', '#step-redirected-1']) {
      await page.goto(path + hash);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
    }
  });

  test('needs no script', async () => {
    const { page: withScript, path, ipn } = await paidStory();
    await withScript.close();
    const { page } = await openPage({ javaScriptEnabled: false });
    await page.goto(path);
    await page.locator('.row', { hasText: 'Code refused' }).click();
    await page.getByText('code = 111111').waitFor();
    await page.locator('.row', { hasText: 'IPN due 2' }).click();
    await page.getByRole('button', { name: 'Run until this attempt' }).click();
    await page.locator(`#step-${ipn}-2 .details`).getByText('thanks').first().waitFor();
  });
});
