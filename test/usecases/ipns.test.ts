import { expect, it, onTestFinished, vi } from 'vitest';
import { Courier } from '../../src/delivery/courier.ts';
import { Egress } from '../../src/delivery/egress.ts';
import { Poster } from '../../src/delivery/poster.ts';
import { Faults } from '../../src/domain/faults.ts';
import { Store } from '../../src/store/store.ts';
import { Clock } from '../../src/system/clock.ts';
import { ipnUseCases } from '../../src/usecases/ipns.ts';
import { UNSEEN } from '../../src/usecases/seen-rows.ts';
import { dialect } from '../../src/wire/documented/service.ts';
import { context, dueDelivery, records } from '../helpers/records.ts';

it('a resend fails if no attempt is made in time, and stays due', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const delivery = dueDelivery('http://127.0.0.1:9/ipn');
  const store = await Store.inMemory({ ...records(), deliveries: [delivery] });
  const parts = { store, context: () => context(), settings: context().settings, dialect };
  const faults = new Faults({ fraction: () => 0 });
  const poster = new Poster(new Egress([], () => undefined), {});
  // A courier that was not started makes no attempts, as when all its lanes are busy.
  const courier = new Courier({ ...parts, clock: new Clock(), poster, faults, onWaiting: () => {} });
  const resent = expect(
    ipnUseCases({ ...parts, courier, orderProbe: async () => undefined, rows: UNSEEN }).resend(delivery.id),
  ).rejects.toMatchObject({
    code: 'timed_out',
    message: `IPN ${delivery.id} was not attempted within 13 s`,
  });
  await vi.advanceTimersByTimeAsync(12_999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  await resent;
  expect(store.state.deliveries.get(delivery.id)).toMatchObject({ state: 'pending', attemptCount: 0 });
});
