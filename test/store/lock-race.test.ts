import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DataFolder } from '../../src/store/folder.ts';
import { interceptFiles } from '../helpers/file-calls.ts';
import { temporaryFolder } from '../helpers/folder.ts';

/** The lock of a process that has ended: Linux does not assign such a high PID. */
const GONE = JSON.stringify({ pid: 99_999_999, started: null });

/** Performs a change immediately, later or never. */
type Disk = (name: string, change: () => Promise<unknown>) => Promise<unknown>;
const quick: Disk = (_, change) => change();

/** The disk of a process that is killed while it takes over the lock. */
function killed(): Disk {
  let isKilled = false;
  return async (name, change) => {
    isKilled ||= name === 'rename';
    if (isKilled) throw new Error('killed');
    return change();
  };
}

it.each([0, 1, 2])(
  'exactly one of several processes takes over a stale lock on a slow disk, after %i were killed while doing so',
  async (count) => {
    let disk = quick;
    interceptFiles(['link', 'rename', 'unlink'], (name, change) => disk(name, change));
    const race = fc.asyncProperty(fc.infiniteStream(fc.nat({ max: 6 })), async (delays) => {
      disk = quick;
      const path = await temporaryFolder({ lock: GONE });
      for (let taker = 0; taker < count; taker++) {
        disk = killed();
        await expect(DataFolder.acquire(path)).rejects.toThrow('killed');
        for (const name of await readdir(path))
          if (name.startsWith('lock.')) await writeFile(join(path, name), GONE);
      }
      disk = async (_, change) => {
        await new Promise((resolve) => setTimeout(resolve, delays.next().value));
        return change();
      };
      const takers = await Promise.allSettled(Array.from({ length: 12 }, () => DataFolder.acquire(path)));
      disk = quick;
      const owners = takers.filter((taker) => taker.status === 'fulfilled');
      expect(owners).toHaveLength(1);
      expect(() => owners[0]?.value.assertOurs()).not.toThrow();
      for (const taker of takers)
        if (taker.status === 'rejected') expect(taker.reason).toMatchObject({ code: 'folder_in_use' });
      await owners[0]?.value.release();
    });
    await fc.assert(race, { numRuns: 5 });
  },
);
