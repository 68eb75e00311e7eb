import { chmod, mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../helpers/binary.ts';
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

describe.skipIf(process.platform !== 'linux')(
  'the compiled code of the program (where the folder is found by XDG_CACHE_HOME)',
  () => {
    it('is kept in a folder that only its owner can enter', async () => {
      const { folder, help } = await caches();
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
      const kept = await filesIn(folder);
      expect(kept).not.toHaveLength(0);
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect(await filesIn(folder)).toEqual(kept);
    });

    it('is made anew where it is damaged', async () => {
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

    it('is not kept where Node is told so', async () => {
      const { folder, help } = await caches();
      expect(await help({ NODE_DISABLE_COMPILE_CACHE: '1' })).toMatchObject({ code: 0, stderr: '' });
      await expect(stat(folder)).rejects.toThrow('ENOENT');
    });

    it('is not taken from a folder that others can write', async () => {
      const { folder, help } = await caches();
      await mkdir(folder, { recursive: true });
      await chmod(folder, 0o777);
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(folder)).toEqual([]);
    });

    it('is not kept where a file is in its way', async () => {
      const { folder, help } = await caches();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(join(folder, `${process.version}-${process.arch}`), '');
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
    });

    it('needs no folder at all', async () => {
      const { cwd } = await caches();
      const finished = await run(['keys', '--help'], { cwd, env: { XDG_CACHE_HOME: '/dev/null' } });
      expect(finished).toMatchObject({ code: 0, stderr: '' });
    });
  },
);
