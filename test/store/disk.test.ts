import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import files, { writeSync } from 'node:fs';
import {
  appendFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DataFolder } from '../../src/store/folder.ts';
import type { Snapshot } from '../../src/store/snapshot.ts';
import { interceptFiles, interceptNow, interceptSyncs, preventReplacing } from '../helpers/file-calls.ts';
import { copyOfFiles, temporaryFolder } from '../helpers/folder.ts';
import { bundled, type Program } from '../helpers/program.ts';
import { records, wallet } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { dbOf, idsIn, journalOf, openStore, put } from '../helpers/store.ts';

/** Commits with a maximum file size of 64 KiB, and prints the results as JSON. */
const FULL_DISK = `
  import { Store } from './src/store/store.ts';
  import { records, wallet } from './test/helpers/records.ts';
  const [folder] = process.argv.slice(2);
  const warned = [];
  const warn = (text) => warned.push(text);
  const store = await Store.open({ folder, fsync: false, warn }, async () => records());
  const changed = [];
  store.onChange((change) => changed.push(change.wallets[0].id));
  const put = (id, size = 1) => store.commit(() => ({ change: { wallets: [wallet({ id, holder: 'x'.repeat(size) })] }, result: id }));
  await put('before');
  const failing = put('too-big', 200_000);
  const together = put('in-the-same-batch');
  const outcomes = await Promise.allSettled([failing, together]);
  const rejections = outcomes.map(({ status, reason }) => ({ status, code: reason?.code, message: reason?.message, remedy: reason?.remedy }));
  const afterFailure = [...store.state.wallets.values()].map(({ id }) => id);
  await put('after');
  // Enough records for the next snapshot, but not the journal, to exceed the maximum.
  for (let count = 0; count < 30; count++) await put('filler-' + count, 1_000);
  await store.close();
  const wallets = [...store.state.wallets.values()].map(({ id }) => id);
  process.stdout.write(JSON.stringify({ rejections, afterFailure, changed, wallets, warned }));
`;

let fullDisk: Program;

beforeAll(async () => {
  fullDisk = await bundled(FULL_DISK);
});

afterAll(() => fullDisk.remove());

async function stateOf(folder: string): Promise<{ snapshot: Snapshot; notices: string[] }> {
  const store = await openStore(folder);
  const snapshot = store.snapshot();
  await store.close();
  return { snapshot, notices: store.notices };
}

describe('a torn last line', () => {
  it.each(['{"wallets":[{"id":"to', '{', '{"wallets":[]}', '\u0000\u0000\u0000'])(
    '%j is dropped and reported, and the next line is complete',
    async (torn) => {
      const original = await temporaryFolder();
      const store = await openStore(original);
      await store.commit(put('whole'));
      const folder = await copyOfFiles(original);
      await appendFile(journalOf(folder), torn);
      const second = await openStore(folder);
      expect(second.state.wallets.get('whole')).toBeDefined();
      expect(second.notices).toHaveLength(1);
      expect(second.notices[0]).toContain(journalOf(folder));
      expect(second.notices[0]).toMatch(
        new RegExp(`dropped a torn last line of ${Buffer.byteLength(torn)} bytes`),
      );
      await second.commit(put('next'));
      const written = (await readFile(journalOf(folder), 'utf8')).trimEnd().split('\n');
      expect(written.map((line) => JSON.parse(line)).length).toBeGreaterThan(1);
      await second.close();
      expect((await stateOf(folder)).notices).toEqual([]);
    },
  );

  it('is dropped wherever it was cut, even inside a character', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    const first = await readFile(dbOf(folder));
    await store.commit(put('first'));
    const whole = (await readFile(journalOf(folder))).length;
    await store.commit(put('second', { holder: 'Zoë 😀' }));
    const bytes = await readFile(journalOf(folder));
    await store.close();
    for (let length = whole; length < bytes.length - 1; length += IS_RELEASE ? 1 : 3) {
      await writeFile(journalOf(folder), bytes.subarray(0, length));
      await writeFile(dbOf(folder), first);
      const { snapshot } = await stateOf(folder);
      expect(snapshot.wallets.map(({ id }) => id)).toEqual([
        ...records().wallets.map(({ id }) => id),
        'first',
      ]);
    }
  });
});

describe('damage', () => {
  /** Creates a folder with a saved state, and replaces these files. */
  async function folderWith(files: { db?: string | null; journal?: string }): Promise<string> {
    const folder = await temporaryFolder();
    await (await openStore(folder)).close();
    if (files.db === null) await rm(dbOf(folder));
    else if (files.db !== undefined) await writeFile(dbOf(folder), files.db);
    if (files.journal !== undefined) await writeFile(journalOf(folder), files.journal);
    return folder;
  }

  const snapshotWith = (changes: object) => JSON.stringify({ ...records(), ...changes });

  it.each([
    ['a journal of another program', { journal: 'a line\n' }, /journal\.jsonl line 1 is damaged/],
    ['a snapshot that is not JSON', { db: '{"version":' }, /db\.json is damaged/],
    [
      'an unknown field',
      { db: snapshotWith({ wallets: [{ ...wallet(), holdr: 'x' }] }) },
      /db\.json is damaged: wallets\.0: unknown key "holdr": did you mean holder\?/,
    ],
  ])(
    '%s is reported with the file and a fix, and both files stay unchanged',
    async (_, files: { db?: string | null; journal?: string }, message) => {
      const folder = await folderWith(files);
      const before = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
      await expect(openStore(folder)).rejects.toMatchObject({
        name: 'GatewayError',
        code: 'state_damaged',
        message: expect.stringMatching(message),
        remedy: expect.stringContaining('--data-dir'),
      });
      const after = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
      expect(after).toEqual(before);
    },
  );

  it('is not assumed for an empty journal without a snapshot, because nothing was ever stored', async () => {
    const folder = await folderWith({ db: null, journal: '' });
    expect((await stateOf(folder)).snapshot).toEqual(records());
  });
});

describe('a full disk', () => {
  /** Runs the program with files of at most 64 KiB, and returns its output. */
  async function onFullDisk(folder: string): Promise<string> {
    const script = 'ulimit -f 64; exec "$0" "$@"';
    const child = spawn('bash', ['-c', script, process.execPath, fullDisk.path, folder]);
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    const [exitCode] = await once(child, 'close');
    expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: '' });
    return output;
  }

  it('is reported if the initial state does not fit, and leaves no incomplete file', async () => {
    const folder = await temporaryFolder();
    const allowReplacing = preventReplacing(dbOf(folder));
    await expect(openStore(folder)).rejects.toMatchObject({
      code: 'storage_failed',
      message: `${dbOf(folder)} cannot be written: the disk is full`,
      remedy: expect.stringContaining('--data-dir'),
    });
    expect(await readdir(folder)).toEqual([]);
    allowReplacing();
    expect((await stateOf(folder)).snapshot).toEqual(records());
  });

  it('rejects and rolls back changes that do not fit, continues, and loses nothing on close', async () => {
    const folder = await temporaryFolder();
    // Makes the snapshot large, so that the one on close does not fit.
    const first = await openStore(folder);
    await first.commit(put('fat', { holder: 'x'.repeat(40_000) }));
    await first.close();

    const output = await onFullDisk(folder);
    const report = JSON.parse(output) as {
      rejections: unknown[];
      afterFailure: string[];
      changed: string[];
      wallets: string[];
      warned: string[];
    };
    const refused = {
      status: 'rejected',
      code: 'storage_failed',
      message: 'the change could not be stored: the file would exceed the maximum size',
      remedy: expect.stringContaining('Free disk space'),
    };
    expect(report.rejections).toEqual([refused, refused]);
    expect(report.afterFailure.slice(-2)).toEqual(['fat', 'before']);
    expect(report.changed).not.toContain('too-big');
    expect(report.changed.slice(0, 2)).toEqual(['before', 'after']);
    expect(report.warned).toEqual([refused.message, expect.stringMatching(/db\.json could not be updated/)]);
    const { snapshot, notices } = await stateOf(folder);
    expect(snapshot.wallets.map(({ id }) => id)).toEqual(report.wallets);
    expect(report.wallets.at(-1)).toBe('filler-29');
    expect(notices).toEqual([]);
  });
});

it.skipIf(process.platform === 'win32').each(['db.json', 'journal.jsonl'])(
  'a %s that is a pipe is rejected without waiting',
  async (name) => {
    const folder = await temporaryFolder();
    await (await openStore(folder)).close();
    await rm(join(folder, name));
    execFileSync('mkfifo', [join(folder, name)]);
    await expect(openStore(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${join(folder, name)} cannot be read: it is not a regular file`,
    });
  },
);

/** Until the end of the test, records what happens to each file of a folder, in order. */
async function traceFiles(folder: string): Promise<string[]> {
  const trace: string[] = [];
  const names = new Map<number, string>();
  const nameOf = (path: unknown) =>
    path === folder ? 'folder' : basename(String(path)).replace(/\.[0-9a-f]+\.tmp$/, '.tmp');
  const add = (step: string) => {
    if (trace.at(-1) !== step) trace.push(step);
  };
  interceptFiles(['open'], async (_, open, [path]) => {
    const file = (await open()) as FileHandle;
    names.set(file.fd, nameOf(path));
    return file;
  });
  interceptNow(['renameSync'], (rename, _, path, to) => {
    add(`rename ${nameOf(path)}`);
    rename();
    for (const [fd, file] of names) if (file === nameOf(path)) names.set(fd, nameOf(to));
  });
  const real = writeSync;
  const spy = vi.spyOn(files, 'writeSync').mockImplementation(((fd: number, ...rest: [string]) => {
    add(`write ${names.get(fd)}`);
    return real(fd, ...rest);
  }) as typeof writeSync);
  syncBuiltinESMExports();
  const file = await open(import.meta.filename);
  const handles = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const { appendFile } = handles;
  const appends = vi.spyOn(handles, 'appendFile').mockImplementation(function (this: FileHandle, ...given) {
    add(`write ${names.get(this.fd)}`);
    return Reflect.apply(appendFile, this, given) as Promise<void>;
  });
  interceptSyncs((sync, fd) => {
    add(`sync ${names.get(fd)}`);
    return sync();
  });
  onTestFinished(() => {
    for (const one of [spy, appends]) one.mockRestore();
    syncBuiltinESMExports();
  });
  return trace;
}

const FIRST = [
  'write db.json.tmp',
  'rename db.json.tmp',
  'write journal.jsonl.tmp',
  'rename journal.jsonl.tmp',
];
/** The journal names the next db.json before it replaces the old one, and keeps its lines until then. */
const SNAPSHOT = [
  ...['write db.json.tmp', 'sync db.json.tmp', 'write journal.jsonl', 'sync journal.jsonl'],
  ...['rename db.json.tmp', 'sync folder'],
  ...['write journal.jsonl.tmp', 'sync journal.jsonl.tmp', 'rename journal.jsonl.tmp'],
];

it.each([
  {
    fsync: true,
    start: FIRST.flatMap((step) => [
      step,
      step.startsWith('rename') ? 'sync folder' : step.replace('write', 'sync'),
    ]),
    commit: ['write journal.jsonl', 'sync journal.jsonl'],
    close: [...SNAPSHOT, 'sync folder'],
  },
  { fsync: false, start: FIRST, commit: ['write journal.jsonl'], close: SNAPSHOT },
])('nothing relies on a file before it is on disk: fsync $fsync', async ({ fsync, start, commit, close }) => {
  const folder = await temporaryFolder();
  const trace = await traceFiles(folder);
  const store = await openStore(folder, { fsync });
  expect(trace.splice(0)).toEqual(start);
  await store.commit(put('a'));
  expect(trace.splice(0)).toEqual(commit);
  await store.close();
  expect(trace).toEqual(close);
});

/** Waits for the disk that are delayed until they are released, in the order in which they were planned. */
function delaySyncs() {
  const gates: { after: number; reached: () => void; released: Promise<void> }[] = [];
  interceptSyncs(async (sync) => {
    const [gate] = gates;
    if (gate && gate.after-- === 0) {
      gates.shift();
      gate.reached();
      await gate.released;
    }
    await sync();
  });
  /** @param after how many waits for the disk come before the delayed one */
  return (after: number) => {
    let release: (error?: Error) => void = () => {};
    const released = new Promise<void>((resolve, reject) => {
      release = (error) => (error ? reject(error) : resolve());
    });
    const reached = new Promise<void>((resolve) => {
      gates.push({ after, reached: resolve, released });
    });
    return { reached, release };
  };
}

async function emulatorIn(path: string, fsync = false) {
  const folder = await DataFolder.acquire(path);
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const store = await openStore(path, {
    fsync,
    assertOurs: folder.assertOurs,
    isTakenOver: folder.isTakenOver,
    warn,
  });
  return { folder, store, warnings };
}

/** The ids of wallets in a folder after a kill. */
const storedIn = async (folder: string) => idsIn(await openStore(await copyOfFiles(folder)));

/** How a folder is lost. @returns where its files are then */
const LOSSES: Record<string, (path: string) => Promise<string>> = {
  'whose folder was moved': async (path) => {
    await rename(path, `${path}-moved`);
    await mkdir(path);
    return `${path}-moved`;
  },
  'whose lock was taken over': async (path) => {
    await rm(join(path, 'lock'));
    return path;
  },
};

/** How many waits come before the delayed one: those of a snapshot are for db.json, its announcement, the folder, the journal. */
const WAITS = [0, 1, 2, 3];
const NEXT = ['has changes in its journal', 'has written a snapshot', 'writes a snapshot'];
const CASES = WAITS.flatMap((waits) => NEXT.map((next) => ({ waits, next })));

describe.each(Object.entries(LOSSES))('an emulator %s while it waits for the disk', (_, lose) => {
  it.each([undefined, new Error('EIO')])(
    'acknowledges no change, and removes none of the next one (%s)',
    async (error) => {
      const path = join(await temporaryFolder(), 'data');
      const delay = delaySyncs();
      const first = await emulatorIn(path, true);
      const { reached, release } = delay(0);
      const change = first.store.commit(put('a'));
      await reached;
      await lose(path);
      const second = await emulatorIn(path);
      await second.store.commit(put('b'));
      release(error);
      await expect(change).rejects.toMatchObject({ code: 'storage_failed' });
      expect(idsIn(first.store)).not.toContain('a');
      expect(await storedIn(path)).toContain('b');
      await first.store.close();
      await first.folder.release();
      expect(await storedIn(path)).toContain('b');
      await second.folder.release();
    },
  );

  it.each(CASES)('(after $waits waits) changes nothing of one that $next', async ({ waits, next }) => {
    const path = join(await temporaryFolder(), 'data');
    const delay = delaySyncs();
    const first = await emulatorIn(path);
    await first.store.commit(put('a'));
    const old = delay(waits);
    const closing = first.store.close();
    await old.reached;
    await lose(path);
    const second = await emulatorIn(path);
    await second.store.commit(put('b'));
    const own = delay(next === 'writes a snapshot' ? 0 : Number.POSITIVE_INFINITY);
    const replaced = next === NEXT[0] ? undefined : second.store.replace(second.store.snapshot());
    await (next === 'writes a snapshot' ? own.reached : replaced);
    old.release();
    await closing;
    own.release();
    await first.folder.release();
    await replaced;
    await second.store.commit(put('c'));
    expect(await storedIn(path)).toEqual(expect.arrayContaining(['b', 'c']));
    await second.store.close();
    expect(second.warnings).toEqual([]);
    expect(await storedIn(path)).toEqual(expect.arrayContaining(['b', 'c']));
    await second.folder.release();
  });
});
