import fc from 'fast-check';
import { expect, it } from 'vitest';
import { COLLECTION_NAMES } from '../../src/contract/state.ts';
import type { Snapshot } from '../../src/store/snapshot.ts';
import { character } from '../helpers/characters.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { CARD, fullSnapshot } from '../helpers/records.ts';
import { enter, ORDER, type Sim, startSim } from '../helpers/sim.ts';

const json = { 'Content-Type': 'application/json' };

async function exported({ url }: Sim): Promise<string> {
  return (await fetch(`${url}/_sim/snapshot`)).text();
}

async function imported({ url }: Sim, text: string): Promise<void> {
  const answer = await fetch(`${url}/_sim/snapshot`, { method: 'PUT', headers: json, body: text });
  expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
}

async function posted(url: string, body: string | URLSearchParams, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  expect(answer.status).toBeLessThan(400);
  return answer;
}

const control = ({ url }: Sim, path: string, body: object) =>
  posted(`${url}/_sim${path}`, JSON.stringify(body), json);

/** Starts an emulator and creates a record of every kind. */
async function busy(): Promise<Sim> {
  const sim = await startSim({ ipnSchedule: ['1h'], currency: ['NPR:Rs'] });
  // A paused clock delays automatic settlement.
  await control(sim, '/clock', { freeze: 'now' });
  await control(sim, '/clock', { advance: '90m' });
  const receiver = await startReceiver([{ status: 500, body: 'Zoë 😀 \u2028' }]);
  const order = { ...ORDER, ipn_url: `${receiver.url}/ipn`, details: '"\\\u2028\n Zoë 😀' };
  const live = await sim.initiate(order, 'live');
  expect((await enter(live, 'email', { email: 'wallet@example.com' })).status).toBe(303);
  await control(sim, '/payments/order-1/settle', { outcome: 'approve' });
  await sim.initiate({ ...ORDER, identifier: 'npr', currency: 'NPR' });
  await sim.initiate({ ...ORDER, identifier: 'auto', customer_email: 'approve@gateway-sim.test' });
  await sim.initiate({ ...ORDER, identifier: 'off', customer_email: 'cancel@gateway-sim.test' });
  const key = { ...json, Authorization: `Bearer ${sim.secretKey}` };
  await posted(`${sim.url}/api/cards/save`, JSON.stringify(CARD), key);
  const { data } = await sim.control<{ data: { id: string }[] }>('/cards');
  await control(sim, `/cards/${data[0]?.id}/transactions`, { type: 'charge', amount: '1.50' });
  await control(sim, '/ipns', { to: `${receiver.url}/by-hand`, tamper: 'signature' });
  return sim;
}

it('exports the same bytes after an import with every kind of record, and scheduled events happen', async () => {
  const sim = await busy();
  const state = await exported(sim);
  const parsed = JSON.parse(state) as Snapshot;
  expect(COLLECTION_NAMES.filter((name) => !parsed[name].length)).toEqual([]);
  await imported(sim, state);
  expect(await exported(sim)).toBe(state);
  // This emulator's clock was not moved, and it has no option for the currency.
  const other = await startSim();
  await other.initiate({ ...ORDER, identifier: 'gone' });
  await imported(other, state);
  expect(await exported(other)).toBe(state);
  expect(await other.control('/requests')).toMatchObject({ data: [] });
  await control(other, '/clock', { advance: '2h' });
  const { payments, attempts } = JSON.parse(await exported(other)) as Snapshot;
  expect(payments.find(({ identifier }) => identifier === 'auto')?.status).toBe('succeeded');
  expect(attempts.length).toBeGreaterThan(parsed.attempts.length);
});

it('exports a handwritten state with any text as the same bytes from its second export on', async () => {
  const sim = await startSim();
  const text = fc.string({ unit: character, maxLength: 20 });
  const written = fc.record({
    text,
    wrongCodes: fc.option(fc.nat(5), { nil: undefined }),
    expiresAt: fc.option(fc.constant('2030-01-01T00:00:00.000Z'), { nil: null }),
    body: fc.option(text, { nil: null }),
    headers: fc.array(fc.tuple(text, text), { maxLength: 3 }),
    isTurned: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(written, async ({ text, wrongCodes, expiresAt, body, headers, isTurned }) => {
      const state = fullSnapshot();
      const changed = {
        ...state,
        payments: state.payments.map((one) => ({
          ...one,
          details: text,
          expiresAt,
          warnings: [text],
          ...(wrongCodes !== undefined && { wrongCodes }),
        })),
        attempts: state.attempts.map((one) => ({ ...one, responseBody: body, responseHeaders: headers })),
        wallets: state.wallets.map((one) => ({ ...one, holder: text })),
        cards: state.cards.map((one) => ({ ...one, title: text })),
      };
      // A handwritten state may have its lists in any order.
      const given = isTurned ? Object.fromEntries(Object.entries(changed).reverse()) : changed;
      await imported(sim, JSON.stringify(given));
      const first = await exported(sim);
      expect(JSON.parse(first).payments).toEqual(JSON.parse(JSON.stringify(changed.payments)));
      await imported(sim, first);
      expect(await exported(sim)).toBe(first);
    }),
    { numRuns: 25 },
  );
});
