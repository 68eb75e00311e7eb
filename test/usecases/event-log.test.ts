import { describe, expect, it } from 'vitest';
import { recordAttempt } from '../../src/domain/delivery.ts';
import { Store } from '../../src/store/store.ts';
import { Clock } from '../../src/system/clock.ts';
import { EventLog, type SimEvent } from '../../src/usecases/event-log.ts';
import { gate } from '../helpers/receiver.ts';
import { context, dueDelivery, pendingPayment, REPORT, records, state } from '../helpers/records.ts';

const REQUEST = {
  at: '2026-01-15T10:30:00.123Z',
  method: 'POST',
  target: '/payment/initiate',
  requestBody: null,
  status: 200,
  responseBody: null,
  durationMs: 1,
  paymentId: null,
  fault: null,
  notes: [],
};

const newLog = async () => new EventLog(await Store.inMemory(records()), new Clock(), 'run');

function eventsOf(log: EventLog): SimEvent[] {
  const all: SimEvent[] = [];
  for (let event = log.after(0); event; event = log.after(event.seq)) all.push(event);
  return all;
}

describe('the request log', () => {
  it('keeps the newest 1,000 small requests with their events', async () => {
    const log = await newLog();
    for (let number = 1; number <= 5_000; number++) {
      log.record({ ...REQUEST, requestHeaders: {} });
      const kept = log.requests();
      const oldest = kept[Math.min(number, 1_000) - 1];
      expect([kept[0]?.id, oldest?.id]).toEqual([number, Math.max(number - 999, 1)]);
      expect(kept.length).toBeLessThan(2_000);
    }
    expect(eventsOf(log).length).toBe(log.requests().length);
  });
});

it('a payment is reported after the request that created it, and before its next change', async () => {
  const store = await Store.inMemory(records());
  const log = new EventLog(store, new Clock(), 'run');
  const [first, second] = [log.nextRequestId(), log.nextRequestId()];
  const payment = (id: string, requestId: number) =>
    pendingPayment(state(), { id, requestId: log.storedRequestId(requestId) });
  const put = (one: ReturnType<typeof payment>) =>
    store.commit(() => ({ change: { payments: [one] }, result: null }));
  await put(payment('pay_1', first));
  expect(eventsOf(log)).toEqual([]);
  log.record({ ...REQUEST, id: first, requestHeaders: {} });
  await put(payment('pay_2', second));
  await put({ ...payment('pay_2', second), status: 'canceled' });
  log.record({ ...REQUEST, id: second, requestHeaders: {} });
  expect(eventsOf(log).map(({ type }) => type)).toEqual([
    'request',
    'payment',
    'payment',
    'payment',
    'request',
  ]);
});

it('an attempt is reported when it is known what it changed in the shop', async () => {
  const delivery = dueDelivery('http://localhost/ipn');
  const store = await Store.inMemory({ ...records(), deliveries: [delivery] });
  const known = gate();
  const log = new EventLog(store, new Clock(), 'run', () => known.opened);
  await store.commit((state) => recordAttempt(state, delivery.id, REPORT, context()));
  expect(eventsOf(log)).toEqual([]);
  known.open();
  await known.opened;
  expect(eventsOf(log)).toMatchObject([{ type: 'delivery', step: 'attempted' }]);
});
