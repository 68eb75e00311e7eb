import fc from 'fast-check';
import { expect, it } from 'vitest';
import { requireTamperings } from '../../../src/contract/tampering.ts';
import { PLACES } from '../../../src/http/pages/dashboard/paths.ts';
import { readCard } from '../../../src/service/cards.ts';
import { pageOf } from '../../helpers/forms.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { CARD } from '../../helpers/records.ts';
import { ask, enter, ORDER, type Sim, startSim } from '../../helpers/sim.ts';

const textIn = (html: string) =>
  html
    .replace(/<span class="unseen">.*?<\/span>/gs, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
/** The rows of a table, each as the texts of its cells. */
const rowsOf = (html: string, id: string) => {
  const [table = ''] = new RegExp(`<section id="${id}".*?</section>`, 's').exec(html) ?? [];
  return table
    .split('<tr')
    .slice(2)
    .map((row) =>
      row
        .split(/<t[hd]\b/)
        .slice(1)
        .map((cell) => textIn(`<td${cell}`)),
    );
};
/** The number in an amount, such as $1,250.00. */
const numberIn = (amount = '') => Number(amount.replace(/[^\d.-]/g, ''));
/** The counts above a list, by name. */
const countsIn = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<span class="number">([\d,]+)<\/span>(.*?)<\/a>/gs)].map(
      ([, count = '', name = '']) => [textIn(name), numberIn(count)],
    ),
  );

const STEPS = {
  initiate: (sim, at) => sim.initiate({ ...ORDER, identifier: `order-${at}` }, at % 2 ? 'live' : 'sandbox'),
  code: async (sim, at) => {
    const checkout = await sim.initiate({ ...ORDER, identifier: `code-${at}` }, 'live');
    await fetch(checkout);
    await enter(checkout, 'email', { email: 'wallet@example.com' });
  },
  reject: (sim) =>
    fetch(`${sim.url}/sandbox/payment/initiate`, { method: 'POST', body: new URLSearchParams() }),
  'by hand': async ({ server }, at) => {
    const { url } = await startReceiver([{ status: at % 2 ? 400 : 200 }]);
    await server.parts.ipns.fire({
      to: url,
      identifier: 'hand',
      amount: '5',
      tamper: requireTamperings('amount'),
    });
  },
  card: async ({ server }, at) => {
    const { cards, merchants } = server.parts;
    await cards.issue(merchants.default, readCard({ fields: { ...CARD, amount: `${at}.50` }, text: '' }));
  },
  charge: async ({ server }, at) => {
    const [card] = server.parts.store.state.cards.values();
    const kind = at % 3 ? 'charge' : 'fund';
    if (card) await server.parts.cards.move(card.id, kind, { amount: `0.${at}1` }).catch(() => {});
  },
  wallet: ({ server }, at) => server.parts.wallets.fund('wal_poor_usd', `${at}.25`),
  fault: async ({ server }, at) =>
    server.parts.faults.set({ route: 'initiate', status: 503, identifier: `x-${at}`, times: 2 }),
  hit: (sim, at) =>
    fetch(`${sim.url}/sandbox/payment/initiate`, {
      method: 'POST',
      body: new URLSearchParams({ ...ORDER, public_key: sim.publicKey, identifier: `x-${at}` }),
    }),
  clock: ({ server }, at) => server.parts.clock.move({ advance: `${13 * at}m` }),
} as const satisfies Record<string, (sim: Sim, at: number) => Promise<unknown>>;

interface Listed<Item> {
  data: Item[];
}
const listed = async <Item>(sim: Sim, path: string) => (await ask<Listed<Item>>(sim, 'GET', path)).body.data;

async function compareRequests(sim: Sim): Promise<void> {
  const log = await listed<{ status: number; target: string }>(sim, '/requests?limit=200');
  const byHand = (
    await listed<{ paymentId: string | null; attempts: { responseStatus: number }[] }>(sim, '/ipns?limit=100')
  ).filter(({ paymentId }) => paymentId === null);
  const all = log.length + byHand.length;
  const of = (pattern: RegExp) => log.filter(({ target }) => pattern.test(target)).length;
  const html = await pageOf(sim, PLACES.requests.path);
  if (all === 0) return expect(html).toContain('No request yet');
  const [initiate, checkout] = [of(/initiate(?!\/)/), of(/checkout/)];
  expect(countsIn(html)).toMatchObject({
    all,
    initiate,
    checkout,
    IPN: byHand.length,
    cards: 0,
    other: all - initiate - checkout - byHand.length,
  });
  expect(textIn(html)).toContain(`1-${Math.min(50, all)} of ${all}`);
  const shown = rowsOf(html, 'request-list').map((cells) => numberIn(cells[1]));
  const statuses = [
    ...log.map(({ status }) => status),
    // Only the words for a rejected IPN have its status.
    ...byHand.map(({ attempts: [first] }) => (first?.responseStatus === 200 ? 0 : first?.responseStatus)),
  ];
  expect(shown.toSorted()).toEqual(statuses.toSorted());
}

async function compareCards(sim: Sim): Promise<void> {
  interface Card {
    id: string;
    title: string;
    availableBalance: string;
    amount: string;
    charges: string;
  }
  const cards = await listed<Card>(sim, '/cards?limit=100');
  const rows = rowsOf(await pageOf(sim, PLACES.cards.path), 'card-list');
  expect(rows.map((cells) => numberIn(cells[2]))).toEqual(cards.map((card) => Number(card.availableBalance)));
  for (const { id, availableBalance, amount, charges } of cards) {
    const { body } = await ask<{ transactions: { type: string; amount: string; charge: string }[] }>(
      sim,
      'GET',
      `/cards/${id}`,
    );
    const html = await pageOf(sim, `${PLACES.cards.path}/${id}`);
    const fact = (name: string) => numberIn(new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`).exec(html)?.[1]);
    const sum = numberIn(/<span class="sum">(.*?)<\/span>/.exec(html)?.[1]);
    expect([sum, fact('Initial amount'), fact('Charges')]).toEqual(
      [availableBalance, amount, charges].map(Number),
    );
    expect(rowsOf(html, 'transaction-list').map((cells) => [numberIn(cells[1]), numberIn(cells[2])])).toEqual(
      body.transactions.map((one) => [Number(one.type + one.amount), Number(one.charge)]),
    );
  }
}

async function compareCustomers(sim: Sim): Promise<void> {
  const html = await pageOf(sim, PLACES.settings.path);
  const wallets = await listed<{ balance: string }>(sim, '/wallets');
  const codes = await listed<{ code: string }>(sim, '/inbox');
  expect(rowsOf(html, 'wallet-list').map((cells) => numberIn(cells[2]))).toEqual(
    wallets.map(({ balance }) => Number(balance)),
  );
  expect(rowsOf(html, 'message-list').map((cells) => cells[1]?.split(' ')[0])).toEqual(
    codes.map(({ code }) => code),
  );
}

async function compareFaults(sim: Sim): Promise<void> {
  const html = await pageOf(sim, PLACES.settings.path);
  const faults = await listed<{ used: number; times?: number }>(sim, '/faults');
  expect(rowsOf(html, 'fault-list').map((cells) => Number(cells[1]))).toEqual(faults.map(({ used }) => used));
  const active = faults.filter(({ used, times = Infinity }) => used < times).length;
  expect(/(\d+) faults? active/.exec(html)?.[1]).toBe(active ? String(active) : undefined);
}

async function compareClock(sim: Sim): Promise<void> {
  const { body } = await ask<{ aheadMs: number }>(sim, 'GET', '/clock');
  const [, hours = 0, minutes = 0] =
    /Clock is (?:(\d+) h ?)?(?:(\d+) min)?.* ahead/.exec(await pageOf(sim, '/_sim')) ?? [];
  expect(Number(hours) * 60 + Number(minutes)).toBe(Math.round(body.aheadMs / 60_000));
}

it('the numbers of requests, cards, customers, faults and clock are those of the API, after any history', async () => {
  const step = fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[]));
  const history = fc.array(fc.tuple(step, fc.integer({ min: 1, max: 9 })), { minLength: 8, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const sim = await startSim();
      for (const [name, at] of steps) await STEPS[name](sim, at);
      for (const compare of [compareRequests, compareCards, compareCustomers, compareFaults, compareClock])
        await compare(sim);
    }),
    { numRuns: 8, seed: 46 },
  );
});
