import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { openPage } from '../helpers/browser.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

/** The signature that a developer's code computes over an amount that it renders in its own way. */
function signature(body: string, secretKey: string, render: (amount: string) => string): string {
  const form = new URLSearchParams(body);
  const text = render(form.get('data[amount]') ?? '') + form.get('identifier');
  return createHmac('sha256', secretKey).update(text).digest('hex').toUpperCase();
}

describe('the verdict', () => {
  test('names the line that computes the wrong signature, and turns right when it is mended', async () => {
    const sim = await startSim();
    let render = (amount: string) => String(Number(amount));
    const receiver = await startReceiver(({ body }) => {
      const computed = signature(body, sim.secretKey, render);
      const isRight = new URLSearchParams(body).get('signature') === computed;
      return isRight ? { body: 'OK' } : { status: 400, body: `bad signature, expected ${computed}` };
    });
    await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
    const { id } = sim.server.parts.state.current.findPayment('order-1') ?? { id: '' };
    await sim.server.parts.payments.settle(id, { outcome: 'approve', by: 'control' });
    const { page, errors } = await openPage();
    await page.goto(`${sim.url}/_sim/ui/payments/${id}`);
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict.getByText(/Your code signed .* 49\.9 was signed, but data\.amount is 49\.90/).waitFor();
    expect(await verdict.locator('mark').allTextContents()).toEqual(['0']);
    expect(await verdict.getByText('hash_hmac').isVisible()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    render = (amount) => amount;
    await verdict.getByRole('button', { name: 'Send again' }).click();
    await verdict.getByText(/^Your receiver took it: 200/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('says in red that a forged copy was accepted', async () => {
    const sim = await startSim();
    const receiver = await startReceiver([{}]);
    await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
    const { id } = sim.server.parts.state.current.findPayment('order-1') ?? { id: '' };
    const { delivery } = await sim.server.parts.payments.settle(id, { outcome: 'approve', by: 'control' });
    const { page } = await openPage();
    await page.goto(`${sim.url}/_sim/ui/ipns/${delivery?.id}`);
    await page.getByLabel('What is forged').selectOption('amount');
    await page.getByRole('button', { name: 'Send a forged copy' }).click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict.getByText('Your receiver accepted a forged IPN (amount 49.90 → 949.90).').waitFor();
    expect(await verdict.getAttribute('data-verdict')).toBe('bad');
    expect(await violationsOf(page)).toEqual([]);
  });
});
