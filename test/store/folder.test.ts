import {
  appendFile,
  chmod,
  chown,
  cp,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DataFolder } from '../../src/store/folder.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { findServer, readServerInfo, type ServerInfo, writeServerInfo } from '../../src/store/server-file.ts';
import { deadPid, livingPid } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const inUse = {
  name: 'GatewayError',
  code: 'folder_in_use',
  remedy: expect.stringContaining('gateway-sim stop'),
};

const lockIn = (folder: string) => join(folder, 'lock');

const asRoot = process.getuid?.() === 0;

async function replaceByLink(path: string): Promise<void> {
  await rename(path, `${path}.moved`);
  await symlink(`${path}.moved`, path);
}

describe('a data folder', () => {
  it('is created with a .gitignore that keeps it out of repositories', async () => {
    const path = join(await temporaryFolder(), 'new', '.gateway-sim');
    const folder = await DataFolder.acquire(path);
    expect(folder.path).toBe(path);
    expect(await readFile(join(path, '.gitignore'), 'utf8')).toBe('*\n');
    expect((await readdir(path)).sort()).toEqual(['.gitignore', 'lock']);
  });

  it('gets no .gitignore if it has other files', async () => {
    const path = await temporaryFolder({ '.gitignore': 'node_modules\n' });
    await (await DataFolder.acquire(path)).release();
    expect(await readFile(join(path, '.gitignore'), 'utf8')).toBe('node_modules\n');
    const other = await temporaryFolder({ 'package.json': '{}' });
    await (await DataFolder.acquire(other)).release();
    expect(await readdir(other)).toEqual(['package.json']);
  });

  it('can be read only by its owner, regardless of the umask', async () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const path = join(await temporaryFolder(), 'data');
    const folder = await DataFolder.acquire(path);
    await folder.announce({
      url: 'http://127.0.0.1:4477',
      pid: process.pid,
      controlToken: 'token',
      tlsCa: null,
    });
    const mode = async (...name: string[]) => ((await stat(join(path, ...name))).mode & 0o777).toString(8);
    expect([await mode(), await mode('lock'), await mode('server.json')]).toEqual(['700', '600', '600']);
    expect(await mode('.gitignore')).toBe('644');
    await folder.release();
  });

  it.skipIf(process.platform === 'win32').each<[string, (path: string) => unknown]>([
    ['is a link', replaceByLink],
    ['belongs to another user', () => vi.spyOn(process, 'getuid').mockReturnValue(4_711)],
  ])('that %s is used only if the user specified it', async (why, change) => {
    onTestFinished(() => void vi.restoreAllMocks());
    const path = join(await temporaryFolder(), '.gateway-sim');
    await mkdir(path);
    await change(path);
    await expect(DataFolder.acquire(path, { isNamed: false })).rejects.toMatchObject({
      code: 'storage_failed',
      message: `the data folder ${path} ${why} and was not used`,
      remedy: expect.stringContaining(`--data-dir ${relative('', path)},`),
    });
    expect(await readdir(path)).toEqual([]);
    await (await DataFolder.acquire(path)).release();
  });

  it('that other users can access, as in a clone, becomes private unless the user specified it', async () => {
    const path = join(await temporaryFolder(), '.gateway-sim');
    await mkdir(path);
    await chmod(path, 0o701);
    const mode = async (isNamed: boolean) => {
      await (await DataFolder.acquire(path, { isNamed })).release();
      return (await stat(path)).mode & 0o777;
    };
    expect([await mode(true), await mode(false)]).toEqual([0o701, 0o700]);
  });

  it('that is a dangling link is reported and stays unchanged', async () => {
    const base = await temporaryFolder();
    const data = join(base, 'data');
    await symlink('nowhere', data);
    await expect(DataFolder.acquire(data)).rejects.toMatchObject({
      code: 'storage_failed',
      message: `${data} is a dangling link: there is nothing at nowhere`,
    });
    expect(await readdir(base)).toEqual(['data']);
  });

  it('that is a copy of a folder in use can be opened, and names no server', async () => {
    const base = await temporaryFolder();
    const [path, copy] = [join(base, 'data'), join(base, 'copy')];
    const original = await DataFolder.acquire(path);
    await original.announce({
      url: 'http://127.0.0.1:4477',
      pid: process.pid,
      controlToken: null,
      tlsCa: null,
    });
    await cp(path, copy, { recursive: true });
    expect(await readServerInfo(copy)).toBeUndefined();
    const copied = await DataFolder.acquire(copy);
    await copied.release();
    expect(original.assertOurs).not.toThrow();
    expect(await readServerInfo(path)).toMatchObject({ pid: process.pid });
    await rename(path, `${path}-moved`);
    await expect(DataFolder.acquire(`${path}-moved`)).rejects.toMatchObject(inUse);
    await original.release();
  });

  it('loses the temporary files of killed owners, but no other files', async () => {
    const other = { 'db.json.tmp': '', 'notes.tmp': '', '.gitignore': '' };
    const path = await temporaryFolder({
      ...other,
      'db.json.0123456789ab.tmp': '',
      'journal.jsonl.0123456789ab.tmp': '',
    });
    await (await DataFolder.acquire(path)).release();
    expect((await readdir(path)).sort()).toEqual(Object.keys(other).sort());
  });

  it('that cannot be written is reported with the path and a fix', async () => {
    const base = await temporaryFolder({ file: '' });
    await expect(DataFolder.acquire(join(base, 'file', 'data'))).rejects.toMatchObject({
      code: 'storage_failed',
      message: expect.stringContaining(`the data folder ${join(base, 'file', 'data')} cannot be written`),
      remedy: expect.stringContaining('--in-memory'),
    });
  });
});

describe('a folder that was replaced', () => {
  const replacements = {
    'removed and created again': async (path: string) => {
      await rm(path, { recursive: true });
      await mkdir(path);
    },
    'moved away': (path: string) => rename(path, `${path}-old`),
    'without its lock': (path: string) => rm(lockIn(path)),
    'replaced by one with links to its files': async (path: string) => {
      await rename(path, `${path}-old`);
      await mkdir(path);
      for (const name of await readdir(`${path}-old`))
        await link(join(`${path}-old`, name), join(path, name));
    },
  };

  it.each(Object.entries(replacements))(
    '(%s) is no longer used or changed by its first owner',
    async (_, replace) => {
      const path = join(await temporaryFolder(), 'data');
      const first = await DataFolder.acquire(path);
      await first.announce({ url: 'http://127.0.0.1:1', pid: process.pid, controlToken: null, tlsCa: null });
      expect(first.assertOurs).not.toThrow();
      await replace(path);
      expect(first.assertOurs).toThrow(/was removed, moved or replaced/);
      const second = await DataFolder.acquire(path);
      await second.announce({ url: 'http://127.0.0.1:2', pid: process.pid, controlToken: null, tlsCa: null });
      await first.release();
      expect(await readServerInfo(path)).toMatchObject({ url: 'http://127.0.0.1:2' });
      expect(second.assertOurs).not.toThrow();
      await second.release();
    },
  );
});

describe('server.json', () => {
  /** Changes fields of a server file. */
  async function edit(folder: string, change: object) {
    const path = join(folder, 'server.json');
    const written = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...written, ...change }));
  }

  const info = (pid: number): ServerInfo => ({
    url: 'http://127.0.0.1:4477',
    pid,
    controlToken: 'token',
    tlsCa: null,
  });

  it('names the server, can be read only by its owner, and is removed with the lock', async () => {
    const path = await temporaryFolder();
    const folder = await DataFolder.acquire(path);
    expect(await readServerInfo(path)).toBeUndefined();
    await folder.announce({ ...info(process.pid), url: 'http://127.0.0.1:1' });
    await folder.announce(info(process.pid));
    expect(await readServerInfo(path)).toEqual(info(process.pid));
    expect((await stat(join(path, 'server.json'))).mode & 0o777).toBe(0o600);
    await folder.release();
    expect(await readServerInfo(path)).toBeUndefined();
  });

  it('that cannot be removed is reported, but the lock is still released', async () => {
    const path = await temporaryFolder();
    const folder = await DataFolder.acquire(path);
    await mkdir(join(path, 'server.json'));
    await expect(folder.release()).rejects.toMatchObject({
      code: 'storage_failed',
      message: `the data folder ${path} cannot be written: it is a folder, not a file`,
    });
    expect((await readdir(path)).sort()).toEqual(['.gitignore', 'server.json']);
  });

  const own = Object.values(networkInterfaces()).flatMap((list = []) =>
    list.filter(({ scopeid }) => !scopeid),
  );

  it.each([
    ...['localhost', 'LOCALHOST', '127.0.0.1', '127.1', '127.8.8.8', '[::1]', hostname()],
    ...own.map(({ family, address }) => (family === 'IPv6' ? `[${address}]` : address)),
  ])('with the host %s is accepted', async (host) => {
    const path = await temporaryFolder();
    const written = { ...info(process.pid), url: `https://${host}:4477` };
    await writeServerInfo(path, written);
    expect(await readServerInfo(path)).toEqual(written);
  });

  it.each([
    ...['http://192.0.2.1', 'http://[2001:db8::1]', 'http://shop.example', 'http://localhost.shop.example'],
    ...['http://user@localhost:4477', 'http://localhost:4477/other', 'http://localhost:4477?'],
    ...['http://localhost@192.0.2.1', 'http://x.localhost', 'ws://localhost', 'file:///', 'localhost:4477'],
  ])('with the address %s is ignored', async (url) => {
    const path = await temporaryFolder();
    await writeServerInfo(path, { ...info(process.pid), url });
    expect(await readServerInfo(path)).toBeUndefined();
  });

  it
    .skipIf(process.platform === 'win32')
    .each<[string, (path: string) => unknown]>([
      ['is a link', replaceByLink],
      ['is too large', (path) => appendFile(path, ' '.repeat(300_000))],
      ...(asRoot
        ? [['belongs to another user', (path) => chown(path, 4_711, 4_711)] as [string, typeof rm]]
        : []),
    ])('that %s is ignored', async (_, change) => {
    const path = await temporaryFolder();
    const file = join(path, 'server.json');
    await writeServerInfo(path, info(process.pid));
    expect(await readServerInfo(path)).toEqual(info(process.pid));
    await change(file);
    expect(await readServerInfo(path)).toBeUndefined();
  });

  it.each<[string, object]>([
    ['names no folder', { folder: undefined }],
    ['names another folder', { folder: '1:2' }],
    ...(process.platform === 'linux'
      ? [['does not say when its process started', { started: null }] as [string, object]]
      : []),
  ])('that %s is ignored', async (_, change) => {
    const path = await temporaryFolder();
    await writeServerInfo(path, info(process.pid));
    await edit(path, change);
    expect(await readServerInfo(path)).toBeUndefined();
  });

  it.each([
    '',
    '{',
    '{}',
    'null',
    '{"url":1,"pid":1}',
    '{"url":"http://localhost","pid":0}',
    '{"url":"http://localhost","pid":-1}',
  ])('with the content %j is ignored', async (content) => {
    const path = await temporaryFolder({ 'server.json': content });
    expect(await readServerInfo(path)).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('of a process whose PID was reused is ignored', async () => {
    const path = await temporaryFolder();
    await writeServerInfo(path, info(livingPid()));
    await edit(path, { started: '1' });
    expect(await readServerInfo(path)).toBeUndefined();
  });

  it('of a process that has ended is ignored', async () => {
    const path = await temporaryFolder();
    const pid = await deadPid();
    await writeServerInfo(path, info(pid));
    expect(isAlive(pid)).toBe(false);
    expect(await readServerInfo(path)).toBeUndefined();
  });

  it('is found from a subfolder, the nearest first, but not through a link or after its process ended', async () => {
    const base = await temporaryFolder();
    const below = join(base, 'shop', 'src');
    const announce = async (folder: string, content: ServerInfo) => {
      await mkdir(join(folder, '.gateway-sim'), { recursive: true });
      await writeServerInfo(join(folder, '.gateway-sim'), content);
    };
    await mkdir(below, { recursive: true });
    await announce(base, info(process.pid));
    expect(await findServer(below)).toEqual(info(process.pid));
    await announce(join(base, 'shop'), { ...info(process.pid), url: 'http://127.0.0.1:3' });
    expect((await findServer(below))?.url).toBe('http://127.0.0.1:3');
    await announce(below, info(await deadPid()));
    expect((await findServer(below))?.url).toBe('http://127.0.0.1:3');
    await rename(join(base, '.gateway-sim'), join(base, 'data'));
    await rm(join(base, 'shop', '.gateway-sim'), { recursive: true });
    await symlink('data', join(base, '.gateway-sim'));
    expect(await findServer(below)).toBeUndefined();
    expect(await readServerInfo(join(base, 'data'))).toEqual(info(process.pid));
  });
});
