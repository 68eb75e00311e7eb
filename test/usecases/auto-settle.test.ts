import { expect, it } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { timestamp } from '../../src/contract/time.ts';
import { Store } from '../../src/store/store.ts';
import type { Clock, DueWork } from '../../src/system/clock.ts';
import { startAutoSettling } from '../../src/usecases/auto-settle.ts';
import { NOW, pendingPayment, records, state } from '../helpers/records.ts';

it.each([
  ['storage_failed', ['pay_1']],
  ['wrong_state', []],
] as const)('a payment that could not be settled with %s is retried: %j', async (code, expected) => {
  const payment = { ...pendingPayment(state()), id: 'pay_1', expiresAt: timestamp(NOW) };
  const store = await Store.inMemory({ ...records(), payments: [payment] });
  const planned: DueWork[] = [];
  const retried: string[] = [];
  const clock: Pick<Clock, 'plan' | 'retry'> = {
    plan: (_, _id, work) => void planned.push(work),
    retry: (id) => void retried.push(id),
  };
  const settle = async () => {
    throw new GatewayError(code, 'it failed');
  };
  startAutoSettling(store, clock, { settle });
  await planned[0]?.run('pay_1');
  expect(retried).toEqual(expected);
});
