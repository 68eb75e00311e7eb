import { describe, expect, it } from 'vitest';
import type { Clock as ClockView } from '../../src/contract/clock.ts';
import type { Payment as PaymentView } from '../../src/contract/payment.ts';
import { copyOfFiles, temporaryFolder } from '../helpers/folder.ts';
import { ask, idOf, ORDER, type Sim, startSim } from '../helpers/sim.ts';

const HOUR = 3_600_000;

const move = (sim: Sim, json: unknown) => ask<ClockView & { message: string }>(sim, 'POST', '/clock', json);

const initiate = (sim: Sim, ipnUrl: string, mode?: 'sandbox' | 'live') =>
  sim.initiate({ ...ORDER, ipn_url: ipnUrl }, mode);

const payment = (sim: Sim, id: string) => sim.control<PaymentView>(`/payments/${id}`);

describe('the clock under /_sim', () => {
  it.each([
    [{ advance: '999999999h' }, 'advance must not move the clock beyond'],
    [{ freeze: '2020-01-01T00:00:00Z' }, 'freeze must not move the clock backwards'],
    [{ resume: true, reset: true }, 'exactly one of'],
  ])('rejects %j and does not move', async (json, message) => {
    const sim = await startSim();
    const refused = await move(sim, json);
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain(message);
    expect(await sim.control<ClockView>('/clock')).toMatchObject({ frozen: false, aheadMs: 0 });
  });
});

it('the clock is reset to the time of the system, also after a restart', async () => {
  const dataDir = await temporaryFolder();
  const sim = await startSim({ inMemory: false, dataDir });
  await move(sim, { freeze: '2999-01-01' });
  await move(sim, { advance: '2h' });
  const past = await move(sim, { freeze: '2020-01-01' });
  expect(past.body).toMatchObject({ remedy: expect.stringContaining('clock reset') });
  const { body } = await move(sim, { reset: true });
  expect(body).toMatchObject({ frozen: false, aheadMs: 0 });
  expect(Math.abs(Date.parse(body.now) - Date.now())).toBeLessThan(60_000);
  await sim.server.stop();
  const later = await startSim({ inMemory: false, dataDir });
  expect(await later.control<ClockView>('/clock')).toMatchObject({ frozen: false, aheadMs: 0 });
});

describe('payments that expire', () => {
  it('expire at their time on the clock, and their checkout responds 410', async () => {
    const sim = await startSim({ paymentExpires: '30m' });
    await move(sim, { freeze: '2999-01-01' });
    const url = await initiate(sim, 'http://127.0.0.1:9/ipn');
    expect(await payment(sim, idOf(url))).toMatchObject({ expiresAt: '2999-01-01T00:30:00.000Z' });
    await move(sim, { advance: '1799999ms' });
    expect((await fetch(url)).status).toBe(200);
    await move(sim, { advance: '1ms' });
    expect(await payment(sim, idOf(url))).toMatchObject({
      status: 'expired',
      settledBy: 'clock',
      settledAt: '2999-01-01T00:30:00.000Z',
    });
    expect((await fetch(url)).status).toBe(410);
  });

  it('do not expire after they are settled', async () => {
    const sim = await startSim({ paymentExpires: '30m' });
    const id = idOf(await initiate(sim, 'http://127.0.0.1:9/ipn'));
    expect((await sim.control<ClockView>('/clock')).nextDue).toBe((await payment(sim, id)).expiresAt);
    await ask(sim, 'POST', `/payments/${id}/settle`, { outcome: 'cancel' });
    expect((await sim.control<ClockView>('/clock')).nextDue).toBeNull();
    await move(sim, { advance: '1h' });
    expect(await payment(sim, id)).toMatchObject({ status: 'canceled' });
  });

  it('expire after a restart without --payment-expires', async () => {
    const dataDir = await temporaryFolder();
    const first = await startSim({ inMemory: false, dataDir, paymentExpires: '30m' });
    const id = idOf(await initiate(first, 'http://127.0.0.1:9/ipn'));
    await first.server.stop();
    const second = await startSim({ inMemory: false, dataDir });
    expect(await payment(second, id)).toMatchObject({ status: 'pending' });
    const fresh = idOf(await initiate(second, 'http://127.0.0.1:9/ipn'));
    await move(second, { advance: '30m' });
    expect(await payment(second, id)).toMatchObject({ status: 'expired' });
    expect(await payment(second, fresh)).toMatchObject({ status: 'pending', expiresAt: null });
  });
});

describe('after a restart the clock', () => {
  /** Starts with the files that a killed emulator leaves behind. */
  const restarted = async (dataDir: string) =>
    startSim({ inMemory: false, dataDir: await copyOfFiles(dataDir) });

  it('stays ahead, and scheduled events keep their remaining time', async () => {
    const dataDir = await temporaryFolder();
    const first = await startSim({ inMemory: false, dataDir, paymentExpires: '3h' });
    await move(first, { advance: '2h' });
    await initiate(first, 'http://127.0.0.1:9/ipn');
    const before = await first.control<ClockView>('/clock');
    const second = await restarted(dataDir);
    const after = await second.control<ClockView>('/clock');
    expect(after).toMatchObject({ frozen: false, nextDue: before.nextDue });
    expect(Math.abs(after.aheadMs - 2 * HOUR)).toBeLessThan(HOUR / 60);
  });

  it('stays paused at the same time', async () => {
    const dataDir = await temporaryFolder();
    const first = await startSim({ inMemory: false, dataDir });
    const { body } = await move(first, { freeze: '2099-01-01T00:00:00Z' });
    const second = await restarted(dataDir);
    expect(await second.control<ClockView>('/clock')).toMatchObject({ now: body.now, frozen: true });
    await move(second, { resume: true });
    const third = await restarted(second.server.dataDir ?? '');
    const { now, frozen } = await third.control<ClockView>('/clock');
    expect([frozen, now > body.now]).toEqual([false, true]);
  });
});
