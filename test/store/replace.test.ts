import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Snapshot } from '../../src/store/snapshot.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { bundled, type Program } from '../helpers/program.ts';
import { records, wallet } from '../helpers/records.ts';

/** Commits, replaces, commits, prints that all is acknowledged, and waits for the kill. */
const REPLACER = `
  import { writeSync } from 'node:fs';
  import { Store } from './src/store/store.ts';
  import { records, wallet } from './test/helpers/records.ts';
  const [folder] = process.argv.slice(2);
  const store = await Store.open({ folder, fsync: false }, async () => records());
  const put = (id) => store.commit(() => ({ change: { wallets: [wallet({ id })] }, result: null }));
  await put('before');
  await store.replace({ ...records(), wallets: [wallet({ id: 'only' })] });
  await put('after');
  writeSync(1, 'acknowledged');
  setInterval(() => {}, 1_000);
`;

/** Replaces the state with a maximum file size of 64 KiB and prints the results as JSON. */
const FULL_DISK = `
  import { Store } from './src/store/store.ts';
  import { records, wallet } from './test/helpers/records.ts';
  const [folder] = process.argv.slice(2);
  const store = await Store.open({ folder, fsync: false }, async () => records());
  const put = (id) => store.commit(() => ({ change: { wallets: [wallet({ id })] }, result: null }));
  await put('before');
  const big = { ...records(), wallets: [wallet({ id: 'big', holder: 'x'.repeat(200_000) })] };
  const outcomes = await Promise.allSettled([put('with it'), store.replace(big), put('on top of it')]);
  const ids = () => [...store.state.wallets.values()].map(({ id }) => id);
  const afterFailure = ids();
  await put('after');
  await store.close();
  const codes = outcomes.map(({ reason }) => reason?.code ?? null);
  process.stdout.write(JSON.stringify({ codes, afterFailure, wallets: ids() }));
`;

let replacer: Program;
let fullDisk: Program;

beforeAll(async () => {
  [replacer, fullDisk] = await Promise.all([bundled(REPLACER), bundled(FULL_DISK)]);
});

afterAll(() => Promise.all([replacer.remove(), fullDisk.remove()]));

const INITIAL = records().wallets.map(({ id }) => id);
const openAt = (folder: string) => Store.open({ folder, fsync: false }, async () => records());
const ids = (snapshot: Pick<Snapshot, 'wallets'>) => snapshot.wallets.map(({ id }) => id);

async function reopened(folder: string): Promise<Snapshot> {
  const store = await openAt(folder);
  const snapshot = store.snapshot();
  expect(store.notices).toEqual([]);
  await store.close();
  return snapshot;
}

describe('a replaced state', () => {
  it('survives a kill right after its acknowledgement, with later changes and without earlier ones', async () => {
    const folder = await temporaryFolder();
    const child = spawn(process.execPath, [replacer.path, folder]);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(ids(await reopened(folder))).toEqual(['only', 'after']);
  });

  it('is one journal line, which is marked as a reset', async () => {
    const folder = await temporaryFolder();
    const store = await openAt(folder);
    onTestFinished(() => store.close());
    await store.replace({ ...records(), wallets: [wallet({ id: 'only' })] });
    const [, ...lines] = (await readFile(join(folder, 'journal.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { reset: true, merchants: records().merchants, wallets: [wallet({ id: 'only' })], payments: [] },
    ]);
  });

  it('whose line was torn by a kill leaves the earlier state', async () => {
    const folder = await temporaryFolder();
    const store = await openAt(folder);
    const db = await readFile(join(folder, 'db.json'));
    await store.replace({ ...records(), wallets: [wallet({ id: 'only' })] });
    const journal = await readFile(join(folder, 'journal.jsonl'));
    await store.close();
    await writeFile(join(folder, 'db.json'), db);
    await writeFile(join(folder, 'journal.jsonl'), journal.subarray(0, -2));
    const second = await openAt(folder);
    onTestFinished(() => second.close());
    expect(ids(second.snapshot())).toEqual(INITIAL);
    expect(second.notices).toEqual([expect.stringContaining('torn')]);
  });

  it('that does not fit on the disk is rolled back with all later changes', async () => {
    const folder = await temporaryFolder();
    const command = `ulimit -f 64; exec "${process.execPath}" "${fullDisk.path}" "${folder}"`;
    const child = spawn('bash', ['-c', command]);
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    let errors = '';
    child.stdout.on('data', (chunk) => {
      told += chunk;
    });
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    await once(child, 'close');
    expect(errors).toBe('');
    expect(JSON.parse(told)).toEqual({
      codes: ['storage_failed', 'storage_failed', 'storage_failed'],
      afterFailure: [...INITIAL, 'before'],
      wallets: [...INITIAL, 'before', 'after'],
    });
    expect(ids(await reopened(folder))).toEqual([...INITIAL, 'before', 'after']);
  });

  it('is reported once, as a replacement, between the earlier and the later changes', async () => {
    const store = await openAt(await temporaryFolder());
    onTestFinished(() => store.close());
    const heard: [first: string | undefined, replaced: boolean][] = [];
    store.onChange(({ wallets }, replaced) => heard.push([wallets?.[0]?.id, replaced]));
    const put = (id: string) => store.commit(() => ({ change: { wallets: [wallet({ id })] }, result: null }));
    await Promise.all([
      put('a'),
      store.replace({ ...records(), wallets: [wallet({ id: 'only' })] }),
      put('b'),
    ]);
    expect(heard).toEqual([
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
        const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-replace-'));
        try {
          const store = await openAt(folder);
          const done: Promise<unknown>[] = [];
          for (const one of steps) {
            if (one === 'wait') await Promise.all(done);
            else if ('put' in one)
              done.push(
                store.commit(() => ({ change: { wallets: [wallet({ id: one.put })] }, result: null })),
              );
            else done.push(store.replace({ ...records(), wallets: one.replace.map((id) => wallet({ id })) }));
          }
          await Promise.all(done);
          // Copies the journal first: a snapshot in between would only have its lines already.
          const journal = await readFile(join(folder, 'journal.jsonl'));
          const db = await readFile(join(folder, 'db.json'));
          const before = store.snapshot();
          await store.close();
          expect(await reopened(folder)).toEqual(before);
          // As after a kill: the journal is not yet in the snapshot.
          await Promise.all([
            writeFile(join(folder, 'db.json'), db),
            writeFile(join(folder, 'journal.jsonl'), journal),
          ]);
          expect(await reopened(folder)).toEqual(before);
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      }),
      { numRuns: 40 },
    );
  });
});
