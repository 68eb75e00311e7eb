import { Agent } from 'node:http';
import { launchBrowser, openPage } from '../../helpers/browser.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { ORDER } from '../../helpers/sim.ts';
import { send } from '../client.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { pick } from '../hostile-values.ts';
import { type Budget, trial } from '../trial.ts';

const CONNECTIONS = 4;
const PER_ROUND = 100;
/** Only one in this many requests creates a payment, to limit the growth of the state. */
const MAKES_A_PAYMENT = 5;
/**
 * Without payments, an emulator under load stays below 250 MiB. A payment takes 1.5 KB (page "Speed"), and up to twice
 * that before garbage collection.
 */
const ALONE_MIB = 250;
const PER_PAYMENT_KIB = 3;

/** The requests of a test suite and open dashboards. Pages are rare, because they take the most time. */
const READS = [
  ...Array.from({ length: 12 }, () => '/_sim/livez'),
  ...['/_sim/clock', '/_sim/clock', '/_sim/faults', '/_sim/status', '/_sim/payments?limit=5'],
  ...['/_sim/ipns?limit=5', '/_sim', '/_sim/ui/payments'],
];

/** Sends reads and new payments. @returns the ids of acknowledged payments */
async function load(budget: Budget, sim: Emulator, agent: Agent, ipnUrl: string): Promise<string[]> {
  const order = { ...ORDER, public_key: sim.publicKey, ipn_url: ipnUrl };
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = String(new URLSearchParams(order));
  const initiate = { method: 'POST', target: '/sandbox/payment/initiate', headers, body };
  const ids: string[] = [];
  for (let count = 0; count < PER_ROUND; count++) {
    const read = { method: 'GET', target: pick(READS, budget.below), headers: {}, body: '' };
    const request = budget.below(MAKES_A_PAYMENT) ? read : initiate;
    const answer = await send(budget, agent, sim.port, request);
    const text = answer?.body.toString('latin1') ?? '';
    if (answer && answer.status >= 500) budget.fail('5xx', `${answer.status}: ${text.slice(0, 300)}`);
    const [, id] = (request === initiate && /payment_id=(pay_\w+)/.exec(text)) || [];
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** Acts like a developer. The status of faults is below 500, to distinguish them from errors of the emulator. */
async function disturb({ control }: Emulator, round: number): Promise<void> {
  const rules = [
    { route: 'initiate', status: 429, probability: 0.2 },
    { route: 'ipn', duplicate: true, probability: 0.2 },
  ];
  await control('/faults', { faults: round % 2 ? [] : rules }, 'PUT');
  await control('/clock', { advance: '30s' });
  if (round % 10) return;
  const { id } = await control<{ id: string }>('/merchants', { name: 'Second shop' });
  await control(`/merchants/${id}/keys`, {});
}

trial(
  'a soak test with open dashboards, changing faults and a moving clock',
  { short: 800, least: 20_000, share: 9 },
  async (budget) => {
    const receiver = await startReceiver([{ body: 'OK' }]);
    const sim = await startEmulator(['--quiet'], 'folder');
    if (!budget.short) {
      const browser = await launchBrowser();
      await (await openPage({}, browser)).page.goto(sim.dashboardUrl);
    }
    const agent = new Agent({ keepAlive: true });
    const lanes = Array.from({ length: CONNECTIONS });
    let payments = 0;
    let [most, bound] = [0, 0];
    for (let round = 0; budget.more(); round++) {
      const made = (
        await Promise.all(lanes.map(() => load(budget, sim, agent, `${receiver.url}/ipn`)))
      ).flat();
      payments += made.length;
      const settled = made.slice(0, 5).map((id) =>
        sim.control<{ payment?: { status: string } }>(`/payments/${id}/settle`, {
          outcome: 'approve',
          delivery: 'redirect-then-ipn',
        }),
      );
      for (const { payment } of await Promise.all(settled)) {
        if (payment?.status !== 'succeeded')
          budget.fail('lost', `a settlement was answered ${JSON.stringify(payment)}`);
      }
      if (round % 5 === 0) await disturb(sim, round);
      most = Math.max(most, await sim.memory());
      bound = ALONE_MIB + (payments * PER_PAYMENT_KIB) / 1024;
      if (most > bound) budget.fail('other', `${most.toFixed(0)} MiB with ${payments} payments`);
      await sim.check(budget, `round ${round}`);
    }
    agent.destroy();
    await sim.control('/faults', { faults: [] }, 'PUT');
    await sim.control('/clock', { advance: '1h' });
    const { counts } = await sim.control<{ counts: { payments: Record<string, number> } }>('/status');
    const there = Object.values(counts.payments).reduce((sum, count) => sum + count, 0);
    if (there !== payments) budget.fail('lost', `${there} of ${payments} payments`);
    const { data: undelivered } = await sim.control<{ data: unknown[] }>('/ipns?state=failed');
    if (undelivered.length) budget.fail('lost', `${undelivered.length} IPNs were not delivered`);
    budget.note(`${payments} payments; at most ${most.toFixed(0)} MiB, of ${bound.toFixed(0)}`);
  },
);
