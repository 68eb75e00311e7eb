import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AttemptFailure } from '../../src/contract/failure.ts';
import { timestamp } from '../../src/contract/timestamp.ts';
import { Courier } from '../../src/delivery/courier.ts';
import { Egress } from '../../src/delivery/egress.ts';
import { Poster } from '../../src/delivery/poster.ts';
import { createIds } from '../../src/domain/ids.ts';
import type { Context } from '../../src/domain/settings.ts';
import type { Delivery } from '../../src/domain/state.ts';
import { Store } from '../../src/store/store.ts';
import { Clock } from '../../src/system/clock.ts';
import { VERSION } from '../../src/system/package-info.ts';
import { dialect } from '../../src/wire/documented/service.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type Answer, gate, startReceiver } from '../helpers/receiver.ts';
import {
  context,
  countingIds,
  dueDelivery,
  records,
  type SettingsChanges,
  settings,
} from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';

/** The deliveries of one test, with sequential ids. By default, each has its own payment. */
function deliveries(): (url: string, changes?: Partial<Delivery>) => Delivery {
  const using: Context = { ...context(), now: Date.now(), ids: countingIds() };
  return (url, changes) => dueDelivery(`${url}/ipn`, changes, using);
}

interface Running {
  store: Store;
  courier: Courier;
  clock: Clock;
  /** Resolves with the delivery as soon as it matches. */
  until: (id: string, wanted: (delivery: Delivery) => boolean) => Promise<Delivery>;
  stop: () => void;
}

interface Options {
  ipn?: SettingsChanges['ipn'];
  store?: Store;
  egress?: Egress;
}

/** A running courier on a store with these deliveries. */
async function running(
  due: Delivery[],
  { ipn = {}, store, egress = new Egress([], () => undefined) }: Options = {},
): Promise<Running> {
  const held = store ?? (await Store.inMemory({ ...records(), deliveries: due }));
  const clock = new Clock();
  const ids = createIds((_, length) => crypto.getRandomValues(new Uint8Array(length)));
  const set = settings({ ipn: { schedule: [], ...ipn } });
  const courier = new Courier({
    store: held,
    clock,
    poster: new Poster(egress),
    context: () => ({ now: clock.now(), ids, settings: set, ipn: dialect.ipn }),
  });
  const watchers: (() => void)[] = [];
  held.onChange(() => {
    for (const look of watchers) look();
  });
  courier.start();
  const stop = () => {
    courier.stop();
    clock.stop();
  };
  onTestFinished(stop);
  const until = (id: string, wanted: (delivery: Delivery) => boolean) =>
    new Promise<Delivery>((resolve) => {
      const look = () => {
        const delivery = held.state.deliveries.get(id);
        if (delivery && wanted(delivery)) resolve(delivery);
      };
      watchers.push(look);
      look();
    });
  return { store: held, courier, clock, until, stop };
}

const isDone = ({ state }: Delivery) => state !== 'pending';
const put = (delivery: Delivery) => () => ({ change: { deliveries: [delivery] }, result: null });
const inMs = (ms: number) => timestamp(Date.now() + ms);

describe('a due delivery', () => {
  it('is sent with the documented headers and bytes, and its request and response are stored', async () => {
    const receiver = await startReceiver([{ status: 200, body: 'OK' }]);
    const delivery = deliveries()(receiver.url);
    const { store, until } = await running([delivery]);
    expect(await until(delivery.id, isDone)).toMatchObject({
      state: 'delivered',
      attemptCount: 1,
      nextAttemptAt: null,
      tampered: [],
      signedAnew: false,
      postponedBy: null,
    });
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
    const raw = got?.rawHeaders ?? [];
    expect(named(attempt?.requestHeaders ?? [])).toEqual(
      named(raw.flatMap((name, index) => (index % 2 ? [] : [[name, raw[index + 1] ?? '']]))),
    );
  });

  it('is sent if it was committed after the start', async () => {
    const receiver = await startReceiver();
    const { store, until } = await running([]);
    const delivery = deliveries()(receiver.url);
    await store.commit(put(delivery));
    expect((await until(delivery.id, isDone)).state).toBe('delivered');
  });

  it('is sent once, even if it is committed several times', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const [one, fence] = [make(receiver.url), make(receiver.url)];
    const { store, until } = await running([one]);
    await Promise.all([store.commit(put(one)), store.commit(put(one)), store.commit(put(one))]);
    await until(one.id, isDone);
    await store.commit(put(fence));
    await until(fence.id, isDone);
    expect(receiver.requests.map(({ headers }) => headers['x-gateway-sim-delivery'])).toEqual([
      one.id,
      fence.id,
    ]);
  });

  it.each(['delivered', 'failed', 'refused'] as const)('is not sent if it is already %s', async (state) => {
    const receiver = await startReceiver();
    const make = deliveries();
    const done = make(receiver.url, { state, nextAttemptAt: null });
    const fence = make(receiver.url);
    const { until } = await running([done, fence]);
    await until(fence.id, isDone);
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('the due time of a delivery', () => {
  it('is awaited', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const later = make(receiver.url, { nextAttemptAt: inMs(3_600_000) });
    const now = make(receiver.url);
    const { clock, until } = await running([later, now]);
    await until(now.id, isDone);
    expect(receiver.requests).toHaveLength(1);
    expect(clock.read().nextDue).toBe(Date.parse(later.nextAttemptAt ?? ''));
  });

  it('can become earlier, for example by a resend', async () => {
    const receiver = await startReceiver();
    const later = deliveries()(receiver.url, { nextAttemptAt: inMs(3_600_000) });
    const { store, until } = await running([later]);
    await store.commit(put({ ...later, nextAttemptAt: inMs(0) }));
    expect(await until(later.id, isDone)).toMatchObject({ state: 'delivered', attemptCount: 1 });
    expect(receiver.requests).toHaveLength(1);
  });

  it('can become later', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const moved = make(receiver.url, { nextAttemptAt: inMs(3_600_000) });
    const fence = make(receiver.url, { nextAttemptAt: inMs(3_600_100) });
    const { store, clock, until } = await running([moved, fence]);
    await store.commit(put({ ...moved, nextAttemptAt: inMs(36_000_000) }));
    await clock.advance(4_000_000);
    await until(fence.id, isDone);
    expect(receiver.requests.map(({ headers }) => headers['x-gateway-sim-delivery'])).toEqual([fence.id]);
  });

  it('ends with a reset, even during an attempt', async () => {
    const held = gate();
    const receiver = await startReceiver([{ after: held.opened }, {}]);
    const make = deliveries();
    const [lost, fence] = [make(receiver.url), make(receiver.url)];
    const { store, courier, until } = await running([lost]);
    const ended = courier.attemptAfter(0, lost.id, 10_000);
    await receiver.request(1);
    await store.replace(records());
    held.open();
    await ended;
    await store.commit(put(fence));
    await until(fence.id, isDone);
    expect(store.state.deliveries.get(lost.id)).toBeUndefined();
    expect(store.state.attempts.size).toBe(1);
  });
});

describe('a failed delivery', () => {
  it('is retried by the schedule with the same bytes until it is received', async () => {
    const receiver = await startReceiver([{ status: 500 }, { status: 503 }, { status: 200 }]);
    const delivery = deliveries()(receiver.url);
    const { store, until } = await running([delivery], { ipn: { schedule: [20, 30, 40] } });
    expect(await until(delivery.id, isDone)).toMatchObject({ state: 'delivered', attemptCount: 3 });
    expect(new Set(receiver.requests.map(({ body }) => body))).toEqual(new Set([delivery.body]));
    expect(receiver.requests.map(({ headers }) => headers['x-gateway-sim-attempt'])).toEqual(['1', '2', '3']);
    const attempts = store.state.attemptsOf(delivery.id);
    expect(attempts.map(({ number, responseStatus }) => [number, responseStatus])).toEqual([
      [1, 500],
      [2, 503],
      [3, 200],
    ]);
    const starts = attempts.map(({ startedAt }) => Date.parse(startedAt));
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(18);
    expect((starts[2] ?? 0) - (starts[1] ?? 0)).toBeGreaterThanOrEqual(27);
  });

  const FAILURES: { what: string; script: Answer[]; failure: AttemptFailure }[] = [
    {
      what: 'a receiver that hangs',
      script: ['hang', {}],
      failure: { code: 'timed_out', limitMs: 100 },
    },
    { what: 'a dropped connection', script: ['drop', {}], failure: { code: 'connection_reset' } },
    {
      what: 'a redirect',
      script: [{ status: 302, headers: { Location: '/' } }, {}],
      failure: { code: 'answered' },
    },
  ];

  it.each(FAILURES)(
    'is retried after $what, which its first attempt records',
    async ({ script, failure }) => {
      const receiver = await startReceiver(script);
      const delivery = deliveries()(receiver.url);
      // On a busy machine, the second attempt may time out, too.
      const schedule = Array.from({ length: 50 }, () => 1);
      const { store, until } = await running([delivery], { ipn: { schedule, timeoutMs: 100 } });
      expect((await until(delivery.id, isDone)).state).toBe('delivered');
      expect(store.state.attemptsOf(delivery.id)[0]?.failure).toEqual(failure);
    },
  );

  it('with an invalid address from an edited state affects no other delivery', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const [bad, good] = [make('nonsense'), make(receiver.url)];
    const { store, until } = await running([bad, good]);
    expect((await until(bad.id, isDone)).state).toBe('failed');
    expect(store.state.attemptsOf(bad.id)[0]?.failure).toEqual({ code: 'address' });
    expect((await until(good.id, isDone)).state).toBe('delivered');
  });

  it('is sent again if its attempt could not be stored', async () => {
    const receiver = await startReceiver();
    const delivery = deliveries()(receiver.url);
    const store = await Store.inMemory({ ...records(), deliveries: [delivery] });
    vi.spyOn(store, 'commit').mockRejectedValueOnce(new Error('the disk is full'));
    const { until } = await running([], { store });
    expect(await until(delivery.id, isDone)).toMatchObject({ state: 'delivered', attemptCount: 1 });
    expect(receiver.requests.map(({ headers }) => headers['x-gateway-sim-attempt'])).toEqual(['1', '1']);
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
    const { until } = await running([], { store: reopened });
    expect(await until(delivery.id, isDone)).toMatchObject({ state: 'delivered', attemptCount: 1 });
    expect(receiver.requests.map(({ body }) => body)).toEqual([delivery.body, delivery.body]);
    await reopened.close();
  });

  it('sends no more deliveries, not even those that wait for a slot', async () => {
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
  });
});

describe('a delivery that becomes due during its own attempt', () => {
  it('is attempted again as soon as that attempt ends', async () => {
    const held = gate();
    const receiver = await startReceiver([{ status: 500, after: held.opened }, {}]);
    const delivery = deliveries()(receiver.url);
    const { store, clock, until } = await running([delivery], { ipn: { schedule: [3_600_000] } });
    await receiver.request(1);
    // The delivery becomes due again after the attempt is stored, but before the courier sees the end of the attempt.
    const commit = store.commit.bind(store);
    vi.spyOn(store, 'commit').mockImplementationOnce(async (rule) => {
      const result = await commit(rule);
      const failed = store.state.deliveries.get(delivery.id);
      if (failed) await commit(put({ ...failed, nextAttemptAt: inMs(0) }));
      await expect.poll(() => (clock.read().nextDue ?? Number.POSITIVE_INFINITY) > Date.now()).toBe(true);
      return result;
    });
    held.open();
    expect(await until(delivery.id, isDone)).toMatchObject({ state: 'delivered', attemptCount: 2 });
  });
});

describe('the deliveries of one payment', () => {
  it('never overlap and keep their order, while deliveries of other payments continue', async () => {
    const held = gate();
    const receiver = await startReceiver([{ after: held.opened }, {}]);
    const make = deliveries();
    const first = make(receiver.url);
    const second = make(receiver.url, { paymentId: first.paymentId });
    const other = make(receiver.url);
    const { until } = await running([first, second, other]);
    await until(other.id, isDone);
    expect(receiver.requests.map(({ headers }) => headers['x-gateway-sim-delivery'])).toEqual([
      first.id,
      other.id,
    ]);
    held.open();
    await until(second.id, isDone);
    expect(receiver.requests.at(-1)?.headers['x-gateway-sim-delivery']).toBe(second.id);
    expect((await until(first.id, isDone)).state).toBe('delivered');
  });

  it('are sent one after another in order of creation, even if all are due at the same time', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const first = make(receiver.url);
    const rest = Array.from({ length: 12 }, () => make(receiver.url, { paymentId: first.paymentId }));
    const all = [first, ...rest];
    const { until } = await running(all);
    for (const { id } of all) await until(id, isDone);
    expect(receiver.requests.map(({ headers }) => headers['x-gateway-sim-delivery'])).toEqual(
      all.map(({ id }) => id),
    );
    expect(receiver.mostAtOnce()).toBe(1);
  });

  it('do not overlap even if they have different receivers', async () => {
    const held = gate();
    const one = await startReceiver([{ after: held.opened }]);
    const two = await startReceiver();
    const make = deliveries();
    const first = make(one.url);
    const second = make(two.url, { paymentId: first.paymentId });
    const fence = make(two.url);
    const { until } = await running([first, second, fence]);
    await until(fence.id, isDone);
    expect(two.requests).toHaveLength(1);
    held.open();
    expect((await until(second.id, isDone)).state).toBe('delivered');
  });

  it('may overlap if they have no payment', async () => {
    const held = gate();
    const receiver = await startReceiver([{ after: held.opened }, {}]);
    const make = deliveries();
    const [first, second] = [
      make(receiver.url, { paymentId: null }),
      make(receiver.url, { paymentId: null }),
    ];
    const { until } = await running([first, second]);
    await until(second.id, isDone);
    held.open();
    await until(first.id, isDone);
  });
});

describe('a slow receiver', () => {
  it('gets 16 concurrent attempts and delays no other receiver, without a leak warning', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const slow = await startReceiver(['hang']);
    const fast = await startReceiver();
    const make = deliveries();
    const waiting = Array.from({ length: 50 }, () => make(slow.url));
    const { store, until } = await running(waiting, { ipn: { timeoutMs: 600_000 } });
    await slow.request(16);
    const others = Array.from({ length: 50 }, () => make(fast.url));
    await Promise.all(others.map((delivery) => store.commit(put(delivery))));
    for (const { id } of others) expect((await until(id, isDone)).state).toBe('delivered');
    expect(slow.requests).toHaveLength(16);
    expect(slow.mostAtOnce()).toBe(16);
    expect(warned).not.toHaveBeenCalled();
  });

  it('with many waiting deliveries does not delay those to a healthy receiver', async () => {
    const count = IS_RELEASE ? 2_000 : 200;
    const hanging = await startReceiver(['hang']);
    const healthy = await startReceiver();
    const make = deliveries();
    const both = Array.from({ length: count }, () => [make(hanging.url), make(healthy.url)] as const);
    // Much longer than this test, so that no hanging attempt ends during it.
    const { store, until } = await running(both.flat(), { ipn: { timeoutMs: 600_000 } });
    await healthy.request(count);
    for (const [, delivery] of both) await until(delivery.id, isDone);
    expect(healthy.requests).toHaveLength(count);
    expect(hanging.requests).toHaveLength(16);
    for (const [delivery] of both) expect(store.state.deliveries.get(delivery.id)).toBe(delivery);
  });

  it('gets the next delivery after each response, until it has all', async () => {
    const receiver = await startReceiver();
    const make = deliveries();
    const many = Array.from({ length: 100 }, () => make(receiver.url));
    const { until } = await running(many);
    for (const { id } of many) expect((await until(id, isDone)).state).toBe('delivered');
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-gateway-sim-delivery'])).size).toBe(100);
    expect(receiver.requests).toHaveLength(100);
    expect(receiver.mostAtOnce()).toBeLessThanOrEqual(16);
  });
});

describe('waiting for the first attempt', () => {
  it('ends when the attempt is stored', async () => {
    const held = gate();
    const receiver = await startReceiver([{ status: 500, after: held.opened }]);
    const delivery = deliveries()(receiver.url);
    const { store, courier } = await running([delivery], { ipn: { schedule: [60_000] } });
    const waited = courier.attemptAfter(0, delivery.id, 60_000);
    await receiver.request(1);
    held.open();
    await waited;
    expect(store.state.deliveries.get(delivery.id)).toMatchObject({ state: 'pending', attemptCount: 1 });
  });

  it('ends after the time limit, while the attempt continues', async () => {
    const held = gate();
    const receiver = await startReceiver([{ after: held.opened }]);
    const delivery = deliveries()(receiver.url);
    const { store, courier, until } = await running([delivery]);
    await courier.attemptAfter(0, delivery.id, 30);
    expect(store.state.deliveries.get(delivery.id)).toMatchObject({ state: 'pending', attemptCount: 0 });
    held.open();
    expect((await until(delivery.id, isDone)).state).toBe('delivered');
  });

  it('ends immediately for a delivery that was attempted before, is final, or does not exist', async () => {
    const make = deliveries();
    const attempted = make('http://127.0.0.1:1', { attemptCount: 1, nextAttemptAt: inMs(3_600_000) });
    const done = make('http://127.0.0.1:1', { state: 'refused', nextAttemptAt: null });
    const { courier } = await running([attempted, done]);
    // Otherwise, none of these would end.
    await Promise.all(
      [attempted.id, done.id, 'ipn_none'].map((id) => courier.attemptAfter(0, id, 2 ** 31 - 1)),
    );
  });
});

describe('advancing the clock', () => {
  it('ends when all due deliveries are attempted and stored', async () => {
    const receiver = await startReceiver([{ status: 500 }]);
    const make = deliveries();
    const due = [1, 2, 3].map(() => make(receiver.url, { nextAttemptAt: inMs(3_600_000) }));
    const { store, clock } = await running(due, { ipn: { schedule: [60_000] } });
    expect(await clock.advance(3_600_001)).toBe('reached');
    expect([...store.state.deliveries.values()].map(({ attemptCount }) => attemptCount)).toEqual([1, 1, 1]);
  });
});
