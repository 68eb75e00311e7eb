import { readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DataFolder } from '../../src/store/folder.ts';
import { identityOf } from '../../src/store/process-identity.ts';
import { fileId } from '../../src/system/files.ts';
import { deadPid, livingPid } from '../helpers/child.ts';
import { interceptFiles, interceptNow } from '../helpers/file-calls.ts';
import { temporaryFolder } from '../helpers/folder.ts';

/** By default enough for a heartbeat, or for twelve starts on a slow disk, on a busy machine. */
const acquire = (path: string, patienceMs = 400, warn = (_: string) => {}) =>
  DataFolder.acquire(path, { patienceMs, warn });
const SOON_MS = 100;

const inUse = {
  name: 'GatewayError',
  code: 'folder_in_use',
  remedy: expect.stringContaining('gateway-sim stop'),
};

const lockIn = (folder: string) => join(folder, 'lock');
const lockText = async (folder: string) => JSON.parse(await readFile(lockIn(folder), 'utf8'));

/** The lock of this process, as it would write it. */
async function ownLock(folder: string) {
  const held = await acquire(folder);
  const lock = await lockText(folder);
  await held.release();
  return lock as { pid: number; started: string | null; host: string; place: string; folder: string };
}

/** A folder with the lock of this process, in which fields have other values. */
async function lockedBy(changes: object): Promise<string> {
  const path = await temporaryFolder();
  await writeFile(lockIn(path), JSON.stringify({ ...(await ownLock(path)), ...changes }));
  return path;
}

async function expectTakenOver(path: string, notices: readonly string[] = []): Promise<void> {
  const folder = await acquire(path, SOON_MS);
  expect(await lockText(path)).toMatchObject({ pid: process.pid, folder: fileId(path) });
  expect(folder.notices).toEqual(notices);
  await expect(acquire(path)).rejects.toMatchObject(inUse);
  await folder.release();
  expect((await readdir(path)).filter((name) => name.startsWith('lock'))).toEqual([]);
}

describe('the lock of a data folder', () => {
  it('rejects a second process and names the first, until it is released', async () => {
    const path = await temporaryFolder();
    const first = await acquire(path);
    await expect(acquire(path)).rejects.toMatchObject({
      ...inUse,
      message: `the data folder ${path} is in use by another gateway-sim (process ${process.pid})`,
    });
    await first.release();
    await expectTakenOver(path);
    expect(await readdir(path)).toEqual(['.gitignore']);
  });

  it('of another running process is respected', async () => {
    const pid = livingPid();
    const path = await lockedBy(identityOf(pid));
    const before = await readFile(lockIn(path), 'utf8');
    await expect(acquire(path)).rejects.toMatchObject({
      ...inUse,
      message: expect.stringContaining(`process ${pid}`),
    });
    expect(await readFile(lockIn(path), 'utf8')).toBe(before);
  });

  it('of a process that has ended is taken over immediately', async () => {
    const path = await lockedBy({ pid: await deadPid(), started: null });
    const folder = await DataFolder.acquire(path, { patienceMs: Number.POSITIVE_INFINITY });
    expect(await lockText(path)).toMatchObject({ pid: process.pid });
    await folder.release();
  });

  it.runIf(process.platform === 'linux')(
    'of a process whose PID was reused is taken over, even by the process that has it now',
    async () => {
      for (const pid of [process.pid, livingPid()])
        await expectTakenOver(await lockedBy({ pid, started: '1' }));
    },
  );

  it('that came with a copy of a folder in use is taken over', async () => {
    await expectTakenOver(await lockedBy({ folder: fileId(await temporaryFolder()) }));
  });

  it.each(['', '{"pid":', 'null', '{"pid":"1","host":"here"}', '{"pid":1,"host":{"toString":1}}'])(
    'with the content %j, which stays, has no owner and is taken over',
    async (content) => {
      await expectTakenOver(await temporaryFolder({ lock: content }));
    },
  );

  it.each([0, -1, 1.5])('with the PID %d has no owner and is taken over', async (pid) => {
    await expectTakenOver(await lockedBy({ pid, started: null }));
  });

  it('that another start is about to write is respected', async () => {
    const path = await temporaryFolder();
    const text = JSON.stringify(await ownLock(path));
    await writeFile(lockIn(path), '');
    // Expected immediately: it can be rejected before the write has ended.
    const rejected = expect(acquire(path)).rejects.toMatchObject(inUse);
    await writeFile(lockIn(path), text);
    await rejected;
  });

  it('that cannot be read is respected while it has a heartbeat', async () => {
    const path = await temporaryFolder({ lock: '' });
    const heart = setInterval(() => void utimes(lockIn(path), new Date(), new Date()), 20);
    onTestFinished(() => clearInterval(heart));
    await expect(acquire(path)).rejects.toMatchObject(inUse);
  });

  it('of a process whose start time is unknown is respected only while it has a heartbeat', async () => {
    const path = await lockedBy({ started: null });
    const heart = setInterval(() => void utimes(lockIn(path), new Date(), new Date()), 20);
    onTestFinished(() => clearInterval(heart));
    await expect(acquire(path)).rejects.toMatchObject(inUse);
    clearInterval(heart);
    await expectTakenOver(path, [`took over ${path} from process ${process.pid}, which no longer responds`]);
  });

  it.skipIf(process.platform === 'win32').each(['/dev/zero', '/nowhere/at/all'])(
    'that is a link to %s has no owner and is taken over',
    async (target) => {
      const path = await temporaryFolder();
      await symlink(target, lockIn(path));
      await expectTakenOver(path);
    },
  );

  it('that cannot be written leaves no file', async () => {
    const path = await temporaryFolder();
    const probe = await acquire(path);
    await probe.release();
    interceptFiles(['open'], async (_, open, [name]) => {
      const file = (await open()) as { writeFile: unknown };
      if (name === lockIn(path))
        file.writeFile = () =>
          Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' }));
      return file;
    });
    await expect(acquire(path)).rejects.toMatchObject({
      code: 'storage_failed',
      message: `the data folder ${path} cannot be written: the disk is full`,
    });
    expect(await readdir(path)).toEqual(['.gitignore']);
  });
});

describe('the lock of a process on another machine or in another container', () => {
  /** Also with the same host name, as in two containers of one service, or on two machines. */
  const HOSTS = ['elsewhere', hostname()];

  async function lockedElsewhere(host = 'elsewhere') {
    const path = await lockedBy({ host, place: 'another one' });
    return { path, owner: `process ${process.pid} on ${host}, which is another machine or container` };
  }

  it.each(HOSTS)('(%s) is respected while it has a heartbeat, and the wait is reported', async (host) => {
    const { path, owner } = await lockedElsewhere(host);
    const before = await readFile(lockIn(path), 'utf8');
    const heart = setInterval(() => void utimes(lockIn(path), new Date(), new Date()), 20);
    onTestFinished(() => clearInterval(heart));
    const warn = vi.fn();
    await expect(acquire(path, 400, warn)).rejects.toMatchObject({
      ...inUse,
      message: expect.stringContaining(`(${owner})`),
    });
    expect(warn.mock.calls).toEqual([[`waiting up to 0.4 s to see whether ${owner} still uses ${path}`]]);
    expect(await readFile(lockIn(path), 'utf8')).toBe(before);
  });

  it.each(HOSTS)('(%s) is taken over without a heartbeat, with a notice', async (host) => {
    const { path, owner } = await lockedElsewhere(host);
    await expectTakenOver(path, [`took over ${path} from ${owner}, which no longer responds`]);
  });

  it('that is released while another start waits for its heartbeat is free', async () => {
    const { path } = await lockedElsewhere();
    const next = acquire(path);
    await rm(lockIn(path));
    expect((await next).notices).toEqual([]);
    await (await next).release();
  });

  it('goes to only one of several processes that wait for its heartbeat', async () => {
    const { path } = await lockedElsewhere();
    const takers = await Promise.allSettled(Array.from({ length: 4 }, () => acquire(path)));
    expect(takers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('the heartbeat of a lock', () => {
  const mtimeOf = async (path: string) => (await stat(path)).mtimeMs;
  const passTime = () => vi.advanceTimersByTime(2_000);

  async function held(): Promise<string> {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const path = await temporaryFolder();
    const folder = await acquire(path);
    onTestFinished(() => folder.release());
    await utimes(lockIn(path), 0, 0);
    return lockIn(path);
  }

  it('updates its time every two seconds', async () => {
    const lock = await held();
    passTime();
    await expect.poll(() => mtimeOf(lock)).toBeGreaterThan(0);
  });

  // Yarn's Plug'n'Play replaces functions of node:fs, and some of them throw synchronously.
  it.each<[string, () => Promise<never>]>([
    ['rejects', () => Promise.reject(new Error('not implemented'))],
    [
      'throws',
      () => {
        throw new Error('not implemented');
      },
    ],
  ])('ends nothing and continues if the file system %s', async (_, fail) => {
    const lock = await held();
    let failed = 0;
    interceptFiles(['utimes'], (_, call) => (failed++ ? call() : fail()));
    passTime();
    expect(failed).toBe(1);
    passTime();
    await expect.poll(() => mtimeOf(lock)).toBeGreaterThan(0);
  });

  it('does not keep the lock of a later owner alive', async () => {
    const lock = await held();
    await rm(lock);
    await writeFile(lock, '');
    const before = await mtimeOf(lock);
    let renewed = 0;
    interceptFiles(['utimes'], async (_, call) => {
      renewed++;
      return call();
    });
    passTime();
    expect([renewed, await mtimeOf(lock)]).toEqual([0, before]);
  });
});

describe('several starts at the same time', () => {
  /** Performs a change immediately, later or never. */
  type Disk = (name: string, change: () => Promise<unknown>) => Promise<unknown>;
  const quick: Disk = (_, change) => change();

  /** Whether the current process was killed while it took over the lock, so that it changes no more files. */
  let isKilled = false;

  it.each([
    ['without a lock', null, 0],
    ['with the lock of a process that has ended', 'stale', 0],
    ['and one killed while it took over the lock', 'stale', 1],
    ['and two killed while they took over the lock', 'stale', 2],
  ])('on a slow disk, %s: exactly one gets the folder', async (_, lock, kills) => {
    let disk = quick;
    let kill = false;
    interceptFiles(['open'], (name, change) => disk(name, change));
    interceptNow(['renameSync', 'unlinkSync'], (change, name) => {
      isKilled ||= kill && name === 'renameSync';
      if (isKilled) throw new Error('killed');
      change();
    });
    const race = fc.asyncProperty(fc.infiniteStream(fc.nat({ max: 6 })), async (delays) => {
      disk = quick;
      // Linux does not assign such a high PID.
      const path = lock ? await lockedBy({ pid: 99_999_999, started: null }) : await temporaryFolder();
      for (let count = 0; count < kills; count++) {
        kill = true;
        await expect(acquire(path)).rejects.toThrow('killed');
        [kill, isKilled] = [false, false];
      }
      disk = async (_, change) => {
        await new Promise((resolve) => setTimeout(resolve, delays.next().value));
        return change();
      };
      const takers = await Promise.allSettled(Array.from({ length: 12 }, () => acquire(path)));
      disk = quick;
      const owners = takers.filter((taker) => taker.status === 'fulfilled');
      expect(owners).toHaveLength(1);
      expect(() => owners[0]?.value.assertOurs()).not.toThrow();
      for (const taker of takers)
        if (taker.status === 'rejected') expect(taker.reason).toMatchObject({ code: 'folder_in_use' });
      await owners[0]?.value.release();
      expect((await readdir(path)).filter((name) => name.startsWith('lock'))).toEqual([]);
    });
    await fc.assert(race, { numRuns: kills ? 2 : 10 });
  });
});
