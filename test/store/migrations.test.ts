import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  MIGRATIONS,
  type Migration,
  migrate,
  type RawState,
  SNAPSHOT_VERSION,
} from '../../src/store/migrations.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { records, wallet } from '../helpers/records.ts';
import { changesIn } from '../helpers/store.ts';

/** Files of version 1 after a kill. The journal settles a payment of the snapshot, and adds a second payment. */
const VERSION_1 = fileURLToPath(new URL('version-1', import.meta.url));

async function folderOfVersion1(): Promise<string> {
  const folder = await temporaryFolder();
  await cp(VERSION_1, folder, { recursive: true });
  return folder;
}

async function filesOf(folder: string): Promise<string[]> {
  return Promise.all(['db.json', 'journal.jsonl'].map((name) => readFile(join(folder, name), 'utf8')));
}

const initial = async () => records();

type Named = { holder: string };
const renamed =
  (rename: (holder: string) => string) =>
  ({ wallets, ...rest }: RawState): RawState =>
    wallets === undefined
      ? rest
      : { ...rest, wallets: (wallets as Named[]).map((one) => ({ ...one, holder: rename(one.holder) })) };

const STEPS: readonly Migration[] = [
  ...MIGRATIONS,
  { from: SNAPSHOT_VERSION, describe: 'holders get a mark', migrate: renamed((holder) => `${holder} A`) },
  {
    from: SNAPSHOT_VERSION + 1,
    describe: 'holders get a second mark',
    migrate: renamed((holder) => `${holder} B`),
  },
];
const LATEST = SNAPSHOT_VERSION + 2;

/** The store of a future release with these steps. */
async function storeWith(steps: readonly Migration[]): Promise<typeof Store> {
  vi.resetModules();
  vi.doMock('../../src/store/migrations.ts', async (original) => {
    const real = await original<typeof import('../../src/store/migrations.ts')>();
    return {
      ...real,
      SNAPSHOT_VERSION: steps.length + 1,
      migrate: (state: RawState, version: unknown, source: string) =>
        real.migrate(state, version, source, steps),
    };
  });
  onTestFinished(() => vi.doUnmock('../../src/store/migrations.ts'));
  return (await import('../../src/store/store.ts')).Store;
}

describe('a folder of version 1', () => {
  it('can be opened and keeps its records', async () => {
    const folder = await folderOfVersion1();
    const store = await Store.open({ folder, fsync: false }, initial);
    onTestFinished(() => store.close());
    expect(store.found).toBe(true);
    expect(store.notices).toEqual([]);
    expect([...store.state.payments.values()].map(({ identifier, status }) => [identifier, status])).toEqual([
      ['order-1', 'succeeded'],
      ['order-2', 'pending'],
    ]);
    expect(store.state.wallets.get('wal_first_usd')?.balance).toBe('900');
    expect(store.state.merchants.get('mer_1')?.balances).toEqual({ USD: '98' });
    const [delivery] = store.state.deliveriesOf('pay_000000000000000000000001');
    expect(delivery).toMatchObject({ state: 'pending', signedText: '100.00order-1', once: false });
  });

  it('that is older than automatic settling and manual IPNs gets their defaults', async () => {
    const folder = await folderOfVersion1();
    for (const name of ['db.json', 'journal.jsonl']) {
      const text = await readFile(join(folder, name), 'utf8');
      await writeFile(
        join(folder, name),
        text.replaceAll('"auto":null,', '').replaceAll('"once":false,', ''),
      );
    }
    const store = await Store.open({ folder, fsync: false }, initial);
    onTestFinished(() => store.close());
    expect([...store.state.payments.values()].map(({ auto }) => auto)).toEqual([null, null]);
    expect([...store.state.deliveries.values()].map(({ once }) => once)).toEqual([false]);
  });

  it('goes through every later step, both snapshot and journal, and then has the newest version', async () => {
    const folder = await folderOfVersion1();
    const Later = await storeWith(STEPS);
    const store = await Later.open({ folder, fsync: false }, initial);
    const holders = () => [...store.state.wallets.values()].map(({ holder }) => holder);
    const migrated = ['First Holder A B', 'Rich Holder A B', 'Poor Holder A B', 'Rich Holder A B'];
    expect(holders()).toEqual(migrated);
    await store.commit(() => ({ change: { wallets: [wallet({ id: 'new', holder: 'New' })] }, result: null }));
    // The folder is as a kill would leave it: the journal has lines of both versions, and the snapshot still has the
    // older version.
    const killed = await temporaryFolder();
    await cp(folder, killed, { recursive: true });
    await store.close();
    const [snapshot = ''] = await filesOf(folder);
    expect(JSON.parse(snapshot).version).toBe(LATEST);
    expect(await changesIn(folder)).toBe(0);
    for (const path of [folder, killed]) {
      const again = await Later.open({ folder: path, fsync: false }, initial);
      expect([...again.state.wallets.values()].map(({ holder }) => holder)).toEqual([...migrated, 'New']);
      await again.close();
    }
  });

  it('with an old journal and a new snapshot leads to the same state', async () => {
    const folder = await folderOfVersion1();
    const [, journal = ''] = await filesOf(folder);
    const Later = await storeWith(STEPS);
    const store = await Later.open({ folder, fsync: false }, initial);
    const before = store.snapshot();
    await store.close();
    await writeFile(join(folder, 'journal.jsonl'), journal);
    const again = await Later.open({ folder, fsync: false }, initial);
    onTestFinished(() => again.close());
    expect(again.snapshot()).toEqual(before);
  });

  it('that a step cannot migrate is reported as damaged, and nothing on disk changes', async () => {
    const folder = await folderOfVersion1();
    const before = await filesOf(folder);
    const failing = () => {
      throw new Error('no such wallet');
    };
    const Later = await storeWith([
      ...STEPS,
      { from: LATEST, describe: 'wallets are merged', migrate: failing },
    ]);
    await expect(Later.open({ folder, fsync: false }, initial)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${join(folder, 'journal.jsonl')} line 1 cannot be migrated from version ${LATEST} (wallets are merged): no such wallet`,
      remedy: expect.stringContaining('state reset'),
    });
    expect(await filesOf(folder)).toEqual(before);
  });
});

describe('version 1', () => {
  const next = (state: RawState) => MIGRATIONS[0]?.migrate(state);

  it('has texts that become data, or are dropped if other fields have the same facts', () => {
    const before = {
      payments: [{ id: 'pay_1', history: [{ at: 'now', event: 'settled', detail: 'succeeded' }] }],
      deliveries: [{ id: 'ipn_1', note: 'it was down' }],
      attempts: [
        { id: 'att_1', error: null },
        { id: 'att_2', error: 'it was down' },
      ],
      wallets: [{ id: 'wal_1' }],
    };
    expect(next(before)).toEqual({
      payments: [{ id: 'pay_1', history: [{ at: 'now', event: 'settled', value: 'succeeded' }] }],
      deliveries: [{ id: 'ipn_1' }],
      attempts: [
        { id: 'att_1', failure: null },
        { id: 'att_2', failure: { code: 'other', message: 'it was down' } },
      ],
      wallets: [{ id: 'wal_1' }],
    });
  });

  it('has attempts that count as failed even if their error is invalid', () => {
    const before = { attempts: [{ id: 'att_1', error: {} }] };
    expect(next(before)).toEqual({
      attempts: [{ id: 'att_1', failure: { code: 'other', message: {} } }],
    });
  });

  it.each([{ payments: 'none' }, { attempts: [null, 7] }, {}])(
    'has values that stay unchanged if they are not records: %j',
    (before) => {
      expect(next(before)).toEqual(before);
    },
  );
});

describe('version 2', () => {
  it('has records that lack newer fields, which get the value that they meant', () => {
    const next = MIGRATIONS[1];
    const fault = { route: 'ipn', status: 500 };
    const before = {
      payments: [{ id: 'pay_1' }, { id: 'pay_2', auto: { outcome: 'cancel' } }],
      deliveries: [
        { id: 'ipn_1' },
        { id: 'ipn_2', once: true, signedAnew: true, postponedBy: fault, tampered: [{}] },
      ],
      attempts: [{ id: 'att_1' }, { id: 'att_2', fault }],
      wallets: [{ id: 'wal_1' }],
    };
    expect(next?.migrate(before)).toEqual({
      payments: [{ id: 'pay_1', auto: null }, before.payments[1]],
      deliveries: [
        { id: 'ipn_1', once: false, signedAnew: false, postponedBy: null, tampered: [] },
        before.deliveries[1],
      ],
      attempts: [{ id: 'att_1', fault: null }, before.attempts[1]],
      wallets: before.wallets,
    });
  });
});

describe('a newer version', () => {
  it('of a journal line is rejected, and nothing on disk changes', async () => {
    const folder = await folderOfVersion1();
    const [, journal = ''] = await filesOf(folder);
    await writeFile(
      join(folder, 'journal.jsonl'),
      `${journal}{"version":${SNAPSHOT_VERSION + 1},"wallets":[]}\n`,
    );
    const before = await filesOf(folder);
    await expect(Store.open({ folder, fsync: false }, initial)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${join(folder, 'journal.jsonl')} line 3 has version ${SNAPSHOT_VERSION + 1}, but this gateway-sim reads versions up to ${SNAPSHOT_VERSION}`,
      remedy: expect.stringContaining('newer gateway-sim'),
    });
    expect(await filesOf(folder)).toEqual(before);
  });
});

describe('migrating', () => {
  const state = { wallets: [{ holder: 'Ada' }] };

  it.each([
    [1, 'Ada A B'],
    [SNAPSHOT_VERSION, 'Ada A B'],
    [SNAPSHOT_VERSION + 1, 'Ada B'],
    [LATEST, 'Ada'],
  ])('from version %i runs the later steps in order', (version, holder) => {
    expect(migrate(state, version, 'it', STEPS)).toEqual({ wallets: [{ holder }] });
  });

  it.each([0, -1, 1.5, '1', null, undefined])('from the invalid version %j is rejected', (version) => {
    expect(() => migrate(state, version, 'it', STEPS)).toThrow('it is not a gateway-sim state');
  });

  it('has a step for each version, in order', () => {
    expect(MIGRATIONS.map(({ from }) => from)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });
});
