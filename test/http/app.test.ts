import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { interceptSyncs } from '../helpers/file-calls.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

/** Settles a payment and reads it in the same tick, before the change is written. */
async function settledAndRead(fails: boolean) {
  const dataDir = join(await temporaryFolder(), 'data');
  const sim = await startSim({ inMemory: false, dataDir });
  await sim.initiate(ORDER);
  const { parts } = sim.server;
  const app = createApp(parts);
  const ask = () => app.request('http://127.0.0.1/_sim/payments/order-1');
  // The first request loads the routes, which may take longer than the write.
  await ask();
  if (fails) await rename(dataDir, `${dataDir}-away`);
  const settled = parts.payments
    .settle('order-1', { outcome: 'cancel', by: 'control' })
    .catch((error: unknown) => error);
  const read = await ask();
  return { settled: await settled, read };
}

describe('a response that shows a change', () => {
  it('waits until the change is stored', async () => {
    const { read } = await settledAndRead(false);
    expect([read.status, await read.json()]).toEqual([200, expect.objectContaining({ status: 'canceled' })]);
  });

  it('is an error if the change could not be stored', async () => {
    const { settled, read } = await settledAndRead(true);
    expect(settled).toMatchObject({ code: 'storage_failed' });
    expect([read.status, await read.json()]).toEqual([
      507,
      expect.objectContaining({ code: 'storage_failed' }),
    ]);
  });
});

it('a response to a stored change stays, although a later change of another request cannot be stored', async () => {
  const dataDir = join(await temporaryFolder(), 'data');
  const sim = await startSim({ inMemory: false, dataDir, fsync: true });
  const { parts, publicKey } = sim.server;
  const initiated = async (identifier: string) => {
    const body = new URLSearchParams({ ...ORDER, identifier, public_key: publicKey });
    const answer = await fetch(`${sim.url}/sandbox/payment/initiate`, { method: 'POST', body });
    return [answer.status, Object.keys((await answer.json()) as object)[0]];
  };
  let later: ReturnType<typeof initiated> | undefined;
  interceptSyncs(async (sync) => {
    if (later) throw new Error('EIO');
    later = initiated('order-2');
    await expect.poll(() => parts.store.state.payments.size).toBe(2);
    await sync();
  });
  expect(await initiated('order-1')).toEqual([200, 'success']);
  expect(await later).toEqual([507, 'error']);
  expect([...parts.store.state.payments.values()].map(({ identifier }) => identifier)).toEqual(['order-1']);
});
