import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FaultRule } from '../../src/contract/fault.ts';
import { timestamp } from '../../src/contract/time.ts';
import { Courier } from '../../src/delivery/courier.ts';
import { Egress } from '../../src/delivery/egress.ts';
import { Poster } from '../../src/delivery/poster.ts';
import { headerPairs } from '../../src/delivery/sender.ts';
import { Faults } from '../../src/domain/faults.ts';
import type { Context } from '../../src/domain/settings.ts';
import type { Delivery } from '../../src/domain/state.ts';
import { composer } from '../../src/service/ipn.ts';
import { Store } from '../../src/store/store.ts';
import { Clock } from '../../src/system/clock.ts';
import { VERSION } from '../../src/system/package-info.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { gate, type Receiver, startReceiver } from '../helpers/receiver.ts';
import { context, countingIds, dueDelivery, records, type SettingsChanges } from '../helpers/records.ts';

/** The deliveries of one test, with sequential ids. By default, each has its own payment. */
function deliveries(): (url: string, changes?: Partial<Delivery>) => Delivery {
  const using: Context = { ...context(), now: Date.now(), ids: countingIds() };
  return (url, changes) => dueDelivery(`${url}/ipn`, changes, using);
}

interface Options {
  faults?: readonly FaultRule[];
  ipn?: SettingsChanges['ipn'];
  store?: Store;
  around?: <Result>(id: string, run: () => Promise<Result>) => Promise<Result>;
}

/** A running courier on a store with these deliveries. */
async function running(due: Delivery[], { ipn = {}, faults = [], ...options }: Options = {}) {
  const store = options.store ?? (await Store.inMemory({ ...records(), deliveries: due }));
  const clock = new Clock();
  const { settings } = context({ ipn: { schedule: [], ...ipn } });
  const ids = countingIds();
  const courier = new Courier({
    store,
    clock,
    poster: new Poster(new Egress([], () => undefined), {}),
    context: () => ({ now: clock.now(), ids, settings, ipn: composer }),
    faults: new Faults({ fraction: () => 0, initial: faults }),
    onWaiting: () => {},
    ...(options.around && { around: options.around }),
  });
  const watchers: (() => void)[] = [];
  store.onChange(() => {
    for (const check of watchers) check();
  });
  courier.start();
  const stop = () => {
    courier.stop();
    clock.stop();
  };
  onTestFinished(stop);
  /** Resolves with the delivery as soon as it is no longer pending. */
  const done = ({ id }: Delivery) =>
    new Promise<Delivery>((resolve) => {
      const check = () => {
        const delivery = store.state.deliveries.get(id);
        if (delivery && delivery.state !== 'pending') resolve(delivery);
      };
      watchers.push(check);
      check();
    });
  return { store, courier, clock, done, stop };
}

const put = (delivery: Delivery) => () => ({ change: { deliveries: [delivery] }, result: null });
const inMs = (ms: number) => timestamp(Date.now() + ms);

/** The values of this header in all requests, in order. */
const sent = ({ requests }: Receiver, header: 'delivery' | 'attempt') =>
  requests.map(({ headers }) => headers[`x-gateway-sim-${header}`]);

describe('a due delivery', () => {
  it('is sent with the documented headers and bytes, and its request and response are stored', async () => {
    const receiver = await startReceiver([{ status: 200, body: 'OK' }]);
    const delivery = deliveries()(receiver.url);
    const { store, done } = await running([delivery]);
    const delivered = { state: 'delivered', attemptCount: 1, nextAttemptAt: null };
    expect(await done(delivery)).toMatchObject(delivered);
    const [got] = receiver.requests;
    expect(got).toMatchObject({ method: 'POST', url: '/ipn', body: delivery.body });
    expect(got?.headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(delivery.body)),
      'user-agent': `gateway-sim/${VERSION}`,
      'x-gateway-sim': '1',
      'x-gateway-sim-delivery': delivery.id,
      'x-gateway-sim-attempt': '1',
    });
    const [attempt] = store.state.attemptsOf(delivery.id);
    expect(attempt).toMatchObject({
      number: 1,
      requestBody: delivery.body,
      responseStatus: 200,
      responseBody: 'OK',
      failure: null,
    });
    const named = (list: readonly (readonly string[])[]) =>
      list.map(([name, value]) => `${name?.toLowerCase()}: ${value}`).sort();
    expect(named(attempt?.requestHeaders ?? [])).toEqual(named(headerPairs(got?.rawHeaders ?? [])));
  });

  it('is stored before what watches its attempt ends, and is not sent again if that fails', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const [one, fence] = [make(receiver.url), make(receiver.url)];
    const watched = gate();
    const { store, done } = await running([one], {
      around: async (_, run) => {
        await run();
        await watched.opened;
        throw new Error('it cannot be watched');
      },
    });
    expect(await done(one)).toMatchObject({ state: 'delivered', attemptCount: 1 });
    watched.open();
    await store.commit(put(fence));
    await done(fence);
    expect(sent(receiver, 'delivery')).toEqual([one.id, fence.id]);
  });

  it('is sent once, even if it is committed several times', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const [one, fence] = [make(receiver.url), make(receiver.url)];
    const { store, done } = await running([one]);
    await Promise.all([store.commit(put(one)), store.commit(put(one)), store.commit(put(one))]);
    await done(one);
    await store.commit(put(fence));
    await done(fence);
    expect(sent(receiver, 'delivery')).toEqual([one.id, fence.id]);
  });
});

describe('the due time of a delivery', () => {
  it('can become earlier, for example by a resend', async () => {
    const receiver = await startReceiver();
    const later = deliveries()(receiver.url, { nextAttemptAt: inMs(3_600_000) });
    const { store, done } = await running([later]);
    await store.commit(put({ ...later, nextAttemptAt: inMs(0) }));
    expect(await done(later)).toMatchObject({ state: 'delivered', attemptCount: 1 });
    expect(receiver.requests).toHaveLength(1);
  });

  it('is dropped on a reset, even during an attempt', async () => {
    const held = gate();
    const receiver = await startReceiver([{ after: held.opened }, {}]);
    const make = deliveries();
    const [lost, fence] = [make(receiver.url), make(receiver.url)];
    const { store, courier, done } = await running([lost]);
    const ended = courier.attemptAfter(0, lost.id, 10_000);
    await receiver.request(1);
    await store.replace(records());
    held.open();
    await ended;
    await store.commit(put(fence));
    await done(fence);
    expect(store.state.deliveries.get(lost.id)).toBeUndefined();
    expect(store.state.attempts.size).toBe(1);
  });
});

it('a delivery that a fault rule postponed has the other effects of that rule, even after a restart', async () => {
  const rule: FaultRule = { route: 'ipn', delay: '1h', status: 503 };
  const postponed = deliveries()('http://127.0.0.1:1', { postponedBy: rule });
  const { store, done } = await running([postponed], { faults: [{ route: 'ipn', delay: '1h' }] });
  expect(await done(postponed)).toMatchObject({ state: 'failed', postponedBy: null });
  const { delay: _, ...rest } = rule;
  expect(store.state.attemptsOf(postponed.id)).toMatchObject([{ responseStatus: 503, fault: rest }]);
});

describe('a failed delivery', () => {
  it('with an invalid address from an edited state affects no other delivery', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const [bad, good] = [make('nonsense'), make(receiver.url)];
    const { store, done } = await running([bad, good]);
    expect((await done(bad)).state).toBe('failed');
    expect(store.state.attemptsOf(bad.id)[0]?.failure).toEqual({ code: 'address' });
    expect((await done(good)).state).toBe('delivered');
  });

  it('is sent again if its attempt could not be stored', async () => {
    const receiver = await startReceiver();
    const delivery = deliveries()(receiver.url);
    const store = await Store.inMemory({ ...records(), deliveries: [delivery] });
    vi.spyOn(store, 'commit').mockRejectedValueOnce(new Error('the disk is full'));
    const { done } = await running([], { store });
    expect(await done(delivery)).toMatchObject({ state: 'delivered', attemptCount: 1 });
    expect(sent(receiver, 'attempt')).toEqual(['1', '1']);
  });
});

describe('a stop', () => {
  it('aborts attempts, whose deliveries stay due and are sent after a restart', async () => {
    const receiver = await startReceiver(['hang', {}]);
    const folder = await temporaryFolder();
    // Without a payment, because a state on disk must include each delivery's payment.
    const delivery = { ...deliveries()(receiver.url), paymentId: null };
    const open = () =>
      Store.open({ folder, fsync: false }, async () => ({ ...records(), deliveries: [delivery] }));

    const store = await open();
    const first = await running([], { store });
    const ended = first.courier.attemptAfter(0, delivery.id, 60_000);
    const request = await receiver.request(1);
    first.stop();
    await request.closed;
    await ended;
    expect(store.state.deliveries.get(delivery.id)).toEqual(delivery);
    expect(store.state.attempts.size).toBe(0);
    expect(first.clock.read().nextDue).toBeNull();
    await store.close();

    const reopened = await open();
    const { done } = await running([], { store: reopened });
    expect(await done(delivery)).toMatchObject({ state: 'delivered', attemptCount: 1 });
    expect(receiver.requests.map(({ body }) => body)).toEqual([delivery.body, delivery.body]);
    await reopened.close();
  });

  it('sends no more deliveries, not even those that wait for a slot, and warns of no leak', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const receiver = await startReceiver(['hang']);
    const make = deliveries();
    const all = Array.from({ length: 40 }, () => make(receiver.url));
    const { store, courier, stop } = await running(all);
    const last = all.at(-1)?.id ?? '';
    const ended = courier.attemptAfter(0, last, 60_000);
    await receiver.request(16);
    stop();
    await ended;
    await Promise.all(receiver.requests.map(({ closed }) => closed));
    expect(receiver.requests).toHaveLength(16);
    expect([...store.state.deliveries.values()]).toEqual(all);
    expect(warned).not.toHaveBeenCalled();
  });
});

describe('deliveries', () => {
  it('of one payment are sent one after another in order of creation, even if all are due at the same time', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const first = make(receiver.url);
    const rest = Array.from({ length: 12 }, () => make(receiver.url, { paymentId: first.paymentId }));
    const all = [first, ...rest];
    const { done } = await running(all);
    for (const delivery of all) await done(delivery);
    expect(sent(receiver, 'delivery')).toEqual(all.map(({ id }) => id));
    expect(receiver.mostAtOnce()).toBe(1);
  });
});

it('waiting for the first attempt ends immediately for a delivery that was attempted before, is final, or does not exist', async () => {
  const make = deliveries();
  const attempted = make('http://127.0.0.1:1', { attemptCount: 1, nextAttemptAt: inMs(3_600_000) });
  const done = make('http://127.0.0.1:1', { state: 'refused', nextAttemptAt: null });
  const { courier } = await running([attempted, done]);
  // Otherwise, none of these would end.
  await Promise.all(
    [attempted.id, done.id, 'ipn_none'].map((id) => courier.attemptAfter(0, id, 2 ** 31 - 1)),
  );
});
