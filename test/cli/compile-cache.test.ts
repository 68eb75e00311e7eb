import { spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BINARY, run } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';

async function caches() {
  const cwd = await temporaryFolder();
  const folder = join(cwd, 'caches', 'gateway-sim');
  const help = (env = {}) =>
    run(['keys', '--help'], { cwd, env: { XDG_CACHE_HOME: join(cwd, 'caches'), ...env } });
  return { cwd, folder, help };
}

async function filesIn(folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(files.map(async (path) => ({ path, changedAt: (await stat(path)).mtimeMs })));
}

/** Replaces the cached code of a file. V8 checks only the length of its source. */
async function storeOther(folder: string, code: string): Promise<string> {
  const [{ path } = expect.fail('nothing was stored')] = await filesIn(folder);
  const source = await readFile(join(dirname(BINARY), '..', 'dist', 'chunks', basename(path)));
  const head = '(function (exports, require, module, __filename, __dirname) {';
  const script = new Script(`${head}${code.padEnd(`${source}`.length)}\n})`);
  const kept = script.createCachedData();
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(source, crc32(kept)));
  await writeFile(path, Buffer.concat([checksum, kept]));
  return path;
}

describe.skipIf(process.platform !== 'linux')(
  'the cache of compiled code (in a folder that XDG_CACHE_HOME names)',
  () => {
    it('is stored in a folder that only its owner can enter', async () => {
      const { folder, help } = await caches();
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
      const kept = await filesIn(folder);
      expect(kept).not.toHaveLength(0);
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect(await filesIn(folder)).toEqual(kept);
    });

    it('is created again if it is damaged', async () => {
      const { folder, help } = await caches();
      const { stdout } = await help();
      for (const { path } of await filesIn(folder)) {
        const bytes = await readFile(path);
        await writeFile(path, bytes.fill(0xff, bytes.length / 2));
        expect(await help()).toMatchObject({ code: 0, stdout, stderr: '' });
        await truncate(path, 3);
        expect(await help()).toMatchObject({ code: 0, stdout, stderr: '' });
        expect((await readFile(path)).length).toBeGreaterThan(3);
      }
    });

    it("is not stored if Node's compile cache is disabled", async () => {
      const { folder, help } = await caches();
      expect(await help({ NODE_DISABLE_COMPILE_CACHE: '1' })).toMatchObject({ code: 0, stderr: '' });
      await expect(stat(folder)).rejects.toThrow('ENOENT');
    });

    const asRoot = process.getuid?.() === 0;
    const foreign: Record<string, (folder: string) => unknown> = {
      'that others can write': (folder) => chmod(folder, 0o777),
      ...(asRoot && { 'that belongs to another user': (folder) => chown(folder, 4_711, 4_711) }),
    };

    it.each(Object.entries(foreign))('is not read from a folder %s', async (_, change) => {
      const { folder, help } = await caches();
      await mkdir(folder, { recursive: true });
      await change(folder);
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(folder)).toEqual([]);
    });

    it.each([
      ['a relative cache folder', { XDG_CACHE_HOME: 'here', HOME: '' }],
      ['a relative home folder', { XDG_CACHE_HOME: '', HOME: '.' }],
    ])('is not stored in the working folder because of %s', async (_, env) => {
      const { cwd, help } = await caches();
      expect(await help(env)).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(cwd)).toEqual([]);
    });

    it('is not stored if others could replace a parent folder', async () => {
      const { cwd, folder, help } = await caches();
      await chmod(cwd, 0o777);
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(cwd)).toEqual([]);
      await mkdir(dirname(folder));
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(dirname(folder))).toEqual([]);
      // With this bit, users can remove only their own files.
      await chmod(cwd, 0o1777);
      await help();
      expect(await filesIn(folder)).not.toHaveLength(0);
    });

    const changes: Record<string, (path: string) => unknown> = {
      'a link': async (path) => {
        await rename(path, `${path}.moved`);
        await symlink(`${path}.moved`, path);
      },
      'a file that others can write': (path) => chmod(path, 0o666),
      'a file with the mode of a git checkout': (path) => chmod(path, 0o644),
      'a folder with the mode of a git checkout': (path) => chmod(dirname(path), 0o755),
      ...(asRoot && { 'a file of another user': (path) => chown(path, 4_711, 4_711) }),
    };

    it.each(Object.entries(changes))('is not read from %s', async (_, change) => {
      const { folder, help } = await caches();
      const { stdout } = await help();
      const path = await storeOther(folder, 'console.log("run by another"); process.exit()');
      expect((await help()).stdout).toContain('run by another');
      await change(path);
      expect(await help()).toMatchObject({ code: 0, stdout, stderr: '' });
    });

    it('is not read from a pipe, which would hang', async () => {
      const { folder, help } = await caches();
      const { stdout } = await help();
      for (const { path } of await filesIn(folder)) {
        await rm(path);
        spawnSync('mkfifo', [path]);
      }
      expect(await help()).toMatchObject({ code: 0, stdout, stderr: '' });
    });

    it('is optional: the program works without a folder for it', async () => {
      const { folder, help } = await caches();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(join(folder, `${process.version}-${process.arch}`), '');
      for (const env of [{}, { XDG_CACHE_HOME: '/dev/null' }])
        expect(await help(env)).toMatchObject({ code: 0, stderr: '' });
    });
  },
);
