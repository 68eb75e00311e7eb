import { expect, test } from 'vitest';
import { openPage } from '../helpers/browser.ts';
import { payWithMistake } from '../helpers/busy.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

test('the story of a payment shows every step with both sides, and runs until the attempt that is due', async () => {
  const receiver = await startReceiver(({ headers }) =>
    headers['x-gateway-sim-attempt'] === '1' ? { status: 500, body: 'no database' } : { body: 'thanks' },
  );
  const sim = await startSim({ ipnSchedule: ['8m'] });
  const id = await payWithMistake(sim, { ipn_url: `${receiver.url}/ipn` });
  await sim.server.parts.clock.move({ freeze: 'now' });
  const ipn = sim.server.parts.state.current.deliveriesOf(id)[0]?.id;
  const { page, errors } = await openPage();
  await page.goto(`${sim.url}/_sim/ui/payments/${id}`);
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
  expect(receiver.requests).toHaveLength(2);
  await page
    .getByRole('region', { name: 'Verdict' })
    .getByText(/^Delivered: your receiver answered 200/)
    .waitFor();
  await details.getByRole('button', { name: 'Send again' }).click();
  await page.waitForURL(`**#step-${ipn}-3`);
  await details.getByText('POST ').first().waitFor();
  expect(errors).toEqual([]);
});
