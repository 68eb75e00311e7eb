import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import {
  copyFile,
  link,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { interceptNow, interceptSyncs, isNewVersionOf, preventReplacing } from '../helpers/file-calls.ts';
import { copyOfFiles, temporaryFolder } from '../helpers/folder.ts';
import { fullSnapshot, records, wallet } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { changesIn, dbOf, idsIn, journalOf, openStore, put } from '../helpers/store.ts';

/** A folder after a kill, with all commits in the journal. */
async function killed(...ids: string[]): Promise<string> {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  for (const id of ids) await store.commit(put(id));
  return copyOfFiles(folder);
}

/** The ids of the wallets that a test added. */
const idsOf = (store: Store) => idsIn(store).slice(records().wallets.length);

async function reopened(folder: string): Promise<{ ids: string[]; notices: string[] }> {
  const store = await openStore(folder);
  const found = { ids: idsOf(store), notices: store.notices };
  await store.close();
  return found;
}

async function editJournal(folder: string, edit: (lines: string[]) => string[]): Promise<void> {
  const lines = (await readFile(journalOf(folder), 'utf8')).trimEnd().split('\n');
  await writeFile(
    journalOf(folder),
    edit(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** A line with its checksum. */
function sealed(json: string): string {
  const content = json.slice(0, -1);
  return `${content},"crc32":"${crc32(content).toString(16).padStart(8, '0')}"}`;
}

describe('a kill at any step', () => {
  /** Copies a folder before and after each step of some work, and notes which commits were acknowledged by then. */
  async function copiesDuring(folder: string, work: (acknowledged: Set<string>) => Promise<void>) {
    const copies: { copy: string; content: string; acknowledged: string[] }[] = [];
    const acknowledged = new Set<string>();
    const probe = await open(import.meta.filename);
    const handles = Object.getPrototypeOf(probe);
    await probe.close();
    let onStep: (() => void) | undefined = () => {
      const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]);
      const content = JSON.stringify(files.filter(([name]) => name !== 'lock'));
      const last = copies.at(-1);
      if (last?.content === content) {
        last.acknowledged = [...acknowledged];
        return;
      }
      const copy = mkdtempSync(join(tmpdir(), 'gateway-sim-step-'));
      cpSync(folder, copy, { recursive: true });
      copies.push({ copy, content, acknowledged: [...acknowledged] });
    };
    interceptNow(['renameSync', 'unlinkSync'], (call, name) => {
      if (name === 'renameSync') onStep?.();
      call();
      onStep?.();
    });
    interceptSyncs(async (sync) => {
      await sync();
      onStep?.();
    });
    const spies = (['appendFile', 'truncate'] as const).map((name) => {
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
    ['of a start after a kill', () => killed('a', 'b')],
    [
      'of a start after an edit of db.json',
      async () => {
        const folder = await killed();
        await writeFile(dbOf(folder), JSON.stringify(records()));
        return folder;
      },
    ],
    [
      'of a start with a db.json that a user put there',
      async () => {
        const folder = await temporaryFolder();
        await writeFile(dbOf(folder), JSON.stringify(records()));
        return folder;
      },
    ],
  ])('%s, of commits or of a snapshot on close loses nothing', async (_, folderOf) => {
    const folder = await folderOf();
    const kept = (await reopened(await copyOfFiles(folder))).ids;
    const copies = await copiesDuring(folder, async (acknowledged) => {
      for (const id of kept) acknowledged.add(id);
      for (const id of ['first', 'second']) {
        const store = await openStore(folder);
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
      const store = await openStore(folder);
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
  it('with any byte changed is rejected or read as before', async () => {
    const folder = await killed('a', 'é😀');
    const bytes = await readFile(journalOf(folder));
    const [good, kept] = [await readFile(dbOf(folder)), (await reopened(folder)).ids];
    const copy = await mkdtemp(join(tmpdir(), 'gateway-sim-test-'));
    onTestFinished(() => rm(copy, { recursive: true }));
    const accepted: number[] = [];
    for (let at = 0; at < bytes.length; at += IS_RELEASE ? 1 : 3) {
      const byte = bytes[at] ?? 0;
      // Flipped, replaced by a newline, removed, and doubled.
      for (const instead of at % 4 ? [[byte ^ 1]] : [[byte ^ 1], [0x0a], [], [byte, byte]]) {
        const changed = Buffer.concat([bytes.subarray(0, at), Buffer.from(instead), bytes.subarray(at + 1)]);
        if (changed.equals(bytes)) continue;
        await Promise.all([writeFile(dbOf(copy), good), writeFile(journalOf(copy), changed)]);
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
      'duplicated',
      (lines: string[]) => lines.flatMap((line, index) => (index === 1 ? [line, line] : [line])),
      /expected number 3, got 2/,
    ],
    [
      'moved',
      ([first = '', a = '', b = '']: string[]) => [first, b, a],
      /line 2 is damaged: expected number 2, got 3/,
    ],
    [
      'missing',
      ([first = '', , b = '']: string[]) => [first, b],
      /line 2 is damaged: expected number 2, got 3/,
    ],
    [
      'without its checksum',
      (lines: string[]) => lines.map((line) => line.replace(/,"crc32":"\w+"\}$/, '}')),
      /line 1 is damaged: its checksum does not match/,
    ],
  ])('with a line %s is rejected', async (_, edit, message) => {
    const folder = await killed('a', 'b');
    await editJournal(folder, edit);
    await expect(openStore(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ['{"journal":3,"id":"x","db":"x","after":1}', /line 1 has version 3, but this .* reads only version 4/],
    ['{"journal":4,"id":"x","db":7,"after":1}', /line 1 is damaged: it does not name a db\.json/],
    ['[]', /line 1 is damaged/],
  ])('with the sealed first line %s is rejected', async (json, message) => {
    const folder = await killed('a');
    await editJournal(folder, (lines) => lines.with(0, sealed(json)));
    await expect(openStore(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: expect.stringMatching(message),
    });
  });

  describe.each(['missing', 'empty'])('that is %s', (what) => {
    const lose = (folder: string) =>
      what === 'empty' ? writeFile(journalOf(folder), '') : rm(journalOf(folder));

    it('after a kill is rejected, also in a copy, until the user gives it up', async () => {
      const folder = await killed('a');
      await lose(folder);
      const copy = await copyOfFiles(folder);
      for (const path of [folder, copy])
        await expect(openStore(path)).rejects.toMatchObject({
          code: 'state_damaged',
          message: `${journalOf(path)} is missing or empty: it contained the changes since ${dbOf(path)} was written, because gateway-sim was not stopped normally`,
          remedy: expect.stringMatching(
            /Restore journal\.jsonl, or remove journal\.needed to continue .* state reset/,
          ),
        });
      await rm(join(folder, 'journal.needed'));
      expect(await reopened(folder)).toEqual({ ids: [], notices: [] });
    });

    it('after a normal stop is no damage, but is after the next kill', async () => {
      const folder = await temporaryFolder();
      const store = await openStore(folder);
      await store.commit(put('a'));
      await store.close();
      expect(await readdir(folder)).toEqual(['db.json', 'journal.jsonl']);
      await lose(folder);
      const second = await openStore(folder);
      expect([idsOf(second), second.notices]).toEqual([['a'], []]);
      const copy = await copyOfFiles(folder);
      await lose(copy);
      await expect(openStore(copy)).rejects.toMatchObject({ code: 'state_damaged' });
    });

    it('is rejected after a stop that could not update db.json', async () => {
      const folder = await temporaryFolder();
      const store = await openStore(folder);
      await store.commit(put('a'));
      preventReplacing(dbOf(folder));
      await store.close();
      await lose(folder);
      await expect(openStore(folder)).rejects.toMatchObject({ code: 'state_damaged' });
    });
  });

  it('is not required next to a db.json from a user', async () => {
    const folder = await temporaryFolder();
    await writeFile(dbOf(folder), JSON.stringify({ ...records(), wallets: [wallet({ id: 'mine' })] }));
    const store = await openStore(folder);
    expect([...store.state.wallets.values()].map(({ id }) => id)).toEqual(['mine']);
    expect(store.notices).toEqual([]);
  });

  it.each([
    ['has a payment in an unknown currency', { currency: 'XXX' }, 'currency "XXX" is unknown'],
    ['has a settled payment without a time', { status: 'succeeded' }, 'settledAt must be set'],
  ])(
    'with an edited db.json that %s is rejected, and the files stay unchanged',
    async (_, change, problem) => {
      const folder = await temporaryFolder();
      const held = fullSnapshot();
      const edited = { ...held, payments: held.payments.map((payment) => ({ ...payment, ...change })) };
      await (await openStore(folder, {}, async () => held)).close();
      const text = JSON.stringify(edited);
      await writeFile(dbOf(folder), text);
      const refused = expect.objectContaining({
        code: 'state_damaged',
        message: expect.stringContaining(problem),
      });
      await expect(openStore(folder)).rejects.toEqual(refused);
      expect(await readFile(dbOf(folder), 'utf8')).toBe(text);
      // Without a journal, it counts as a file from a user.
      const alone = await temporaryFolder();
      await writeFile(dbOf(alone), text);
      await expect(openStore(alone)).rejects.toEqual(refused);
    },
  );

  it('with a db.json from gateway-sim can be opened, whatever the options', async () => {
    const folder = await temporaryFolder();
    const held = fullSnapshot();
    const payments = held.payments.map((payment) => ({ ...payment, currency: 'NPR' }));
    await (await openStore(folder, {}, async () => ({ ...held, payments }))).close();
    const store = await openStore(folder);
    expect(store.state.payments.size).toBe(1);
  });

  it('whose last line lacks only its newline keeps that line and continues after it', async () => {
    const folder = await killed('a', 'b');
    const text = await readFile(journalOf(folder), 'utf8');
    await writeFile(journalOf(folder), text.trimEnd());
    const store = await openStore(folder);
    await store.commit(put('c'));
    const lines = (await readFile(journalOf(folder), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).line)).toEqual([undefined, 2, 3, 4]);
    await store.close();
    expect(await reopened(folder)).toEqual({ ids: ['a', 'b', 'c'], notices: [] });
  });

  it('with an older db.json is rejected with two fixes, both of which work', async () => {
    const folder = await temporaryFolder();
    const first = await openStore(folder);
    await first.commit(put('old'));
    await first.close();
    const old = await readFile(dbOf(folder));
    const second = await openStore(folder);
    await second.commit(put('newer'));
    await second.close();
    const third = await openStore(folder);
    await third.commit(put('newest'));
    const copy = await copyOfFiles(folder);
    const belonging = await readFile(dbOf(copy));
    const held = await readFile(journalOf(copy));
    await writeFile(dbOf(copy), old);
    await expect(openStore(copy)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${journalOf(copy)} has 1 change to a db.json other than ${dbOf(copy)}`,
      remedy: expect.stringMatching(
        /restore the file that belongs .* remove journal\.jsonl and journal\.needed\. .* state reset/,
      ),
    });
    expect(await readFile(journalOf(copy))).toEqual(held);
    await writeFile(dbOf(copy), belonging);
    expect((await reopened(copy)).ids).toEqual(['old', 'newer', 'newest']);
    await writeFile(dbOf(copy), old);
    await writeFile(journalOf(copy), held);
    await Promise.all(
      ['journal.jsonl', 'journal.needed'].map((name) => rm(join(copy, name), { force: true })),
    );
    expect((await reopened(copy)).ids).toEqual(['old']);
  });

  it('without later changes accepts an edited db.json, and reports it once', async () => {
    const folder = await temporaryFolder();
    await (await openStore(folder)).close();
    const text = await readFile(dbOf(folder), 'utf8');
    const edited = JSON.stringify(JSON.parse(text.replace('Poor Holder', 'Paula Holder')), null, 2);
    await writeFile(dbOf(folder), edited);
    const store = await openStore(folder);
    expect(store.notices).toEqual([
      `${dbOf(folder)} was edited after gateway-sim wrote it: using the edited file`,
    ]);
    expect(store.state.wallets.get('wal_poor_usd')?.holder).toBe('Paula Holder');
    expect(await readFile(dbOf(folder), 'utf8')).toContain(
      `\n${JSON.stringify(store.state.wallets.get('wal_poor_usd'))},\n`,
    );
    await store.commit(put('a'));
    await store.close();
    expect(await reopened(folder)).toEqual({ ids: ['a'], notices: [] });
  });

  it('with changes since the last db.json is rejected if that was edited, with two fixes, both of which work', async () => {
    const folder = await killed('a', 'b');
    const [written, journal] = await Promise.all([dbOf, journalOf].map((path) => readFile(path(folder))));
    const edited = String(written).replace('Poor Holder', 'Paula Holder');
    await writeFile(dbOf(folder), edited);
    const rejected = expect.objectContaining({
      code: 'state_damaged',
      message: `${dbOf(folder)} was edited after gateway-sim was killed, but ${journalOf(folder)} has 2 changes to the file before the edit`,
      remedy: expect.stringMatching(
        /undo the edit\. .* remove journal\.jsonl and journal\.needed\. .* state reset/,
      ),
    });
    for (const open of [openStore, Store.read]) await expect(open(folder)).rejects.toEqual(rejected);
    expect([await readFile(dbOf(folder), 'utf8'), await readFile(journalOf(folder))]).toEqual([
      edited,
      journal,
    ]);
    const copy = await copyOfFiles(folder);
    await writeFile(dbOf(folder), written ?? '');
    expect(await reopened(folder)).toEqual({ ids: ['a', 'b'], notices: [] });
    for (const name of ['journal.jsonl', 'journal.needed']) await rm(join(copy, name));
    const store = await openStore(copy);
    expect(idsOf(store)).toEqual([]);
    expect(store.state.wallets.get('wal_poor_usd')?.holder).toBe('Paula Holder');
  });

  it('whose changes are all in the db.json that was edited after a kill accepts the edit', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    await store.commit(put('a'));
    const copy = await temporaryFolder();
    interceptNow(['renameSync'], (rename, _, path) => {
      // The new db.json is in place.
      if (isNewVersionOf(path, journalOf(folder)))
        for (const pathOf of [dbOf, journalOf]) copyFileSync(pathOf(folder), pathOf(copy));
      rename();
    });
    await store.close();
    const text = await readFile(dbOf(copy), 'utf8');
    await writeFile(dbOf(copy), text.replace('Poor Holder', 'Paula Holder'));
    expect(await reopened(copy)).toEqual({ ids: ['a'], notices: [expect.stringContaining('was edited')] });
    expect(await readFile(dbOf(copy), 'utf8')).toContain('Paula Holder');
  });
});

describe('a db.json that is missing', () => {
  const rejected = expect.objectContaining({
    code: 'state_damaged',
    message: expect.stringMatching(/db\.json is missing, but .*journal\.jsonl contains changes to it/),
    remedy: expect.stringContaining('state reset'),
  });

  it.each([
    ['has changes in its journal', () => killed('a')],
    [
      'includes changes',
      async () => {
        const folder = await killed('a');
        await reopened(folder);
        return folder;
      },
    ],
    [
      'was put there or edited by a user, even if nothing was ever stored',
      async () => {
        const folder = await temporaryFolder();
        await writeFile(dbOf(folder), JSON.stringify(records()));
        await reopened(folder);
        return folder;
      },
    ],
  ])('is reported if it %s', async (_, folderOf) => {
    const folder = await folderOf();
    await rm(dbOf(folder));
    const journal = await readFile(journalOf(folder));
    await expect(openStore(folder)).rejects.toEqual(rejected);
    expect(await readFile(journalOf(folder))).toEqual(journal);
  });
});

describe('the id in db.json and its journal', () => {
  const bothIn = async (folder: string) => {
    const [first = ''] = (await readFile(journalOf(folder), 'utf8')).split('\n');
    return [JSON.parse(await readFile(dbOf(folder), 'utf8')).id, JSON.parse(first).id];
  };

  it('is the same in both, and not in the state that is exported', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    const [db, journal] = await bothIn(folder);
    expect([db, journal]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), db]);
    expect(store.snapshot()).not.toHaveProperty('id');
    expect(await Store.read(folder)).not.toHaveProperty('id');
  });

  it.each(['', ' while a snapshot is written'])('is new as soon as the state is replaced%s', async (when) => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    await store.commit(put('a'));
    const journal = await readFile(journalOf(folder));
    const [before] = await bothIn(folder);
    const replaced = when ? store.replace(records()) : undefined;
    await Promise.all([replaced, store.replace({ ...records(), wallets: [wallet({ id: 'only' })] })]);
    const [db, own] = await bothIn(folder);
    expect(db).toBe(own);
    expect(db).not.toBe(before);
    expect(JSON.parse(await readFile(dbOf(folder), 'utf8')).wallets).toMatchObject([{ id: 'only' }]);
    // The journal from before belongs to no db.json.
    const copy = await copyOfFiles(folder);
    await store.close();
    for (const path of [copy, folder]) {
      await writeFile(journalOf(path), journal);
      await expect(openStore(path)).rejects.toMatchObject({
        code: 'state_damaged',
        message: `${journalOf(path)} has 1 change to a db.json other than ${dbOf(path)}`,
      });
    }
  });

  it('keeps the journal of another folder from being used, although both began with the same state', async () => {
    const [one, other] = await Promise.all([temporaryFolder(), temporaryFolder()]);
    for (const folder of [one, other])
      await (await openStore(folder)).commit(put(folder === one ? 'a' : 'b'));
    const [mine, theirs] = [await copyOfFiles(one), await copyOfFiles(other)];
    await copyFile(journalOf(theirs), journalOf(mine));
    await expect(openStore(mine)).rejects.toMatchObject({ code: 'state_damaged' });
    // Without changes, it is replaced.
    await (await openStore(theirs)).close();
    await copyFile(journalOf(theirs), journalOf(mine));
    const store = await openStore(mine);
    expect(store.notices).toEqual([
      `${dbOf(mine)} is not the one that ${journalOf(mine)} belongs to, which has no changes: using ${dbOf(mine)}`,
    ]);
    const [db, journal] = await bothIn(mine);
    expect(journal).toBe(db);
  });
});

describe.skipIf(process.platform === 'win32')('a folder from another source', () => {
  it('with a journal that is a link is rejected, and the target stays unchanged', async () => {
    const folder = await killed('a');
    const victim = join(await temporaryFolder(), 'victim');
    await writeFile(victim, 'a line of another user');
    for (const target of [victim, '/dev/zero']) {
      await rm(journalOf(folder));
      await symlink(target, journalOf(folder));
      await expect(openStore(folder)).rejects.toMatchObject({
        code: 'state_damaged',
        message: `${journalOf(folder)} cannot be read: it is a link`,
      });
    }
    expect(await readFile(victim, 'utf8')).toBe('a line of another user');
  });

  it('with a db.json that is a link is rejected, and named', async () => {
    const folder = await killed('a');
    const elsewhere = join(await temporaryFolder(), 'db.json');
    await rename(dbOf(folder), elsewhere);
    await symlink(elsewhere, dbOf(folder));
    await expect(openStore(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${dbOf(folder)} cannot be read: it is a link`,
    });
  });

  it('with hard links as files can be opened without changes to the other copies', async () => {
    const [folder, copy] = [await killed('a'), await temporaryFolder()];
    for (const path of [dbOf, journalOf]) await link(path(folder), path(copy));
    const before = await readFile(journalOf(folder), 'utf8');
    const store = await openStore(copy);
    await store.commit(put('b'));
    await store.close();
    expect(await readFile(journalOf(folder), 'utf8')).toBe(before);
    expect([await reopened(folder), await reopened(copy)]).toMatchObject([
      { ids: ['a'] },
      { ids: ['a', 'b'] },
    ]);
  });
});
