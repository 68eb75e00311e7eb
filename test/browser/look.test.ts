import { test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { launchBrowser, openPage } from '../helpers/browser.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

test('look', async () => {
  const chromium = await launchBrowser();
  const sim = await startSim({ ipnSchedule: ['30s'] });
  const receiver = await startReceiver();
  const common = { currency: 'USD', details: 'Two paperbacks', success_url: 'http://localhost:3000/ok', cancel_url: 'http://localhost:3000/no', site_logo: 'http://localhost:3000/l.png', customer_name: 'Ada', customer_email: 'wallet@example.com' };
  const paths = ['/_sim', '/_sim/ui/ipns', '/_sim/ui/cards', '/_sim/ui/keys', '/_sim/ui/requests', '/_sim/ui/inbox', '/_sim/ui/faults', '/_sim/ui/clock', '/_sim/ui/reference'];
  const shoot = async (name: string, list: string[]) => {
    for (const [device, width] of [['desktop', 1280], ['phone', 360]] as const)
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, errors } = await openPage(chromium.browser, { viewport: { width, height: 800 }, colorScheme });
        for (const path of list) {
          await page.goto(sim.url + path);
          await page.screenshot({ path: `/tmp/look/${name}-${path.split('/')[3] ?? 'payments'}${path.split('/')[4] ? '-one' : ''}-${device}-${colorScheme}.png`, fullPage: true });
          const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
          const found = await violationsOf(page);
          if (found.length || wide || errors.length) console.log(device, colorScheme, path, wide ? 'WIDE' : '', found.slice(0, 4), errors);
        }
      }
  };
  await shoot('empty', paths);
  for (let i = 0; i < 12; i++) await sim.initiate({ ...common, amount: `${i + 1}0.00`, identifier: `order-${i}`, ipn_url: i % 3 ? receiver.url : 'http://127.0.0.1:9/ipn' }, i % 4 ? 'sandbox' : 'live');
  const all = ['approve', 'cancel', 'fail', 'approve', 'approve', 'expire', 'approve', 'approve'];
  for (const [i, outcome] of all.entries()) await sim.server.parts.gateway.settle(`order-${i}`, { outcome: outcome as 'approve', by: 'control' });
  const live = [...sim.server.parts.gateway.state.payments.values()].find((p) => p.mode === 'live' && p.status === 'pending');
  if (live) await sim.server.parts.gateway.enterEmail(live, 'wallet@example.com');
  const { data } = await sim.control<{ data: { id: string; identifier: string }[] }>('/payments');
  const ipns = await sim.control<{ data: { id: string }[] }>('/ipns');
  const reqs = await sim.control<{ data: { id: string }[] }>('/requests');
  const merchant = [...sim.server.parts.gateway.state.merchants.values()][0]!;
  const card = await sim.server.parts.cards.issue(merchant, { fields: { currency_code: 'USD', title: 'Travel', name_on_card: 'Ada Example', email: 'ada@example.com', amount: '250.00' } });
  await sim.server.parts.cards.move(card.id, 'charge', { amount: '12.50', details: 'Coffee' });
  sim.server.parts.faults.set({ route: 'initiate', status: 503, times: 2 });
  await sim.server.parts.clock.freeze();
  await shoot('full', [...paths, `/_sim/ui/payments/${data[0]?.id}`, `/_sim/ui/payments/${data.find((p) => p.identifier === 'order-0')?.id}`, `/_sim/ui/ipns/${ipns.data.at(-1)?.id}`, `/_sim/ui/cards/${card.id}`, `/_sim/ui/requests/${reqs.data[0]?.id}`]);
  await chromium.close();
});
