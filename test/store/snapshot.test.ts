import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { COLLECTION_NAMES } from '../../src/contract/state.ts';
import { SNAPSHOT_VERSION } from '../../src/store/migrations.ts';
import { emptySnapshot, parseChange, parseSnapshot, type StoredChange } from '../../src/store/snapshot.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { fullSnapshot, records, wallet } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { dbOf, journalOf } from '../helpers/store.ts';
import { kindsIn, storedExamples } from '../helpers/stored-examples.ts';

const paid = () => fullSnapshot().payments[0];
const due = () => fullSnapshot().deliveries[0];
const tried = () => fullSnapshot().attempts[0];

describe('a snapshot', () => {
  it('gets empty collections for missing ones', () => {
    expect(parseSnapshot({ version: SNAPSHOT_VERSION }, 'it')).toEqual(emptySnapshot());
  });

  it.each([
    ['wallets', [{ ...wallet(), balance: '1e5' }], 'wallets.0.balance'],
    ['wallets', [wallet(), 7], 'wallets.1'],
    ['wallets', {}, 'wallets'],
    ['payments', [{ ...paid(), status: 'paid' }], 'payments.0.status'],
    ['payments', [{ ...paid(), amount: 'much' }], 'payments.0.amount'],
    ['payments', [{ ...paid(), expiresAt: 'soon' }], 'payments.0.expiresAt'],
    ['payments', [{ ...paid(), siteLogo: undefined }], 'payments.0.siteLogo'],
    ['deliveries', [{ ...due(), nextAttemptAt: 'tomorrow' }], 'deliveries.0.nextAttemptAt'],
    ['deliveries', [{ ...due(), nextAttemptAt: '2026-13-01T00:00:00.000Z' }], 'deliveries.0.nextAttemptAt'],
    ['deliveries', [{ ...due(), attemptCount: -1 }], 'deliveries.0.attemptCount'],
    ['attempts', [{ ...tried(), requestHeaders: [['a', 'b', 'c']] }], 'attempts.0.requestHeaders.0'],
  ])('with damaged %s is rejected, and the error names the place', (name, value, where) => {
    const act = () => parseSnapshot({ ...fullSnapshot(), [name]: value }, 'the request body');
    expect(act).toThrow(GatewayError);
    expect(act).toThrow(`the request body is damaged: ${where}`);
  });

  it.each([
    ['wallets', [{ ...wallet(), holdr: 'x' }], 'wallets.0: unknown key "holdr": did you mean holder?'],
    [
      'payments',
      [{ ...paid(), history: [{ ...paid()?.history[0], evnt: 'x' }] }],
      'payments.0.history.0: unknown key "evnt": did you mean event?',
    ],
    [
      'attempts',
      [{ ...tried(), failure: { code: 'tls', message: 'x', limitMs: 1 } }],
      'attempts.0.failure: unknown key "limitMs"',
    ],
  ])('with an unknown key in %s is rejected, and the error names it', (name, value, problem) => {
    const act = () => parseSnapshot({ ...fullSnapshot(), [name]: value }, 'it');
    expect(act).toThrow(`it is damaged: ${problem}`);
  });

  it('that is any JSON is accepted or rejected with a clear error', () => {
    const collection = fc.oneof(fc.jsonValue(), fc.array(fc.record({ id: fc.string() })));
    const anySnapshot = fc.record(
      {
        version: fc.oneof(fc.constant(SNAPSHOT_VERSION), fc.jsonValue()),
        ...Object.fromEntries(COLLECTION_NAMES.map((name) => [name, collection])),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anySnapshot), (json) => {
        for (const read of [() => parseSnapshot(json, 'it'), () => parseChange(JSON.stringify(json), 'it')]) {
          try {
            read();
          } catch (error) {
            expect(error).toMatchObject({ name: 'GatewayError', code: 'state_damaged' });
          }
        }
      }),
    );
  });
});

it.each([
  ['a record that is not valid', { wallets: [{ id: 'x' }] }, 'damaged: wallets.0'],
  ['a list without records', { wallets: 'none' }, 'damaged: wallets'],
  ['an unknown key', { rezet: true }, 'unknown key "rezet": did you mean reset?'],
  ['a reset that is not true', { reset: 1 }, 'damaged: reset is not true'],
  ['a list to remove', { removed: ['a'] }, 'removed'],
  ['an unknown collection to remove', { removed: { paymentz: ['a'] } }, 'paymentz'],
  ['an invalid id to remove', { removed: { payments: [1] } }, 'removed'],
])('a change with %s is rejected, and the error names it', (_, change, problem) => {
  expect(() => parseChange(change, 'line 2')).toThrow(problem);
});

/*
 * A folder of each version, as gateway-sim left it. The one of the current version has every key of every record, with
 * every kind of value: records of our own are read without a schema, so nothing else notices a key that was renamed.
 */

const HELP = `The records in users' folders no longer fit this code, or the recorded folder is not complete.
- If a key was renamed or removed, has another kind of value, or is new and required: write a migration in
  src/store/migrations.ts, then record a folder of the new version.
- If only more can be stored than before: record the folder again.
To record: REFRESH=1 npx vitest run test/store/snapshot.test.ts
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
