import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { DataFolder } from '../../src/store/folder.ts';
import { temporaryFolder } from '../helpers/folder.ts';

type Change = () => Promise<unknown>;
const disk = vi.hoisted(() => ({ change: (_: string, change: Change) => change() }));

vi.mock('node:fs/promises', async (importActual) => {
  const actual = await importActual<typeof import('node:fs/promises')>();
  const changing = (name: 'link' | 'rename' | 'rm') => {
    const call = actual[name] as (...given: unknown[]) => Promise<unknown>;
    return (...given: unknown[]) => disk.change(name, () => call(...given));
  };
  return { ...actual, link: changing('link'), rename: changing('rename'), rm: changing('rm') };
});

/** A number above those that Linux gives by itself. */
const GONE = JSON.stringify({ pid: 99_999_999, started: null });

/** Leaves what a start leaves that is killed in the middle of taking over the lock. */
async function killTaker(path: string): Promise<void> {
  let isKilled = false;
  disk.change = async (name, change) => {
    isKilled ||= name === 'rename';
    if (isKilled) throw new Error('killed');
    return change();
  };
  await expect(DataFolder.take(path)).rejects.toThrow();
  for (const name of await readdir(path))
    if (name.startsWith('lock.')) await writeFile(join(path, name), GONE);
}

it.each([0, 1, 2])(
  'a stale lock goes to exactly one of many, however slow the disk, after %i that were killed over it',
  async (killed) => {
    for (let round = 0; round < 10; round++) {
      const path = await temporaryFolder();
      await writeFile(join(path, 'lock'), GONE);
      for (let taker = 0; taker < killed; taker++) await killTaker(path);
      disk.change = async (_, change) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 6));
        return change();
      };
      const takers = await Promise.allSettled(Array.from({ length: 12 }, () => DataFolder.take(path)));
      const owners = takers.filter((taker) => taker.status === 'fulfilled');
      expect(owners).toHaveLength(1);
      expect(() => owners[0]?.value.assertOurs()).not.toThrow();
      for (const taker of takers)
        if (taker.status === 'rejected') expect(taker.reason).toMatchObject({ code: 'folder_in_use' });
    }
  },
);
