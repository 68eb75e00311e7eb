import { readFileSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { Low } from 'lowdb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { initiate } from '../../src/domain/payment.ts';
import { settle } from '../../src/domain/settle.ts';
import { type Change, State } from '../../src/domain/state.ts';
import { SNAPSHOT_VERSION, type Snapshot } from '../../src/store/snapshot.ts';
import { Store } from '../../src/store/store.ts';
import {
  interceptFiles,
  interceptNow,
  interceptSyncs,
  isNewVersionOf,
  preventReplacing,
} from '../helpers/file-calls.ts';
import { copyOfFiles, temporaryFolder } from '../helpers/folder.ts';
import { context, input, records, wallet } from '../helpers/records.ts';
import { changesIn, dbOf, idsIn, journalOf, openStore, put } from '../helpers/store.ts';

const KINDS = [
  { kind: 'in memory', opened: () => Store.inMemory(records()) },
  { kind: 'on disk', opened: async () => openStore(await temporaryFolder()) },
  { kind: 'on disk with fsync', opened: async () => openStore(await temporaryFolder(), { fsync: true }) },
];

const broke = () => {
  throw new GatewayError('wrong_state', 'the rule says no');
};

const INITIAL = records().wallets.map(({ id }) => id);

it.skipIf(process.platform === 'win32')('only the owner can read its files', async () => {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  const modes = async () =>
    Promise.all([dbOf(folder), journalOf(folder)].map(async (path) => (await stat(path)).mode & 0o777));
  expect(await modes()).toEqual([0o600, 0o600]);
  await store.commit(put('a'));
  await store.close();
  expect(await modes()).toEqual([0o600, 0o600]);
});

/** So that no snapshot is written a second after a change. */
function useFakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

describe.each(KINDS)('a store $kind', ({ opened }) => {
  it('stores a rule’s change and returns its result', async () => {
    const store = await opened();
    const result = { any: 'thing' };
    const stored = await store.commit(() => ({ change: { wallets: [wallet({ id: 'new' })] }, result }));
    expect(stored).toBe(result);
    expect(store.state.wallets.get('new')).toEqual(wallet({ id: 'new' }));
  });

  it('shows a rule the changes of earlier rules, even if they are not yet stored', async () => {
    const store = await opened();
    const seen: number[] = [];
    const count = (id: string) => (state: State) => {
      seen.push(state.wallets.size);
      return put(id)();
    };
    await Promise.all(['a', 'b', 'c'].map((id) => store.commit(count(id))));
    expect(seen).toEqual([INITIAL.length, INITIAL.length + 1, INITIAL.length + 2]);
  });

  it('throws the error of a rule, without changes or calls of listeners', async () => {
    const store = await opened();
    const heard = vi.fn();
    store.onChange(heard);
    await expect(store.commit(broke)).rejects.toMatchObject({
      code: 'wrong_state',
      message: 'the rule says no',
    });
    expect(store.snapshot()).toEqual(records());
    expect(heard).not.toHaveBeenCalled();
  });

  it('calls every listener for every change in order, before the commit resolves', async () => {
    const store = await opened();
    const heard: Change[] = [];
    const second = vi.fn();
    store.onChange((change) => heard.push(change));
    store.onChange(second);
    const names = Array.from({ length: 50 }, (_, index) => `w${index}`);
    const heardAtResolve = await Promise.all(
      names.map(async (id) => {
        await store.commit(put(id));
        return heard.some((change) => change.wallets?.[0]?.id === id);
      }),
    );
    expect(heard.map((change) => change.wallets?.[0]?.id)).toEqual(names);
    expect(second).toHaveBeenCalledTimes(50);
    expect(heardAtResolve.every(Boolean)).toBe(true);
  });

  it('allows a listener to commit', async () => {
    const store = await opened();
    const followed = new Promise<string>((resolve) => {
      store.onChange((change) => {
        if (change.wallets?.[0]?.id === 'cause') resolve(store.commit(put('effect')));
      });
    });
    await store.commit(put('cause'));
    expect(await followed).toBe('effect');
    expect(idsIn(store)).toEqual([...INITIAL, 'cause', 'effect']);
  });

  it('is held by lowdb: its data is what rules read, and read() returns what write() wrote', async () => {
    useFakeTimeouts();
    const store = await opened();
    await store.replace({ ...records(), wallets: [wallet({ id: 'only' })] });
    await store.commit((state) => {
      expect(state).toBe(store.db.data);
      return put('later')();
    });
    await store.db.write();
    const written = store.snapshot();
    store.db.data = new State();
    expect(store.state.size).toBe(0);
    await store.db.read();
    expect(store.snapshot()).toEqual(written);
  });

  it('returns snapshots that later commits do not change', async () => {
    const store = await opened();
    const early = store.snapshot();
    await store.commit(put('later'));
    expect(early).toEqual(records());
  });

  it('accepts no changes after it is closed, and can be closed twice', async () => {
    const store = await opened();
    const last = store.commit(put('last'));
    await store.close();
    await last;
    await store.close();
    await expect(store.commit(put('late'))).rejects.toMatchObject({ code: 'storage_failed' });
    await expect(store.replace(records())).rejects.toMatchObject({ code: 'storage_failed' });
    expect(idsIn(store)).toEqual([...INITIAL, 'last']);
  });
});

describe('the files of a store', () => {
  /** A store in a new folder. */
  async function fresh(options: Parameters<typeof openStore>[1] = {}) {
    const folder = await temporaryFolder();
    return { folder, store: await openStore(folder, options) };
  }

  it('restore the whole state in the same order, without using the initial state', async () => {
    const folder = await temporaryFolder();
    const first = await openStore(folder);
    const using = context();
    const payment = await first.commit((state) => initiate(state, input(), 'live', using));
    await first.commit((state) =>
      settle(state, payment, { outcome: 'approve', delivery: 'ipn-twice', by: 'panel' }, using),
    );
    await first.commit(put('wal_eur', { balance: '3' }));
    const before = first.snapshot();
    await first.close();
    const initial = vi.fn(async () => records());
    const second = await openStore(folder, {}, initial);
    expect(second.snapshot()).toEqual(before);
    expect(second.state.findPayment('order-1')?.status).toBe('succeeded');
    expect(second.state.deliveriesOf(payment.id)).toHaveLength(2);
    expect(initial).not.toHaveBeenCalled();
    expect(second.notices).toEqual([]);
  });

  it('contain every change, one per line, before it is acknowledged', async () => {
    const { folder, store } = await fresh();
    await Promise.all(['a', 'b'].map((id) => store.commit(put(id))));
    const text = await readFile(journalOf(folder), 'utf8');
    expect(text.endsWith('\n')).toBe(true);
    const [first, ...lines] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      journal: expect.any(Number),
      id: JSON.parse(await readFile(dbOf(folder), 'utf8')).id,
      db: expect.stringMatching(/^[0-9a-f]{64}$/),
      after: 1,
    });
    const crc32 = expect.stringMatching(/^[0-9a-f]{8}$/);
    expect(lines).toEqual([
      { line: 2, version: SNAPSHOT_VERSION, wallets: [wallet({ id: 'a' })], crc32 },
      { line: 3, version: SNAPSHOT_VERSION, wallets: [wallet({ id: 'b' })], crc32 },
    ]);
  });

  it.each([false, true])(
    'need no method of file handles that throws under Yarn’s Plug’n’Play, fsync %s',
    async (fsync) => {
      const file = await open(import.meta.filename);
      const handles = Object.getPrototypeOf(file) as FileHandle;
      await file.close();
      for (const name of ['datasync', 'sync', 'utimes'] as const)
        vi.spyOn(handles, name).mockImplementation(() => {
          throw new Error('Method not implemented.');
        });
      onTestFinished(() => void vi.restoreAllMocks());
      const warn = vi.fn();
      const { folder, store } = await fresh({ fsync, warn });
      await store.commit(put('a'));
      await store.close();
      expect([await changesIn(folder), warn.mock.calls]).toEqual([0, []]);
    },
  );

  it('accept no more changes after they are lost, whether one or several at a time', async () => {
    let areLost = false;
    const assertOurs = () => {
      if (areLost) throw new GatewayError('storage_failed', 'the files are lost');
    };
    const { store } = await fresh({ assertOurs });
    const many = () => Promise.all(['a', 'b', 'c'].map((id) => store.commit(put(id))));
    await many();
    areLost = true;
    await expect(many()).rejects.toThrow('lost');
    await expect(store.commit(put('alone'))).rejects.toThrow('lost');
    expect(idsIn(store)).toEqual([...INITIAL, 'a', 'b', 'c']);
  });

  it.each(['a change', 'a snapshot', 'close'])(
    'are reported as lost only once, when %s detects the loss, which the store still reports after it is closed',
    async (finder) => {
      useFakeTimeouts();
      let areLost = false;
      const assertOurs = () => {
        if (areLost) throw new GatewayError('storage_failed', 'the files are lost');
      };
      const warn = vi.fn();
      const { store } = await fresh({ assertOurs, warn });
      await store.commit(put('kept'));
      expect(store.isLost).toBe(false);
      areLost = true;
      if (finder === 'a change') await expect(store.commit(put('a'))).rejects.toThrow('lost');
      if (finder !== 'close') {
        await vi.advanceTimersByTimeAsync(1_000);
        expect(warn.mock.calls).toEqual([['the files are lost']]);
        await expect(store.commit(put('b'))).rejects.toThrow('lost');
      }
      await store.close();
      expect([warn.mock.calls, store.isLost]).toEqual([[['the files are lost']], true]);
    },
  );

  it.each([1, 2])(
    'are left unchanged if they are lost in wait %i for the disk before a snapshot replaces them',
    async (wait) => {
      let waits = 0;
      const assertOurs = () => {
        if (waits >= wait) throw new GatewayError('storage_failed', 'the files are lost');
      };
      const { folder, store } = await fresh({ assertOurs });
      await store.commit(put('a'));
      const before = await readFile(dbOf(folder));
      interceptSyncs(async (sync) => {
        await sync();
        waits++;
      });
      await store.close();
      expect(await readFile(dbOf(folder))).toEqual(before);
      expect((await readdir(folder)).join()).not.toContain('.tmp');
    },
  );

  it('are left unchanged if they are lost while a snapshot replaces them', async () => {
    let areLost = false;
    const assertOurs = () => {
      if (areLost) throw new GatewayError('storage_failed', 'the files are lost');
    };
    const warn = vi.fn();
    const { folder, store } = await fresh({ assertOurs, warn });
    await store.commit(put('kept'));
    let journal = Buffer.of();
    interceptNow(['renameSync'], (rename, _, path) => {
      rename();
      if (!isNewVersionOf(path, dbOf(folder))) return;
      areLost = true;
      journal = readFileSync(journalOf(folder));
    });
    await store.close();
    expect(journal.toString()).toContain('"kept"');
    expect(await readFile(journalOf(folder))).toEqual(journal);
    expect([warn.mock.calls, store.isLost]).toEqual([[['the files are lost']], true]);
  });

  it('include a snapshot with one record per line as soon as the store is open', async () => {
    const { folder } = await fresh();
    const text = await readFile(dbOf(folder), 'utf8');
    expect(JSON.parse(text)).toEqual({ ...records(), id: expect.stringMatching(/^[0-9a-f]{16}$/) });
    for (const record of records().wallets) expect(text.split(/,?\n/)).toContain(JSON.stringify(record));
  });

  it('get a new snapshot and an empty journal a second after the last change if the state is small', async () => {
    useFakeTimeouts();
    const { folder, store } = await fresh();
    await store.commit(put('fresh'));
    vi.advanceTimersByTime(600);
    await store.commit(put('fresher'));
    vi.advanceTimersByTime(999);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(vi.getTimerCount()).toBe(0);
    await expect.poll(() => changesIn(folder)).toBe(0);
    expect(await readFile(dbOf(folder), 'utf8')).toMatch(/"fresh"[\s\S]*"fresher"/);
    await store.commit(put('freshest'));
    expect(await changesIn(folder)).toBe(1);
  });

  it('get a snapshot immediately if the journal has outgrown the state, and the next one after a delay', async () => {
    useFakeTimeouts();
    const { store } = await fresh();
    const large = { wallets: [wallet({ holder: 'x'.repeat(9 * 2 ** 20) })] };
    await store.commit(() => ({ change: large, result: null }));
    expect(vi.getTimerCount()).toBe(0);
    await store.commit(() => ({ change: large, result: null }));
    await store.commit(put('small'));
    await expect.poll(() => vi.getTimerCount()).toBe(1);
  });

  it('get a snapshot of a large state only when the journal has outgrown it', async () => {
    const { folder, store } = await fresh();
    const many = (name: string, length: number) => () => {
      const holder = 'x'.repeat(2_000);
      const wallets = Array.from({ length }, (_, index) => wallet({ id: `${name}-${index}`, holder }));
      return { change: { wallets }, result: null };
    };
    const writes = vi.spyOn(Low.prototype, 'write');
    onTestFinished(() => writes.mockRestore());
    /** Whether a snapshot is being written. It begins after two batches. */
    const isWritten = async () => {
      for (const id of ['small', 'later', 'last']) await store.commit(put(id));
      return writes.mock.calls.length > 0;
    };
    await store.commit(many('a', 6_000));
    expect(await isWritten()).toBe(true);
    await expect.poll(() => changesIn(folder)).toBeLessThan(4);
    writes.mockClear();
    await store.commit(many('b', 5_000));
    expect(await isWritten()).toBe(false);
    await store.commit(many('c', 5_000));
    expect(await isWritten()).toBe(true);
  });

  it('do not contain changes that could not be synced, or later changes based on them', async () => {
    const { folder, store } = await fresh({ fsync: true });
    await store.commit(put('kept'));
    let onTop: Promise<string> | undefined;
    interceptSyncs((sync) => {
      if (onTop) return sync();
      onTop = store.commit(put('on top'));
      return Promise.reject(new Error('EIO'));
    });
    const lost = store.commit(put('lost'));
    await expect(lost).rejects.toMatchObject({ code: 'storage_failed' });
    await expect(onTop).rejects.toMatchObject({ code: 'storage_failed' });
    expect(idsIn(store)).toEqual([...INITIAL, 'kept']);
    await store.commit(put('after'));
    const second = await openStore(await copyOfFiles(folder));
    expect(idsIn(second)).toEqual([...INITIAL, 'kept', 'after']);
  });

  it.each(['is stored', 'fails'])(
    'are complete when `stored` resolves: a change during a sync %s',
    async (end) => {
      const { store } = await fresh({ fsync: true });
      const order: string[] = [];
      const note = (name: string, work: Promise<unknown>) =>
        work.then(
          () => order.push(`${name} resolves`),
          () => order.push(`${name} rejects`),
        );
      let all: Promise<unknown> | undefined;
      let syncs = 0;
      interceptSyncs((sync) => {
        if (++syncs === 1)
          all = Promise.all([note('change', store.commit(put('later'))), note('stored', store.stored())]);
        return syncs === 2 && end === 'fails' ? Promise.reject(new Error('EIO')) : sync();
      });
      await store.commit(put('first'));
      await all;
      const verb = end === 'fails' ? 'rejects' : 'resolves';
      expect(order).toEqual([`change ${verb}`, `stored ${verb}`]);
    },
  );

  it.each(['before', 'while'])(
    'keep an edit of db.json that is made %s a snapshot is written, under another name',
    async (moment) => {
      const warn = vi.fn();
      const { folder, store } = await fresh({ warn });
      await store.commit(put('a'));
      const edit = () => writeFile(dbOf(folder), 'edited');
      if (moment === 'before') await edit();
      else {
        interceptFiles(['open'], async (_, open, [path]) => {
          if (isNewVersionOf(path, dbOf(folder))) await edit();
          return open();
        });
      }
      await store.close();
      const [kept = ''] = /\S+\/db\.edited-[\dT.-]+Z\.json/.exec(store.notices.join()) ?? [];
      expect(await readFile(kept, 'utf8')).toBe('edited');
      const notice = `${dbOf(folder)} was edited while gateway-sim was using it: the edit has no effect and is kept as ${kept} (stop the emulator before you edit, or use state import)`;
      expect([warn.mock.calls, store.notices]).toEqual([[[notice]], [notice]]);
      const again = await openStore(folder);
      expect([idsIn(again), again.notices]).toEqual([[...INITIAL, 'a'], []]);
    },
  );

  it('leave an edit of db.json where it is if it cannot be kept', async () => {
    const warn = vi.fn();
    const { folder, store } = await fresh({ warn });
    await store.commit(put('a'));
    await writeFile(dbOf(folder), 'edited');
    interceptNow(['linkSync'], () => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    });
    await store.close();
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('db.json could not be updated (the disk is full)')],
    ]);
    expect([await readFile(dbOf(folder), 'utf8'), await changesIn(folder)]).toEqual(['edited', 1]);
  });

  it('do not contain a change that a snapshot included before it was rolled back', async () => {
    useFakeTimeouts();
    const { folder, store } = await fresh({ fsync: true });
    await store.commit(put('kept'));
    const change = { wallets: [wallet({ id: 'new' }), wallet({ id: 'kept', holder: 'replaced' })] };
    let lost: Promise<string> | undefined;
    let syncs = 0;
    interceptSyncs(async (sync) => {
      syncs++;
      // Applied before the snapshot begins, and written after that.
      if (syncs === 1) lost = store.commit(() => ({ change, result: 'lost' }));
      if (syncs !== 2) return sync();
      // Long enough for a snapshot that does not wait.
      for (let reads = 0; reads < 100; reads++) await readFile(dbOf(folder));
      throw new Error('EIO');
    });
    vi.advanceTimersByTime(1_000);
    await store.commit(put('first'));
    await expect(lost).rejects.toMatchObject({ code: 'storage_failed' });
    await expect.poll(async () => (await readdir(folder)).join()).not.toContain('.tmp');
    expect(await readFile(dbOf(folder), 'utf8')).not.toMatch(/"new"|"replaced"/);
    const left = await openStore(await copyOfFiles(folder));
    expect(idsIn(left)).toEqual([...INITIAL, 'kept', 'first']);
    expect(left.state.wallets.get('kept')).toEqual(wallet({ id: 'kept' }));
  });
});

/** A state with a single, different wallet. */
const replacement = { ...records(), wallets: [wallet({ id: 'only' })] };
const walletIds = (snapshot: Pick<Snapshot, 'wallets'>) => snapshot.wallets.map(({ id }) => id);

async function reopened(folder: string): Promise<Snapshot> {
  const store = await openStore(folder);
  const snapshot = store.snapshot();
  expect(store.notices).toEqual([]);
  await store.close();
  return snapshot;
}

describe('a replaced state', () => {
  it('is one journal line, marked as a reset', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    preventReplacing(dbOf(folder));
    await store.replace(replacement);
    const [, ...lines] = (await readFile(journalOf(folder), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { reset: true, merchants: records().merchants, wallets: [wallet({ id: 'only' })], payments: [] },
    ]);
  });

  it('that cannot be stored is rolled back with all later changes', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder, { fsync: true });
    await store.commit(put('before'));
    let failures = 1;
    interceptSyncs((sync) => (failures-- > 0 ? Promise.reject(new Error('ENOSPC')) : sync()));
    const work = [
      store.commit(put('with it')),
      store.replace(replacement),
      store.commit(put('on top of it')),
    ];
    const outcomes = await Promise.allSettled<unknown>(work);
    const failed = { status: 'rejected', reason: expect.objectContaining({ code: 'storage_failed' }) };
    expect(outcomes).toEqual([failed, failed, failed]);
    expect(idsIn(store)).toEqual([...INITIAL, 'before']);
    await store.commit(put('after'));
    await store.close();
    expect(walletIds(await reopened(folder))).toEqual([...INITIAL, 'before', 'after']);
  });

  it('is reported once, between earlier and later changes', async () => {
    const store = await openStore(await temporaryFolder());
    const reported: [first: string | undefined, replaced: boolean][] = [];
    store.onChange(({ wallets }, replaced) => reported.push([wallets?.[0]?.id, replaced]));
    await Promise.all([store.commit(put('a')), store.replace(replacement), store.commit(put('b'))]);
    expect(reported).toEqual([
      ['a', false],
      ['only', true],
      ['b', false],
    ]);
  });

  it('is restored from disk after any sequence of changes', async () => {
    const step = fc.oneof(
      fc.record({ put: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ replace: fc.subarray(['a', 'b', 'x']) }),
      fc.constant('wait' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const folder = await temporaryFolder();
        const store = await openStore(folder);
        const done: Promise<unknown>[] = [];
        for (const one of steps) {
          if (one === 'wait') await Promise.all(done);
          else if ('put' in one) done.push(store.commit(put(one.put)));
          else done.push(store.replace({ ...records(), wallets: one.replace.map((id) => wallet({ id })) }));
        }
        await Promise.all(done);
        // Reads the journal first: a snapshot in between can only include lines that were already read.
        const journal = await readFile(journalOf(folder));
        const db = await readFile(dbOf(folder));
        const before = store.snapshot();
        await store.close();
        expect(await reopened(folder)).toEqual(before);
        // The folder is as a kill would leave it: the journal is not yet in the snapshot.
        await writeFile(dbOf(folder), db);
        await writeFile(journalOf(folder), journal);
        expect(await reopened(folder)).toEqual(before);
      }),
      { numRuns: 40 },
    );
  });
});
