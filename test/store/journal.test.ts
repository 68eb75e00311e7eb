import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cp, link, mkdtemp, open, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { interceptFiles } from '../helpers/file-calls.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { changesIn } from '../helpers/journal.ts';
import { fullSnapshot, records, wallet } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';

const VERSION_1 = fileURLToPath(new URL('version-1', import.meta.url));
const openAt = (folder: string) => Store.open({ folder, fsync: false }, async () => records());
const db = (folder: string) => join(folder, 'db.json');
const journal = (folder: string) => join(folder, 'journal.jsonl');
const put =
  (id: string, holder = 'Somebody') =>
  () => ({ change: { wallets: [wallet({ id, holder })] }, result: id });

/** A folder as a kill leaves it: what was committed stands in the journal. */
async function killed(...ids: string[]): Promise<string> {
  const [folder, copy] = [await temporaryFolder(), await temporaryFolder()];
  const store = await openAt(folder);
  for (const id of ids) await store.commit(put(id));
  await cp(folder, copy, { recursive: true });
  await store.close();
  return copy;
}

const idsOf = (store: Store) =>
  [...store.state.wallets.values()].map(({ id }) => id).slice(records().wallets.length);

async function reopened(folder: string): Promise<{ ids: string[]; notices: string[] }> {
  const store = await openAt(folder);
  const found = { ids: idsOf(store), notices: store.notices };
  await store.close();
  return found;
}

async function editJournal(folder: string, edit: (lines: string[]) => string[]): Promise<void> {
  const lines = (await readFile(journal(folder), 'utf8')).trimEnd().split('\n');
  await writeFile(
    journal(folder),
    edit(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

describe('a kill at any step', () => {
  /** Does something to a folder, with a copy of it as it is before and after each step, and what was acknowledged then. */
  async function copiesDuring(folder: string, work: (acknowledged: Set<string>) => Promise<void>) {
    const copies: { copy: string; holds: string; acknowledged: string[] }[] = [];
    const acknowledged = new Set<string>();
    const probe = await open(join(VERSION_1, 'db.json'));
    const handles = Object.getPrototypeOf(probe);
    await probe.close();
    let onStep: (() => void) | undefined = () => {
      const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]);
      const holds = JSON.stringify(files.filter(([name]) => name !== 'lock'));
      const last = copies.at(-1);
      if (last?.holds === holds) {
        last.acknowledged = [...acknowledged];
        return;
      }
      const copy = mkdtempSync(join(tmpdir(), 'gateway-sim-step-'));
      cpSync(folder, copy, { recursive: true });
      copies.push({ copy, holds, acknowledged: [...acknowledged] });
    };
    interceptFiles(['rename', 'rm'], async (name, call) => {
      if (name === 'rename') onStep?.();
      await call();
      onStep?.();
    });
    const spies = (['appendFile', 'datasync', 'truncate', 'sync'] as const).map((name) => {
      const real = handles[name];
      return vi.spyOn(handles, name).mockImplementation(async function (this: unknown, ...given: unknown[]) {
        const result = await real.apply(this, given);
        onStep?.();
        return result;
      });
    });
    onTestFinished(() => {
      for (const { copy } of copies) rmSync(copy, { recursive: true });
    });
    try {
      await work(acknowledged);
    } finally {
      onStep = undefined;
      for (const spy of spies) spy.mockRestore();
    }
    return copies;
  }

  const commit = async (store: Store, id: string, acknowledged: Set<string>) => {
    await store.commit(put(id));
    acknowledged.add(id);
  };

  it.each([
    ['of a first start', async () => temporaryFolder()],
    ['of a start behind a kill', () => killed('a', 'b')],
    [
      'of a start behind a db.json that was edited',
      async () => {
        const folder = await killed();
        await writeFile(db(folder), JSON.stringify(records()));
        return folder;
      },
    ],
    [
      'of the migration of a folder without checksums',
      async () => {
        const folder = await temporaryFolder();
        await cp(VERSION_1, folder, { recursive: true });
        return folder;
      },
    ],
  ])('%s, of commits and of the snapshots on closing loses nothing', async (_, folderOf) => {
    const folder = await folderOf();
    const before = await temporaryFolder();
    await cp(folder, before, { recursive: true });
    const kept = (await reopened(before)).ids;
    const copies = await copiesDuring(folder, async (acknowledged) => {
      for (const id of kept) acknowledged.add(id);
      for (const id of ['first', 'second']) {
        const store = await openAt(folder);
        await commit(store, id, acknowledged);
        await store.close();
      }
    });
    expect(copies.length).toBeGreaterThan(10);
    await expectNothingLost(copies);
    expect((await reopened(folder)).ids).toEqual([...kept, 'first', 'second']);
  });

  it('of a snapshot between commits loses nothing', async () => {
    const folder = await temporaryFolder();
    const copies = await copiesDuring(folder, async (acknowledged) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const store = await openAt(folder);
      await commit(store, 'before', acknowledged);
      vi.advanceTimersByTime(1_000);
      let count = 0;
      do await commit(store, `during-${++count}`, acknowledged);
      while ((await changesIn(folder)) > count);
      await store.close();
    });
    expect(copies.length).toBeGreaterThan(10);
    await expectNothingLost(copies);
  });

  async function expectNothingLost(copies: Awaited<ReturnType<typeof copiesDuring>>): Promise<void> {
    for (const { copy, acknowledged } of copies) {
      const { ids } = await reopened(copy);
      expect(ids).toEqual(expect.arrayContaining(acknowledged));
      expect(new Set(ids).size).toBe(ids.length);
    }
  }
});

describe('a journal', () => {
  it('with any one byte changed is refused, or read as it was', async () => {
    const folder = await killed('a', 'é😀');
    const bytes = await readFile(journal(folder));
    const [good, kept] = [await readFile(db(folder)), (await reopened(folder)).ids];
    const copy = await mkdtemp(join(tmpdir(), 'gateway-sim-test-'));
    onTestFinished(() => rm(copy, { recursive: true }));
    const accepted: number[] = [];
    for (let at = 0; at < bytes.length; at += IS_RELEASE ? 1 : 3) {
      for (const value of at % 4 ? [(bytes[at] ?? 0) ^ 1] : [(bytes[at] ?? 0) ^ 1, 0x0a]) {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        if (changed.equals(bytes)) continue;
        await Promise.all([writeFile(db(copy), good), writeFile(journal(copy), changed)]);
        const outcome = await reopened(copy).catch(({ code }) => code);
        if (outcome === 'state_damaged') continue;
        accepted.push(at);
        expect({ at, ids: outcome.ids }).toEqual({ at, ids: kept });
      }
    }
    expect(accepted).toEqual([]);
  });

  it.each([
    [
      'doubled',
      (lines: string[]) => lines.flatMap((line, index) => (index === 1 ? [line, line] : [line])),
      /number 2 is missing, it has number 1/,
    ],
    [
      'moved',
      ([first = '', a = '', b = '']: string[]) => [first, b, a],
      /line 2 is damaged: number 1 is missing, it has number 2/,
    ],
    [
      'missing',
      ([first = '', , b = '']: string[]) => [first, b],
      /line 2 is damaged: number 1 is missing, it has number 2/,
    ],
    [
      'without its checksum',
      (lines: string[]) => lines.map((line) => line.replace(/,"crc32":"\w+"\}$/, '}')),
      /line 1 is damaged: its checksum does not fit/,
    ],
  ])('with a line %s is refused', async (_, edit, message) => {
    const folder = await killed('a', 'b');
    await editJournal(folder, edit);
    await expect(openAt(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: expect.stringMatching(message),
    });
  });

  it('that is missing is refused, and an empty one in its place is the way to go on', async () => {
    const folder = await killed('a');
    await rm(journal(folder));
    // As a start leaves it there.
    await writeFile(join(folder, '.gitignore'), '*\n');
    await expect(openAt(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${journal(folder)} is missing, which holds what changed since ${db(folder)} was written`,
      remedy: expect.stringMatching(/Put journal\.jsonl back, or make an empty one .* state reset/),
    });
    await writeFile(journal(folder), '');
    expect(await reopened(folder)).toEqual({ ids: [], notices: [] });
  });

  it('is not missed where somebody put nothing but a db.json', async () => {
    const folder = await temporaryFolder();
    await writeFile(db(folder), JSON.stringify({ ...records(), wallets: [wallet({ id: 'mine' })] }));
    const store = await openAt(folder);
    onTestFinished(() => store.close());
    expect([...store.state.wallets.values()].map(({ id }) => id)).toEqual(['mine']);
    expect(store.notices).toEqual([]);
  });

  it.each([
    ['has a payment in no currency', { currency: 'XXX' }, 'currency "XXX" is not known'],
    ['has a payment that was settled at no time', { status: 'succeeded' }, 'settledAt must be set'],
  ])('that is edited so that it %s is refused, and left as it is', async (_, change, problem) => {
    const folder = await temporaryFolder();
    const held = fullSnapshot();
    const edited = { ...held, payments: held.payments.map((payment) => ({ ...payment, ...change })) };
    const first = await Store.open({ folder, fsync: false }, async () => held);
    await first.close();
    const text = JSON.stringify(edited);
    await writeFile(db(folder), text);
    const refused = expect.objectContaining({
      code: 'state_damaged',
      message: expect.stringContaining(problem),
    });
    await expect(openAt(folder)).rejects.toEqual(refused);
    expect(await readFile(db(folder), 'utf8')).toBe(text);
    // Alone in another folder it comes from outside as well.
    const alone = await temporaryFolder();
    await writeFile(db(alone), text);
    await expect(openAt(alone)).rejects.toEqual(refused);
  });

  it('beside a db.json that we wrote lets it open whatever the options know', async () => {
    const folder = await temporaryFolder();
    const held = fullSnapshot();
    const payments = held.payments.map((payment) => ({ ...payment, currency: 'NPR' }));
    await (await Store.open({ folder, fsync: false }, async () => ({ ...held, payments }))).close();
    const store = await openAt(folder);
    onTestFinished(() => store.close());
    expect(store.state.payments.size).toBe(1);
  });

  it('whose last line only lacks its newline keeps it, and goes on behind it', async () => {
    const folder = await killed('a', 'b');
    const text = await readFile(journal(folder), 'utf8');
    await writeFile(journal(folder), text.trimEnd());
    const store = await openAt(folder);
    await store.commit(put('c'));
    const lines = (await readFile(journal(folder), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).line)).toEqual([undefined, 1, 2, 3]);
    await store.close();
    expect(await reopened(folder)).toEqual({ ids: ['a', 'b', 'c'], notices: [] });
  });

  it('beside a good db.json of another time is refused, with both ways out, and both work', async () => {
    const folder = await temporaryFolder();
    const first = await openAt(folder);
    await first.commit(put('old'));
    await first.close();
    const old = await readFile(db(folder));
    const second = await openAt(folder);
    await second.commit(put('newer'));
    await second.close();
    const third = await openAt(folder);
    await third.commit(put('newest'));
    const copy = await temporaryFolder();
    await cp(folder, copy, { recursive: true });
    await third.close();
    const belonging = await readFile(db(copy));
    const held = await readFile(journal(copy));
    await writeFile(db(copy), old);
    await expect(openAt(copy)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${journal(copy)} holds a change to another db.json than ${db(copy)}`,
      remedy: expect.stringMatching(
        /Put the db\.json back that was there, or empty journal\.jsonl .* state reset/,
      ),
    });
    expect(await readFile(journal(copy))).toEqual(held);
    await writeFile(db(copy), belonging);
    expect((await reopened(copy)).ids).toEqual(['old', 'newer', 'newest']);
    await writeFile(db(copy), old);
    await writeFile(journal(copy), '');
    expect((await reopened(copy)).ids).toEqual(['old']);
  });

  it('that holds nothing newer lets db.json be edited, which is said, once', async () => {
    const folder = await temporaryFolder();
    await (await openAt(folder)).close();
    const text = await readFile(db(folder), 'utf8');
    await writeFile(db(folder), text.replace('Poor Holder', 'Paula Holder'));
    const store = await openAt(folder);
    expect(store.notices).toEqual([
      `${db(folder)} was changed since gateway-sim wrote it, and is taken as it is`,
    ]);
    expect(store.state.wallets.get('wal_poor_usd')?.holder).toBe('Paula Holder');
    await store.commit(put('a'));
    await store.close();
    expect(await reopened(folder)).toEqual({ ids: ['a'], notices: [] });
  });

  it('of the format before is migrated: its changes go into db.json', async () => {
    const folder = await temporaryFolder();
    await cp(VERSION_1, folder, { recursive: true });
    const store = await openAt(folder);
    onTestFinished(() => store.close());
    expect(await changesIn(folder)).toBe(0);
    expect(JSON.parse(await readFile(db(folder), 'utf8'))).toEqual(store.snapshot());
    expect(await readFile(journal(folder), 'utf8')).toMatch(/^\{"journal":2,"generation":1,/);
  });
});

describe('records that do not hang together', () => {
  it.each([
    [
      'an id that is there twice',
      { wallets: [wallet(), wallet()] },
      /db\.json is damaged: wallets has the id "wal_rich_usd" twice/,
    ],
    [
      'a reference to a record that is missing',
      {
        cardTransactions: [],
        messages: [
          {
            id: 'msg_1',
            paymentId: 'pay_none',
            identifier: 'x',
            email: 'x',
            code: '1',
            sentAt: '2026-01-01T00:00:00.000Z',
            expiresAt: '2026-01-01T00:00:00.000Z',
          },
        ],
      },
      /is damaged: messages "msg_1": paymentId names "pay_none", which is not in payments/,
    ],
  ])('are found at start: %s', async (_, changes, message) => {
    const folder = await temporaryFolder();
    await (await openAt(folder)).close();
    await writeFile(db(folder), JSON.stringify({ ...records(), ...changes }));
    await expect(openAt(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: expect.stringMatching(message),
    });
  });
});

describe.skipIf(process.platform === 'win32')('a folder from somewhere else', () => {
  it('with a journal that is a link is refused, and what it leads to stays as it was', async () => {
    const folder = await killed('a');
    const victim = join(await temporaryFolder(), 'victim');
    await writeFile(victim, 'a line of somebody else');
    for (const target of [victim, '/dev/zero']) {
      await rm(journal(folder));
      await symlink(target, journal(folder));
      await expect(openAt(folder)).rejects.toMatchObject({
        code: 'state_damaged',
        message: `${journal(folder)} cannot be read: it is a link`,
      });
    }
    expect(await readFile(victim, 'utf8')).toBe('a line of somebody else');
  });

  it('with a db.json that is a link to a file opens', async () => {
    const folder = await killed('a');
    const elsewhere = join(await temporaryFolder(), 'kept.json');
    await rename(db(folder), elsewhere);
    await symlink(elsewhere, db(folder));
    expect(await reopened(folder)).toMatchObject({ ids: ['a'] });
  });

  it('whose files are hard links of another one leaves that as it is', async () => {
    const [folder, copy] = [await killed('a'), await temporaryFolder()];
    for (const path of [db, journal]) await link(path(folder), path(copy));
    const before = await readFile(journal(folder), 'utf8');
    const store = await openAt(copy);
    await store.commit(put('b'));
    await store.close();
    expect(await readFile(journal(folder), 'utf8')).toBe(before);
    expect([await reopened(folder), await reopened(copy)]).toMatchObject([
      { ids: ['a'] },
      { ids: ['a', 'b'] },
    ]);
  });
});
