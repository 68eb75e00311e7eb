import { describe, expect, it } from 'vitest';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { type Sim, startSim } from '../../../helpers/sim.ts';

const FORM = '/_sim/ui/new-payment';
const newest = async (sim: Sim) =>
  (await sim.control<{ data: Record<string, unknown>[] }>('/payments')).data[0];

describe('a new payment on the dashboard', () => {
  it('has a single button on the list, even if that is empty', async () => {
    const sim = await startSim();
    const links = async () => (await pageOf(sim, '/_sim')).match(/<a [^>]*>New payment<\/a>/g);
    expect(await links()).toEqual([`<a class="button" href="${FORM}">New payment</a>`]);
    await postForm(sim, FORM);
    expect(await links()).toHaveLength(1);
    expect(await newest(sim)).toMatchObject({ checkoutTheme: 'light' });
  });

  it('is created with the same defaults as on the command line, and opens its page', async () => {
    const sim = await startSim();
    const html = await pageOf(sim, FORM);
    expect(html).toContain('>Create payment</button>');
    const fields = Object.fromEntries(
      [...html.matchAll(/<input id="field-\w+" name="(\w+)" type="\w+" value="([^"]*)"/g)].map(
        ([, name = '', value = '']) => [name, value],
      ),
    );
    expect(fields).toMatchObject({ amount: '100.00', ipn_url: 'http://localhost:3000/ipn' });
    const answer = await postForm(sim, FORM, { ...fields, mode: 'sandbox', identifier: '' });
    const payment = await newest(sim);
    expect([answer.status, answer.location]).toEqual([303, `/_sim/ui/payments/${payment?.['id']}`]);
    expect(payment).toMatchObject({
      ...{ amount: '100.00', currency: 'USD', mode: 'sandbox', status: 'pending', warnings: [] },
      identifier: expect.stringMatching(/^sim-/),
      successUrl: `${sim.url}/_sim/ui/paid`,
    });
    expect((await sim.control<{ data: unknown[] }>('/requests')).data).toMatchObject([
      { method: 'POST', target: '/sandbox/payment/initiate', status: 200, paymentId: payment?.['id'] },
    ]);
  });

  it('uses the entered values, live mode and another merchant', async () => {
    const sim = await startSim();
    const other = await sim.server.parts.merchants.add('Second Shop');
    expect(await pageOf(sim, FORM)).toContain('Second Shop');
    const given = { identifier: 'order-7', amount: '49.90', currency: 'EUR', checkout_theme: 'dark' };
    await postForm(sim, FORM, { ...given, mode: 'live', merchant: other.id });
    expect(await newest(sim)).toMatchObject({
      ...{ identifier: 'order-7', amount: '49.90', currency: 'EUR', checkoutTheme: 'dark' },
      ...{ mode: 'live', merchantId: other.id },
    });
  });

  it.each([
    [{ amount: '-1' }, 422, 'amount must be a plain decimal greater than 0'],
    [{ mode: 'test' }, 422, 'mode must be one of sandbox, live'],
    [{ merchant: 'nobody' }, 404, 'nobody'],
  ])('is rejected with an explanation and keeps the input: %j', async (wrong, status, problem) => {
    const sim = await startSim();
    const answer = await postForm(sim, FORM, { identifier: 'order-8', ...wrong });
    expect(answer.status).toBe(status);
    expect(answer.html).toMatch(/role="alert"/);
    expect(answer.html).toContain(problem);
    expect(answer.html).toContain('value="order-8"');
    expect(await newest(sim)).toBeUndefined();
  });

  it('fails under active faults, and names them', async () => {
    const sim = await startSim({ errorStatus: 'http' });
    sim.server.parts.faults.set({ route: 'initiate', status: 503, times: 1 });
    const answer = await postForm(sim, FORM);
    expect([answer.status, answer.html.includes('your fault rule applied: status 503')]).toEqual([422, true]);
    sim.server.parts.faults.set({ route: 'initiate', drop: true });
    expect((await postForm(sim, FORM)).html).toContain('your fault rule applied: connection dropped');
  });
});
