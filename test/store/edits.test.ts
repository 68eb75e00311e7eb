import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Wallet } from '../../src/contract/wallet.ts';
import type { Snapshot } from '../../src/store/snapshot.ts';
import { Store } from '../../src/store/store.ts';
import { interceptFiles } from '../helpers/file-calls.ts';
import { copyOfFiles, temporaryFolder } from '../helpers/folder.ts';
import { fullSnapshot, records, wallet } from '../helpers/records.ts';
import { changesIn, dbOf, idsIn, journalOf, openStore, put } from '../helpers/store.ts';

type Edit = (state: Snapshot & { wallets: Wallet[] }) => void;

/** Edits db.json, as a person may format it. */
async function edit(folder: string, change: Edit): Promise<string> {
  const state = JSON.parse(await readFile(dbOf(folder), 'utf8'));
  change(state);
  const text = JSON.stringify(state, null, 2);
  await writeFile(dbOf(folder), text);
  return text;
}

/** Changes a wallet in db.json. */
const rename =
  (id: string): Edit =>
  ({ wallets }) =>
    wallets.splice(
      0,
      wallets.length,
      ...wallets.map((one) => (one.id === id ? { ...one, holder: 'Edited' } : one)),
    );
const removeWallet =
  (id: string): Edit =>
  ({ wallets }) =>
    wallets.splice(0, wallets.length, ...wallets.filter((one) => one.id !== id));

const keptIn = async (folder: string) =>
  (await readdir(folder)).filter((name) => name.startsWith('db.edited-'));

/** A folder after a kill: db.json has the wallets `old` and `gone`, the journal changes one and removes the other. */
async function killed(): Promise<string> {
  const folder = await temporaryFolder();
  const held = {
    ...records(),
    wallets: [...records().wallets, wallet({ id: 'old' }), wallet({ id: 'gone' })],
  };
  const store = await openStore(folder, {}, async () => held);
  await store.commit(put('old', { balance: '1' }));
  await store.commit(put('old', { balance: '2' }));
  await store.commit(put('new'));
  await store.commit(() => ({ change: { removed: { wallets: ['gone'] } }, result: null }));
  expect(await changesIn(folder)).toBe(4);
  return copyOfFiles(folder);
}

describe('an edited db.json with changes in its journal', () => {
  const using = (folder: string) =>
    `${dbOf(folder)} was edited after gateway-sim wrote it: using the edited file with the 4 changes in ${journalOf(folder)}`;

  it('is used with these changes, which a notice counts', async () => {
    const folder = await killed();
    await edit(folder, rename('wal_poor_usd'));
    const store = await openStore(folder);
    expect(store.notices).toEqual([using(folder)]);
    expect(idsIn(store)).toEqual([...records().wallets.map(({ id }) => id), 'old', 'new']);
    expect(store.state.wallets.get('wal_poor_usd')?.holder).toBe('Edited');
    expect(store.state.wallets.get('old')?.balance).toBe('2');
    expect([await keptIn(folder), store.keptEdits]).toEqual([[], []]);
    // Both files are written again, so the edit is reported once.
    expect(await changesIn(folder)).toBe(0);
    await store.commit(put('later'));
    const again = await openStore(await copyOfFiles(folder));
    expect([again.snapshot(), again.notices]).toEqual([store.snapshot(), []]);
  });

  it.each<[string, string, Edit, string]>([
    ['changes and the journal too', 'old', rename('old'), '2'],
    ['removes and the journal changes', 'old', removeWallet('old'), '2'],
    ['changes and the journal removes', 'gone', rename('gone'), ''],
    [
      'adds and the journal too',
      'new',
      ({ wallets }) => wallets.push(wallet({ id: 'new', holder: 'Edited' })),
      '1000',
    ],
  ])(
    'keeps a record that the person %s as in the journal, names it and keeps the edited file',
    async (_, id, change, balance) => {
      const folder = await killed();
      const text = await edit(folder, (state) => {
        change(state);
        rename('wal_poor_usd')(state);
      });
      const store = await openStore(folder);
      const [kept = ''] = store.keptEdits;
      expect(store.notices).toEqual([
        using(folder),
        `changed both in the edited db.json and in the journal: wallets "${id}". The journal's version is used, and the edited file is kept as ${kept}`,
      ]);
      expect(await readFile(kept, 'utf8')).toBe(text);
      expect(store.state.wallets.get(id)?.holder).not.toBe('Edited');
      expect(store.state.wallets.get(id)?.balance ?? '').toBe(balance);
      expect(store.state.wallets.get('wal_poor_usd')?.holder).toBe('Edited');
      const again = await openStore(await copyOfFiles(folder));
      expect([again.snapshot(), again.notices]).toEqual([store.snapshot(), []]);
    },
  );

  it('is not kept if it has a record as in a change, which it may include already', async () => {
    const folder = await killed();
    await edit(folder, ({ wallets }) =>
      wallets.splice(
        0,
        wallets.length,
        ...wallets.map((one) => (one.id === 'old' ? { ...one, balance: '1' } : one)),
      ),
    );
    const store = await openStore(folder);
    expect([store.notices, store.keptEdits]).toEqual([[using(folder)], []]);
    expect(store.state.wallets.get('old')?.balance).toBe('2');
  });

  it('is replaced by a later reset, and kept', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    // The reset stays in the journal if a kill comes before the next db.json.
    interceptFiles(['open'], async (_, open, [path]) => {
      if (path === `${dbOf(folder)}.tmp`) throw new Error('not yet');
      return open();
    });
    await store.replace({ ...records(), wallets: [wallet({ id: 'only' })] });
    const copy = await copyOfFiles(folder);
    const text = await edit(copy, rename('wal_poor_usd'));
    const again = await openStore(copy);
    expect(idsIn(again)).toEqual(['only']);
    expect(again.notices[1]).toContain('everything (the state was reset or imported)');
    expect(await readFile(again.keptEdits[0] ?? '', 'utf8')).toBe(text);
  });

  it('is read without changes to the folder by commands that only read', async () => {
    const folder = await killed();
    const text = await edit(folder, rename('old'));
    const state = await Store.read(folder);
    expect(state?.wallets.find(({ id }) => id === 'old')?.balance).toBe('2');
    expect([await readFile(dbOf(folder), 'utf8'), await keptIn(folder)]).toEqual([text, []]);
  });

  it.each<[string, Edit, RegExp]>([
    [
      'the result does not fit together',
      (state) => Object.assign(state, { merchants: [] }),
      /merchants is empty/,
    ],
    [
      'a record is there twice',
      ({ wallets }) => wallets.push(wallet({ id: 'old' })),
      /wallets has the id "old" twice/,
    ],
  ])('is rejected if %s, and both files stay unchanged', async (_, change, message) => {
    const folder = await killed();
    const text = await edit(folder, change);
    const journal = await readFile(journalOf(folder), 'utf8');
    await expect(openStore(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: expect.stringMatching(message),
    });
    expect([await readFile(dbOf(folder), 'utf8'), await readFile(journalOf(folder), 'utf8')]).toEqual([
      text,
      journal,
    ]);
  });

  it('is used although it only fits together with these changes', async () => {
    const folder = await temporaryFolder();
    const { payments, ...held } = fullSnapshot();
    const store = await openStore(folder, {}, async () => ({
      ...held,
      payments: [],
      messages: [],
      deliveries: [],
      attempts: [],
    }));
    await store.commit(() => ({ change: { payments }, result: null }));
    const copy = await copyOfFiles(folder);
    await edit(copy, (state) => Object.assign(state, { messages: held.messages }));
    expect((await openStore(copy)).state.messages.size).toBe(held.messages.length);
  });

  it('gets only the changes that it does not include, after a kill between the new db.json and its journal', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    await store.commit(put('old', { balance: '1' }));
    const copy = await temporaryFolder();
    interceptFiles(['rename'], async (_, move, [path]) => {
      if (path === `${journalOf(folder)}.tmp`)
        for (const pathOf of [dbOf, journalOf]) await copyFile(pathOf(folder), pathOf(copy));
      return move();
    });
    await store.close();
    await edit(copy, rename('old'));
    const again = await openStore(copy);
    expect(again.notices).toEqual([
      `${dbOf(copy)} was changed after gateway-sim wrote it: using the changed file`,
    ]);
    expect(again.state.wallets.get('old')?.holder).toBe('Edited');
  });
});

describe('the id in db.json and its journal', () => {
  const idsOf = async (folder: string) => {
    const [first = ''] = (await readFile(journalOf(folder), 'utf8')).split('\n');
    return [JSON.parse(await readFile(dbOf(folder), 'utf8')).id, JSON.parse(first).id];
  };

  it('is the same in both, and not in the state that is exported', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    const [db, journal] = await idsOf(folder);
    expect([db, journal]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), db]);
    expect(store.snapshot()).not.toHaveProperty('id');
    expect(await Store.read(folder)).not.toHaveProperty('id');
  });

  it.each(['', ' while a snapshot is written'])('is new as soon as the state is replaced%s', async (when) => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    await store.commit(put('a'));
    const journal = await readFile(journalOf(folder));
    const [before] = await idsOf(folder);
    const replaced = when ? store.replace(records()) : undefined;
    await Promise.all([replaced, store.replace({ ...records(), wallets: [wallet({ id: 'only' })] })]);
    const [db, own] = await idsOf(folder);
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
    const [db, journal] = await idsOf(mine);
    expect(journal).toBe(db);
  });
});
