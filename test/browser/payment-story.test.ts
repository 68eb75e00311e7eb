import { expect, test } from 'vitest';
import { openPage } from '../helpers/browser.ts';
import { payWithMistake } from '../helpers/busy.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

test('the page of a payment shows the request and response of every step, and runs until the next attempt', async () => {
  const receiver = await startReceiver(({ headers }) =>
    headers['x-gateway-sim-attempt'] === '1' ? { status: 500, body: 'no database' } : { body: 'thanks' },
  );
  const sim = await startSim({ ipnSchedule: ['8m'] });
  const id = await payWithMistake(sim, { ipn_url: `${receiver.url}/ipn` });
  await sim.server.parts.clock.move({ freeze: 'now' });
  const ipn = sim.server.parts.state.current.deliveriesOf(id)[0]?.id;
  const { page, errors } = await openPage();
  await page.goto(`${sim.url}/_sim/ui/payments/${id}`);
  const dots = page.locator('.dots .dot');
  expect(await dots.locator('> span').allInnerTexts()).toEqual([
    expect.stringMatching(/500$/),
    expect.stringMatching(/^due/),
  ]);
  // The last attempt is open. Links open every other step.
  const attempt = page.locator('[data-attempt]:visible');
  await attempt.getByText('no database').first().waitFor();
  const steps = page.locator('.steps summary');
  expect(await steps.locator('strong').allTextContents()).toEqual([
    ...['Initiated', 'Checkout opened', 'E-mail entered', 'Code refused', 'Settled', 'Browser redirected'],
  ]);
  const story = page.locator('.steps');
  await page.goto(`${page.url()}#step-code-refused-1`);
  await story.getByText('code = 111111').waitFor();
  await steps.filter({ hasText: 'Initiated' }).click();
  await story.getByText('identifier = order-1').waitFor();
  await story.getByText('"success": "ok"').waitFor();
  await story.getByText('Copy as curl').first().click();
  await story.getByText(/^curl '.*\/sandbox\/payment\/initiate'/).waitFor();
  await page.getByText(/The IPN came first: its attempt ended/).waitFor();
  await dots.filter({ hasText: 'due' }).click();
  await page.getByRole('button', { name: 'Run until this attempt' }).click();
  await attempt.getByText('thanks').first().waitFor();
  await page.waitForURL(`**#step-${ipn}-2`);
  expect(receiver.requests).toHaveLength(2);
  await page
    .getByRole('region', { name: 'Verdict' })
    .getByText(/^Delivered: your receiver answered 200/)
    .waitFor();
  await attempt.getByRole('button', { name: 'Resend' }).click();
  await page.waitForURL(`**#step-${ipn}-3`);
  await attempt.getByText('POST ').first().waitFor();
  expect(errors).toEqual([]);
});
