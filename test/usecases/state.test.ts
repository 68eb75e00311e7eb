import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COLLECTION_NAMES } from '../../src/contract/vocabulary.ts';
import type { Delivery, Payment } from '../../src/domain/state.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import type { Snapshot } from '../../src/store/snapshot.ts';
import { SNAPSHOT_VERSION } from '../../src/store/snapshot.ts';
import { preventReplacing } from '../helpers/file-calls.ts';
import { copyOfFiles, temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { CARD, fields, merchant, wallet } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { ask, enter, ORDER, type Sim, startSim } from '../helpers/sim.ts';

const { public_key: _, ...FIELDS } = fields() as Record<string, string>;

async function post(sim: Sim, path: string, body?: unknown) {
  const answer = await ask(sim, 'POST', path, body);
  expect(answer).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
  return answer.body;
}

const reset = (sim: Sim) => post(sim, '/reset');
const exported = (sim: Sim) => sim.control<Snapshot>('/snapshot');
const initiated = (sim: Sim, changes: Record<string, string> = {}, mode?: 'sandbox' | 'live') =>
  sim.initiate({ ...FIELDS, ...changes }, mode);

async function list<Item>(sim: Sim, path: string): Promise<Item[]> {
  return (await sim.control<{ data: Item[] }>(path)).data;
}

/** Starts an emulator with its state on disk. */
async function onDisk(options: StartOptions = {}): Promise<{ sim: Sim; dataDir: string }> {
  const dataDir = await temporaryFolder();
  return { sim: await startSim({ inMemory: false, dataDir, ...options }), dataDir };
}

describe('a reset', () => {
  it('restores the fixtures and fault rules, empties the log, and returns to real time', async () => {
    const sim = await startSim({
      faults: [{ route: 'ipn', status: 500 }],
      wallets: [{ email: 'ada@example.com', holder: 'Ada', currency: 'EUR', balance: '5' }],
    });
    const before = await exported(sim);
    await post(sim, '/clock', { freeze: 'now' });
    await post(sim, '/clock', { advance: '24h' });
    await initiated(sim, {}, 'live');
    await post(sim, '/payments/order-1/settle', { outcome: 'approve' });
    await post(sim, '/faults', { route: 'initiate', status: 503 });
    const answer = await reset(sim);
    expect(answer).toEqual({
      counts: { payments: 0, deliveries: 0, merchants: 1, wallets: before.wallets.length, cards: 0 },
    });
    expect(await exported(sim)).toEqual(before);
    expect(await list(sim, '/faults')).toMatchObject([{ route: 'ipn', status: 500, used: 0 }]);
    expect(await list(sim, '/requests')).toEqual([]);
    expect(await sim.control('/clock')).toMatchObject({ aheadMs: 0, frozen: false, nextDue: null });
  });

  it('keeps every merchant with its current keys, even if the options set others', async () => {
    const sim = await startSim({ publicKey: 'pub_sim_pinned', secretKey: 'sec_sim_pinned' });
    const [first] = await list<{ id: string }>(sim, '/merchants');
    const second = await post(sim, '/merchants', { name: 'second' });
    const changed = await post(sim, `/merchants/${first?.id}/keys`);
    await initiated({ ...sim, initiate: sim.initiate }, { public_key: String(changed['publicKey']) }, 'live');
    await post(sim, '/payments/order-1/settle', { outcome: 'approve' });
    await reset(sim);
    expect(await list(sim, '/merchants')).toMatchObject([
      { id: first?.id, publicKey: changed['publicKey'], secretKey: changed['secretKey'], balances: {} },
      { id: second['id'], publicKey: second['publicKey'], secretKey: second['secretKey'] },
    ]);
  });

  it('aborts the attempt in progress, releases its waiting requests, and discards its result', async () => {
    const receiver = await startReceiver(['hang']);
    const sim = await startSim({ ipnSchedule: ['1s'], ipnTimeout: '5m' });
    await initiated(sim, { ipn_url: `${receiver.url}/ipn` });
    const settled = ask(sim, 'POST', '/payments/order-1/settle', { outcome: 'approve', awaitDelivery: true });
    const request = await receiver.request(1);
    await reset(sim);
    expect((await settled).status).toBe(200);
    await request.closed;
    await post(sim, '/clock', { advance: '24h' });
    expect(receiver.requests).toHaveLength(1);
    const { payments, deliveries, attempts } = await exported(sim);
    expect({ payments, deliveries, attempts }).toEqual({ payments: [], deliveries: [], attempts: [] });
  });

  it('drops retries, expiries and automatic settlements', async () => {
    const receiver = await startReceiver([{ status: 500 }]);
    const sim = await startSim({
      auto: 'cancel',
      autoDelay: '1h',
      paymentExpires: '2h',
      ipnSchedule: ['30m'],
    });
    await post(sim, '/clock', { freeze: 'now' });
    await initiated(sim, { ipn_url: `${receiver.url}/ipn`, identifier: 'retried' });
    await post(sim, '/payments/retried/settle', { outcome: 'approve' });
    await initiated(sim);
    expect(await sim.control('/clock')).not.toMatchObject({ nextDue: null });
    await reset(sim);
    expect(await sim.control('/clock')).toMatchObject({ nextDue: null });
    await post(sim, '/clock', { advance: '24h' });
    expect(receiver.requests).toHaveLength(1);
    expect((await exported(sim)).payments).toEqual([]);
  });

  it('leaves a consistent state even while payments are initiated and settled', async () => {
    const receiver = await startReceiver();
    const { sim, dataDir } = await onDisk({ auto: 'approve', autoDelay: 0 });
    const statuses = new Set<number>();
    const pay = async (index: number) => {
      const identifier = `n${index}`;
      await initiated(sim, { identifier, ipn_url: `${receiver.url}/ipn` }, 'live');
      statuses.add((await ask(sim, 'POST', `/payments/${identifier}/settle`, { outcome: 'cancel' })).status);
    };
    const resets = async () => {
      for (let count = 0; count < 5; count++) await reset(sim);
    };
    await Promise.all([...Array.from({ length: 15 }, (_, index) => pay(index)), resets()]);
    expect([...statuses].filter((status) => ![200, 404, 409].includes(status))).toEqual([]);
    const state = await exported(sim);
    expect(await ask(sim, 'PUT', '/snapshot', state)).toMatchObject({ status: 200 });
    await reset(sim);
    const copy = await startSim({ inMemory: false, dataDir: await copyOfFiles(dataDir) });
    expect((await exported(copy)).payments).toEqual([]);
  });
});

describe('custom fixtures', () => {
  async function fixtures(content: object): Promise<string> {
    const path = join(await temporaryFolder(), 'mine.json');
    await writeFile(path, JSON.stringify({ version: SNAPSHOT_VERSION, ...content }));
    return path;
  }

  it('define the state and the keys, at the start and after a reset', async () => {
    const sim = await startSim({
      fixtures: await fixtures({ merchants: [merchant()], wallets: [wallet({ id: 'w', balance: '5' })] }),
    });
    expect(sim.publicKey).toBe(merchant().publicKey);
    await initiated(sim, {}, 'live');
    await post(sim, '/payments/order-1/settle', { outcome: 'approve' });
    expect(await list(sim, '/wallets')).toContainEqual(wallet({ id: 'w', balance: '-95.00' }));
    await reset(sim);
    expect(await list(sim, '/wallets')).toContainEqual(wallet({ id: 'w', balance: '5' }));
  });

  it('apply to a folder with a state only after a reset, and a notice says so', async () => {
    const dataDir = await temporaryFolder();
    const first = await startSim({ inMemory: false, dataDir });
    await first.server.stop();
    const path = await fixtures({ wallets: [wallet({ id: 'w' })] });
    const second = await startSim({ inMemory: false, dataDir, fixtures: path });
    expect(second.server.notices).toEqual([
      `--fixtures is ignored because ${dataDir} already has a state (use state reset to load it)`,
    ]);
    expect(await list(second, '/wallets')).not.toContainEqual(wallet({ id: 'w' }));
    await reset(second);
    expect(await list(second, '/wallets')).toContainEqual(wallet({ id: 'w' }));
  });

  it('leave the state unchanged if a reset cannot read them', async () => {
    const dataDir = await temporaryFolder();
    await (await startSim({ inMemory: false, dataDir })).server.stop();
    const sim = await startSim({ inMemory: false, dataDir, fixtures: join(dataDir, 'none.json') });
    await initiated(sim);
    const before = await exported(sim);
    expect(await ask(sim, 'POST', '/reset')).toMatchObject({ status: 422, body: { code: 'usage' } });
    expect(await exported(sim)).toEqual(before);
  });
});

describe('an imported state', () => {
  it('replaces the old state even during an attempt for the same payment', async () => {
    const receiver = await startReceiver(['hang', { status: 200 }]);
    const sim = await startSim({ ipnTimeout: '5m' });
    await initiated(sim, { ipn_url: `${receiver.url}/ipn` });
    const pending = await exported(sim);
    const settled = ask(sim, 'POST', '/payments/order-1/settle', { outcome: 'approve', awaitDelivery: true });
    await receiver.request(1);
    const underWay = await exported(sim);
    await ask(sim, 'PUT', '/snapshot', underWay);
    expect((await settled).status).toBe(200);
    await receiver.request(2);
    await expect
      .poll(async () => (await list<Delivery>(sim, '/ipns')).map(({ state }) => state))
      .toEqual(['delivered']);
    await ask(sim, 'PUT', '/snapshot', pending);
    expect(await exported(sim)).toEqual(pending);
    await post(sim, '/payments/order-1/settle', { outcome: 'approve' });
    expect(receiver.requests).toHaveLength(3);
  });

  it("replaces an existing payment's scheduled events", async () => {
    const sim = await startSim({ auto: 'approve', autoDelay: '1h' });
    await post(sim, '/clock', { freeze: 'now' });
    await initiated(sim);
    const state = await exported(sim);
    const [payment] = state.payments;
    const at = new Date(Date.parse(payment?.createdAt ?? '') + 60_000).toISOString();
    const payments = [{ ...payment, auto: { outcome: 'cancel', at, delivery: null } }];
    await ask(sim, 'PUT', '/snapshot', { ...state, payments });
    await post(sim, '/clock', { advance: '1m' });
    expect(await list<Payment>(sim, '/payments')).toMatchObject([{ status: 'canceled', settledAt: at }]);
  });

  it('gets the keys and currencies of the options in the same write', async () => {
    const { sim, dataDir } = await onDisk({ publicKey: 'pub_sim_pinned', currency: ['NPR:Rs'] });
    const state = { version: SNAPSHOT_VERSION, merchants: [merchant()], wallets: [wallet({ id: 'w1' })] };
    // The line stays in the journal if db.json cannot be written.
    preventReplacing(join(dataDir, 'db.json'));
    expect((await ask(sim, 'PUT', '/snapshot', state)).status).toBe(200);
    const copy = await copyOfFiles(dataDir);
    const lines = (await readFile(join(copy, 'journal.jsonl'), 'utf8')).trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1) ?? '') as Snapshot & { reset?: true };
    expect(last).toMatchObject({ reset: true, merchants: [merchant({ publicKey: 'pub_sim_pinned' })] });
    expect(last.wallets).toContainEqual(wallet({ id: 'w1' }));
    expect(last.wallets).toContainEqual(wallet({ id: 'w1_npr', currency: 'NPR' }));
  });

  it('may have a currency that this emulator does not have', async () => {
    const first = await startSim({ currency: ['NPR:Rs'] });
    const checkout = await initiated(first, { currency: 'NPR' });
    const second = await startSim();
    await ask(second, 'PUT', '/snapshot', await exported(first));
    const page = await fetch(checkout.replace(first.url, second.url), { headers: { Accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('NPR');
    await post(second, '/payments/order-1/settle', { outcome: 'approve' });
  });

  it('from an emulator with the same seed is not overwritten by new records', async () => {
    const receiver = await startReceiver();
    const pay = async (sim: Sim, identifier: string) => {
      await initiated(sim, { identifier, ipn_url: `${receiver.url}/ipn` }, 'live');
      await post(sim, `/payments/${identifier}/settle`, { outcome: 'approve' });
    };
    const first = await startSim({ seed: 'the same' });
    await pay(first, 'old');
    const second = await startSim({ seed: 'the same' });
    await ask(second, 'PUT', '/snapshot', await exported(first));
    await pay(second, 'new');
    const { deliveries, attempts } = await exported(second);
    expect(deliveries.map(({ identifier }) => identifier)).toEqual(['old', 'new']);
    expect(attempts).toHaveLength(2);
  });

  const bad: [what: string, (state: Snapshot) => unknown, status: number, problem: string][] = [
    ['invalid JSON', () => '{"version":', 400, 'the body is not valid JSON'],
    [
      'another version',
      (state) => ({ ...state, version: SNAPSHOT_VERSION + 1 }),
      422,
      `reads only version ${SNAPSHOT_VERSION}`,
    ],
    [
      'an invalid choice',
      (state) => ({ ...state, payments: state.payments.map((one) => ({ ...one, status: 'cancelled' })) }),
      422,
      'payments.0.status must be one of pending, succeeded, canceled, failed, expired (got "cancelled"): did you mean canceled?',
    ],
    [
      'a duplicate id',
      (state) => ({ ...state, payments: [...state.payments, state.payments[0]] }),
      422,
      'the imported state: payments has the id "pay_',
    ],
  ];

  it.each(bad)('with %s is rejected, and nothing changes', async (_, change, status, problem) => {
    const sim = await startSim();
    await initiated(sim);
    const before = await exported(sim);
    const answer = await ask(sim, 'PUT', '/snapshot', change(before));
    expect(answer).toMatchObject({
      status,
      body: { error: 'true', message: expect.stringContaining(problem) },
    });
    if (status === 422) {
      expect(answer.body).toMatchObject({
        code: 'invalid_fields',
        remedy: 'Nothing was changed. Write a state that can be imported with: gateway-sim state export',
      });
    }
    expect(await exported(sim)).toEqual(before);
  });

  it('with another content type is rejected', async () => {
    const sim = await startSim();
    const response = await fetch(`${sim.url}/_sim/snapshot`, { method: 'PUT', body: '{}' });
    expect(response.status).toBe(415);
  });

  it('with many payments is exported and imported while the emulator responds', async () => {
    const { sim, dataDir } = await onDisk();
    const count = IS_RELEASE ? 50_000 : 2_000;
    await initiated(sim);
    const small = await exported(sim);
    const [model] = small.payments;
    const payments = Array.from({ length: count }, (_, index) => ({
      ...model,
      id: `pay_${index}`,
      identifier: `order-${index}`,
    }));
    const state = { ...small, payments };
    expect(await ask(sim, 'PUT', '/snapshot', state)).toMatchObject({
      status: 200,
      body: { counts: { payments: count } },
    });
    const [out] = await Promise.all([exported(sim), initiated(sim, { identifier: 'meanwhile' })]);
    expect(out.payments.slice(0, count).map(({ id }) => id)).toEqual(payments.map(({ id }) => id));
    for (const index of [0, 249, 250, count - 1]) expect(out.payments[index]).toEqual(payments[index]);
    const copy = await startSim({ inMemory: false, dataDir: await copyOfFiles(dataDir) });
    expect((await exported(copy)).payments).toHaveLength(count + 1);
  });
});

describe('a failed start', () => {
  const locks = async (folder: string) =>
    (await readdir(folder).catch(() => [])).filter((name) => /^(lock|server)/.test(name));

  /** This process's open files in a folder; empty if the system does not list them. */
  const openIn = async (folder: string) => {
    const handles = await readdir('/proc/self/fd').catch(() => []);
    const files = await Promise.all(handles.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')));
    return files.filter((file) => file.startsWith(folder));
  };

  it('leaves nothing open or locked if the port is in use', async () => {
    const { port } = await startReceiver();
    const dataDir = await temporaryFolder();
    const options = { inMemory: false, dataDir };
    await expect(startSim({ ...options, port })).rejects.toMatchObject({ code: 'port_in_use' });
    expect(await locks(dataDir)).toEqual([]);
    expect(await openIn(dataDir)).toEqual([]);
    const sim = await startSim(options);
    await initiated(sim);
  });

  it('closes its port after an error in its last step', async () => {
    const dataDir = await temporaryFolder();
    await mkdir(join(dataDir, 'server.json', 'taken'), { recursive: true });
    const port = await freePort();
    await expect(startSim({ inMemory: false, dataDir, port })).rejects.toThrow();
    const sim = await startSim({ port });
    expect(sim.url).toBe(`http://127.0.0.1:${port}`);
  });

  it('leaves the folder unlocked if the options do not fit the state', async () => {
    const dataDir = await temporaryFolder();
    const wallets = [{ email: 'a@example.com', holder: 'A', currency: 'XYZ', balance: '1' }];
    await expect(startSim({ inMemory: false, dataDir, wallets })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('wallets: unknown currency XYZ for a@example.com'),
    });
    expect(await locks(dataDir)).toEqual([]);
    await startSim({ inMemory: false, dataDir });
  });
});

const json = { 'Content-Type': 'application/json' };

async function exportedText({ url }: Sim): Promise<string> {
  return (await fetch(`${url}/_sim/snapshot`)).text();
}

async function imported({ url }: Sim, text: string): Promise<void> {
  const answer = await fetch(`${url}/_sim/snapshot`, { method: 'PUT', headers: json, body: text });
  expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
}

/** Starts an emulator and creates a record of every kind. */
async function busy(): Promise<Sim> {
  const sim = await startSim({ ipnSchedule: ['1h'], currency: ['NPR:Rs'] });
  // A paused clock delays automatic settlement.
  await post(sim, '/clock', { freeze: 'now' });
  await post(sim, '/clock', { advance: '90m' });
  const receiver = await startReceiver([{ status: 500, body: 'Zoë 😀 \u2028' }]);
  const order = { ...ORDER, ipn_url: `${receiver.url}/ipn`, details: '"\\\u2028\n Zoë 😀' };
  const live = await sim.initiate(order, 'live');
  expect((await enter(live, 'email', { email: 'wallet@example.com' })).status).toBe(303);
  await post(sim, '/payments/order-1/settle', { outcome: 'approve' });
  await sim.initiate({ ...ORDER, identifier: 'npr', currency: 'NPR' });
  await sim.initiate({ ...ORDER, identifier: 'auto', customer_email: 'approve@gateway-sim.test' });
  await sim.initiate({ ...ORDER, identifier: 'off', customer_email: 'cancel@gateway-sim.test' });
  const headers = { ...json, Authorization: `Bearer ${sim.secretKey}` };
  const body = JSON.stringify(CARD);
  expect((await fetch(`${sim.url}/api/cards/save`, { method: 'POST', headers, body })).status).toBe(200);
  const { data } = await sim.control<{ data: { id: string }[] }>('/cards');
  await post(sim, `/cards/${data[0]?.id}/transactions`, { type: 'charge', amount: '1.50' });
  await post(sim, '/ipns', { to: `${receiver.url}/by-hand`, tamper: 'signature' });
  return sim;
}

it('exports the same bytes after an import with every kind of record, and scheduled events happen', async () => {
  const sim = await busy();
  const state = await exportedText(sim);
  const parsed = JSON.parse(state) as Snapshot;
  expect(COLLECTION_NAMES.filter((name) => !parsed[name].length)).toEqual([]);
  await imported(sim, state);
  expect(await exportedText(sim)).toBe(state);
  // This emulator's clock was not moved, and it has no option for the currency.
  const other = await startSim();
  await other.initiate({ ...ORDER, identifier: 'gone' });
  await imported(other, state);
  expect(await exportedText(other)).toBe(state);
  expect(await other.control('/requests')).toMatchObject({ data: [] });
  await post(other, '/clock', { advance: '2h' });
  const { payments, attempts } = JSON.parse(await exportedText(other)) as Snapshot;
  expect(payments.find(({ identifier }) => identifier === 'auto')?.status).toBe('succeeded');
  expect(attempts.length).toBeGreaterThan(parsed.attempts.length);
});
