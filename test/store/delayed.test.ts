import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DataFolder } from '../../src/store/folder.ts';
import { interceptSyncs } from '../helpers/file-calls.ts';
import { copyOfFiles, temporaryFolder } from '../helpers/folder.ts';
import { idsIn, openStore, put } from '../helpers/store.ts';

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
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reached = new Promise<void>((resolve) => {
      gates.push({ after, reached: resolve, released });
    });
    return { reached, release };
  };
}

async function emulatorIn(path: string) {
  const folder = await DataFolder.acquire(path);
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const store = await openStore(path, { assertOurs: folder.assertOurs, warn });
  return { folder, store, warnings };
}

/** The ids of wallets in a folder after a kill. */
const storedIn = async (folder: string) => idsIn(await openStore(await copyOfFiles(folder)));

const LOSSES: Record<string, (path: string) => Promise<unknown>> = {
  'whose folder was moved': async (path) => {
    await rename(path, `${path}-moved`);
    await mkdir(path);
  },
  'whose lock was taken over': (path) => rm(join(path, 'lock')),
};

/** How many waits come before the delayed one: those of a snapshot are for db.json, its announcement, the folder, the journal. */
const WAITS = [0, 1, 2, 3];
const NEXT = ['has changes in its journal', 'has written a snapshot', 'writes a snapshot'];
const CASES = WAITS.flatMap((waits) => NEXT.map((next) => ({ waits, next })));

describe.each(Object.entries(LOSSES))('an emulator %s while it waits for the disk', (_, lose) => {
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
