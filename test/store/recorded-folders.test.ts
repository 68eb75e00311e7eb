import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COLLECTION_NAMES } from '../../src/contract/state.ts';
import { SNAPSHOT_VERSION } from '../../src/store/migrations.ts';
import { parseChange, parseSnapshot, type StoredChange } from '../../src/store/snapshot.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { records } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { dbOf, journalOf } from '../helpers/store.ts';
import { kindsIn, storedExamples } from '../helpers/stored-examples.ts';

/*
 * A folder of each version, as gateway-sim left it. The one of the current version has every key of every record, with
 * every kind of value: records of our own are read without a schema, so nothing else notices a key that was renamed.
 */

const HELP = `The records in users' folders no longer fit this code, or the recorded folder is not complete.
- If a key was renamed or removed, has another kind of value, or is new and required: write a migration in
  src/store/migrations.ts, then record a folder of the new version.
- If only more can be stored than before: record the folder again.
To record: REFRESH=1 npx vitest run test/store/recorded-folders.test.ts
`;

const folderOf = (version: number) => fileURLToPath(new URL(`version-${version}`, import.meta.url));
const CURRENT = folderOf(SNAPSHOT_VERSION);

/** The snapshot of the current folder and every change in its journal, checked with the schemas. */
async function recorded(): Promise<StoredChange[]> {
  const [, ...lines] = (await readFile(journalOf(CURRENT), 'utf8')).trimEnd().split('\n');
  return [
    parseSnapshot(JSON.parse(await readFile(dbOf(CURRENT), 'utf8')), 'db.json'),
    ...lines.map((line, index) => parseChange(JSON.parse(line), `journal.jsonl line ${index + 2}`)),
  ];
}

async function record(): Promise<void> {
  const before = await recorded().catch(({ code }) => code);
  // Only a new version may lack what was stored.
  if (before === 'state_damaged') throw new Error(HELP);
  const folder = await temporaryFolder();
  const examples = storedExamples();
  const store = await Store.open({ folder, fsync: false }, async () => examples);
  const most = Math.max(...COLLECTION_NAMES.map((name) => examples[name].length));
  for (let index = 0; index < most; index++) {
    const change = COLLECTION_NAMES.map((name) => [name, examples[name].slice(index, index + 1)]);
    await store.commit(() => ({ change: Object.fromEntries(change), result: null }));
  }
  await store.commit(() => ({ change: { removed: { wallets: ['wallets-1'] } }, result: null }));
  await rm(CURRENT, { recursive: true, force: true });
  await mkdir(CURRENT);
  for (const path of [dbOf, journalOf]) await cp(path(folder), path(CURRENT));
  await store.close();
}

if (process.env['REFRESH']) it('is recorded', record);

describe('the recorded folder of the current version', () => {
  it('has only records that the schemas accept', async () => {
    const problem = await recorded().then(
      () => null,
      (error: Error) => error.message,
    );
    expect(problem, HELP).toBeNull();
  });

  it('has every key with every kind of value', async () => {
    const stored = new Map<string, Set<string>>();
    for (const change of await recorded())
      for (const name of COLLECTION_NAMES)
        for (const [path, kind] of kindsIn(change[name], name))
          stored.set(path, (stored.get(path) ?? new Set()).add(kind));
    const examples = storedExamples();
    const lacks = COLLECTION_NAMES.flatMap((name) => [...kindsIn(examples[name], name)]).filter(
      // A new key is optional, or the folder would not pass the test above. Only a release needs it here.
      ([path, kind]) => !(stored.get(path)?.has(kind) ?? !IS_RELEASE),
    );
    expect([...new Set(lacks.map((one) => one.join(' ')))], HELP).toEqual([]);
  });
});

describe('the recorded folders', async () => {
  const names = await readdir(fileURLToPath(new URL('.', import.meta.url)));
  const versions = names.filter((name) => name.startsWith('version-'));

  it.each(versions)('%s can be opened and keeps its records', async (name) => {
    const folder = await temporaryFolder();
    await cp(fileURLToPath(new URL(name, import.meta.url)), folder, { recursive: true });
    const store = await Store.open({ folder, fsync: false }, async () => records());
    onTestFinished(() => store.close());
    expect([store.found, store.notices]).toEqual([true, []]);
    const ids = [...store.state.payments.values()].map(({ id }) => id);
    for (const line of (await readFile(journalOf(folder), 'utf8')).trimEnd().split('\n')) {
      const { payments = [] } = JSON.parse(line) as { payments?: { id: string }[] };
      for (const { id } of payments) expect(ids).toContain(id);
    }
    await store.close();
    // As a person would copy it.
    const alone = await temporaryFolder({ 'db.json': await readFile(dbOf(folder), 'utf8') });
    const copy = await Store.open({ folder: alone, fsync: false }, async () => records());
    onTestFinished(() => copy.close());
    expect(copy.snapshot()).toEqual(store.snapshot());
  });
});
