import { expect, test } from 'vitest';
import type { FaultRule } from '../../src/contract/fault.ts';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { openPage, picture, resize } from '../helpers/browser.ts';
import { startNaiveShop } from '../helpers/busy.ts';
import { misfits } from '../helpers/layout.ts';
import { type Answer, startReceiver } from '../helpers/receiver.ts';
import { ORDER, paid, type Sim, startSim } from '../helpers/sim.ts';

const SIZES = [
  [1280, 800],
  [360, 740],
] as const;

/** Brings a payment, order-1, into a state. */
type Make = (sim: Sim) => Promise<unknown>;

const answered =
  (...answers: Answer[]): Make =>
  async (sim) =>
    paid(sim, { ipn_url: `${(await startReceiver(answers)).url}/ipn` });
const underRule =
  (rule: Partial<FaultRule>, ...answers: Answer[]): Make =>
  async (sim) => {
    sim.server.parts.faults.set({ route: 'ipn', ...rule });
    await answered(...answers)(sim);
  };
const settled =
  (outcome: 'cancel' | 'fail' | 'expire'): Make =>
  async (sim) => {
    await sim.initiate(ORDER);
    await sim.server.parts.payments.settle('order-1', { outcome, by: 'control' });
  };

const STATES: Readonly<Record<string, Make>> = {
  delivered: answered({}),
  'wrong signature': async (sim) =>
    paid(sim, { amount: '49.90', ipn_url: `${(await startNaiveShop(() => sim.secretKey)).url}/ipn` }),
  '400': answered({ status: 400, body: '{"ok":false}' }),
  '500': answered({ status: 500, body: 'TypeError: order is undefined' }),
  hang: answered('hang'),
  unreachable: (sim) => paid(sim),
  redirect: answered({ status: 302, headers: { location: '/login' } }),
  'accepted forgery': async (sim) => {
    const { url } = await startReceiver([{}, {}]);
    await paid(sim, { ipn_url: `${url}/ipn` });
    await sim.server.parts.ipns.fire({
      payment: 'order-1',
      to: `${url}/ipn`,
      tamper: requireTamperings('amount'),
    });
  },
  'corrupted signature accepted': underRule({ corruptSignature: true }, {}),
  'corrupted body rejected': underRule({ truncate: true }, { status: 400 }),
  delayed: underRule({ delay: '1h' }, {}),
  failed: settled('fail'),
  canceled: settled('cancel'),
  expired: settled('expire'),
  'mixed attempts': async (sim) => {
    const { url } = await startReceiver([{ status: 302 }, 'drop', { status: 500 }, {}]);
    const { delivery } = await paid(sim, { ipn_url: `${url}/ipn` });
    for (let times = 0; times < 3; times++) await sim.server.parts.ipns.resend(delivery?.id ?? '');
  },
  'copies rejected': async (sim) => {
    const { url } = await startReceiver([{}, { status: 500 }, { status: 400 }]);
    const { delivery } = await paid(sim, { ipn_url: `${url}/ipn` });
    for (let times = 0; times < 2; times++) await sim.server.parts.ipns.resend(delivery?.id ?? '');
  },
  pending: (sim) => sim.initiate(ORDER),
};

/** What each state says in its headline, and who has to act. */
const SAYS: Readonly<Record<string, readonly [headline: RegExp, where: keyof typeof WHERE]>> = {
  delivered: [/^Delivered: your handler answered 200/, 'nobody'],
  'wrong signature': [/^Your handler signed 49\.9\. The IPN says 49\.90\.$/, 'handler'],
  '400': [/^Your handler rejected a genuine IPN \(400\)\.$/, 'handler'],
  '500': [/^Your handler failed \(500\)\.$/, 'handler'],
  hang: [/^Your handler did not answer in time\.$/, 'handler'],
  unreachable: [/^Your shop is not running at this address\.$/, 'shop'],
  redirect: [/^Your handler redirected to a login page/, 'handler'],
  'accepted forgery': [/^Your handler accepted a forged IPN\.$/, 'handler'],
  'corrupted signature accepted': [/^Your handler accepted an invalid signature\.$/, 'handler'],
  'corrupted body rejected': [/^Your rule changed the IPN, and your handler rejected it\.$/, 'rule'],
  delayed: [/^Delayed 1 h by your rule\.$/, 'rule'],
  failed: [/^Payment failed\. No IPN is sent for this\.$/, 'nobody'],
  canceled: [/^Payment canceled\./, 'nobody'],
  expired: [/^Payment expired\./, 'nobody'],
  'mixed attempts': [/^Delivered \(attempt 4\): your handler answered 200/, 'nobody'],
  pending: [/^The customer has not paid yet\.$/, 'nobody'],
  'copies rejected': [/^Your handler accepted the IPN, but not its copy \(400\)\.$/, 'handler'],
};
const WHERE = {
  shop: /^Your shop, http/,
  handler: /^Your handler, http/,
  rule: /^Your fault rule, not your handler$/,
  nobody: undefined,
};

test.each(Object.entries(STATES))('%s: what is wrong, whose it is and the fix', async (name, make) => {
  const sim = await startSim({ ipnTimeout: '1s' });
  await make(sim);
  const { page } = await openPage();
  const [headline, where] = SAYS[name] ?? [/./, 'nobody'];
  for (const [width, height] of SIZES) {
    await resize(page, { width, height });
    await page.goto(`${sim.url}/_sim/ui/payments/${sim.server.parts.payments.require('order-1').id}`);
    const verdict = page.locator('#verdict');
    const fact = (about: string) =>
      verdict
        .locator('dl > div', { has: page.locator('dt', { hasText: new RegExp(`^${about}$`) }) })
        .locator('dd');
    expect(await verdict.getByRole('heading').textContent()).toMatch(headline);
    const rows = [await fact('Where').allTextContents(), await fact('Fix').count()];
    const expected = WHERE[where];
    expect(rows).toEqual(expected ? [[expect.stringMatching(expected)], 1] : [[], expect.any(Number)]);
    if (name === 'mixed attempts')
      expect(await fact('Attempts').textContent()).toBe(
        'The first got 302. You resent it: no response, 500, 200.',
      );
    await picture(page, `state-${name.replaceAll(' ', '-')}-${width}`, 'in sight');
    expect(await misfits(page)).toEqual([]);
  }
});
