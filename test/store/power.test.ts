import files, { writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { interceptFiles, interceptSyncs } from '../helpers/file-calls.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { openStore, put } from '../helpers/store.ts';

/** Until the end of the test, records what happens to each file of a folder, in order. */
async function traceFiles(folder: string): Promise<string[]> {
  const trace: string[] = [];
  const names = new Map<number, string>();
  const nameOf = (path: unknown) => (path === folder ? 'folder' : basename(String(path)));
  const add = (step: string) => {
    if (trace.at(-1) !== step) trace.push(step);
  };
  interceptFiles(['open', 'rename'], async (name, call, [path, to]) => {
    if (name === 'rename') add(`rename ${nameOf(path)}`);
    const result = await call();
    if (name === 'open') names.set((result as FileHandle).fd, nameOf(path));
    for (const [fd, file] of names) if (name === 'rename' && file === nameOf(path)) names.set(fd, nameOf(to));
    return result;
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
