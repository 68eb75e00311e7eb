import { describe, expect, it } from 'vitest';
import { timestamp } from '../../src/contract/time.ts';
import type { Retention } from '../../src/domain/retention.ts';
import type { Delivery, Payment } from '../../src/domain/state.ts';
import { emptySnapshot } from '../../src/store/snapshot.ts';
import { Store } from '../../src/store/store.ts';
import { retainer } from '../../src/usecases/retention.ts';
import { dueDelivery, NOW, pendingPayment, records, state } from '../helpers/records.ts';

const template = pendingPayment(state());

function payment(number: number, changes: Partial<Payment> = {}): Payment {
  const settledAt = timestamp(NOW + number * 1_000);
  return { ...template, id: `pay_${number}`, status: 'succeeded', settledAt, settledBy: 'auto', ...changes };
}

function delivery(paymentId: string, isDue: boolean): Delivery {
  const changes = isDue ? {} : { state: 'delivered' as const, nextAttemptAt: null };
  return dueDelivery('http://127.0.0.1/', { id: `ipn_of_${paymentId}`, paymentId, ...changes });
}

const settled = (count: number) => Array.from({ length: count }, (_, number) => payment(number));

/** A store with this content and its retainer. `ids` returns the remaining payments. */
async function retained(
  retention: Retention,
  { payments, deliveries = [] }: { payments: Payment[]; deliveries?: Delivery[] },
) {
  const store = await Store.inMemory({ ...records(), payments, deliveries });
  const time = { now: NOW };
  const underWay = new Set<string>();
  const run = retainer({
    store,
    retention,
    clock: { now: () => time.now },
    courier: { isUnderWay: (id) => underWay.has(id) },
  });
  const ids = () => [...store.state.payments.values()].map(({ id }) => id);
  const put = (change: { payments?: Payment[]; deliveries?: Delivery[] }) =>
    store.commit(() => ({ change, result: null }));
  return { store, run, ids, put, time, underWay };
}

describe('a settled payment', () => {
  it('is kept if it is among the newest by time of settling, both at the start and later', async () => {
    // The store has payments in the order of initiation, not of settlement.
    const payments = [4, 1, 3].map((number) => payment(number));
    const { run, ids, put } = await retained({ count: 2 }, { payments });
    await run();
    expect(ids()).toEqual(['pay_4', 'pay_3']);
    await put({ payments: [payment(5), payment(6, { status: 'pending', settledAt: null })] });
    expect(ids()).toHaveLength(4);
    await run();
    expect(ids()).toEqual(['pay_4', 'pay_5', 'pay_6']);
    await put({ payments: [payment(6)] });
    await run();
    expect(ids()).toEqual(['pay_5', 'pay_6']);
  });

  it("is kept until its maximum age on the emulator's clock", async () => {
    const { run, ids, time } = await retained({ ageMs: 3_000 }, { payments: settled(5) });
    await run();
    expect(ids()).toHaveLength(5);
    time.now = NOW + 4_000;
    await run();
    expect(ids()).toEqual(['pay_2', 'pay_3', 'pay_4']);
  });

  it('is kept while an IPN is due or in progress, in addition to the newest payments', async () => {
    const deliveries = [delivery('pay_0', true), delivery('pay_1', false)];
    const { run, ids, put, underWay } = await retained({ count: 1 }, { payments: settled(4), deliveries });
    underWay.add('ipn_of_pay_1');
    await run();
    expect(ids()).toEqual(['pay_0', 'pay_1', 'pay_3']);
    await run();
    expect(ids()).toEqual(['pay_0', 'pay_1', 'pay_3']);
    underWay.clear();
    await run();
    expect(ids()).toEqual(['pay_0', 'pay_3']);
    await put({ deliveries: [delivery('pay_0', false)] });
    await run();
    expect(ids()).toEqual(['pay_3']);
  });

  it('is removed from a state that replaces another', async () => {
    const { store, run, ids } = await retained({ count: 1 }, { payments: settled(3) });
    const payments = [7, 8, 9].map((number) => payment(number));
    await store.replace({ ...emptySnapshot(), ...records(), payments });
    await run();
    expect(ids()).toEqual(['pay_9']);
  });

  it('is removed later if removing it failed', async () => {
    const { store, run, ids } = await retained({ count: 1 }, { payments: settled(3) });
    const { commit } = store;
    store.commit = () => Promise.reject(new Error('the disk is full'));
    await run();
    expect(ids()).toHaveLength(3);
    store.commit = commit;
    await run();
    expect(ids()).toEqual(['pay_2']);
  });
});
