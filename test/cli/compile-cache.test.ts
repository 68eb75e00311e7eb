import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import * as module from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const CAN_CACHE = 'enableCompileCache' in module;

async function caches() {
  const cwd = await temporaryFolder();
  const folder = join(cwd, 'caches', 'gateway-sim');
  const help = () => run(['keys', '--help'], { cwd, env: { XDG_CACHE_HOME: join(cwd, 'caches') } });
  return { cwd, folder, help };
}

describe.skipIf(process.platform !== 'linux')(
  'the compiled code of the program (where the folder is found by XDG_CACHE_HOME)',
  () => {
    it.skipIf(!CAN_CACHE)(
      'is kept in a folder that only its owner can enter (from Node 22.1 on)',
      async () => {
        const { folder, help } = await caches();
        expect(await help()).toMatchObject({ code: 0, stderr: '' });
        expect((await stat(folder)).mode & 0o777).toBe(0o700);
        expect(await readdir(folder, { recursive: true })).not.toHaveLength(0);
        expect(await help()).toMatchObject({ code: 0, stderr: '' });
      },
    );

    it('is not taken from a folder that others can write', async () => {
      const { folder, help } = await caches();
      await mkdir(folder, { recursive: true });
      await chmod(folder, 0o777);
      expect(await help()).toMatchObject({ code: 0, stderr: '' });
      expect(await readdir(folder)).toEqual([]);
    });

    it('needs no folder at all', async () => {
      const { cwd } = await caches();
      const finished = await run(['keys', '--help'], { cwd, env: { XDG_CACHE_HOME: '/dev/null' } });
      expect(finished).toMatchObject({ code: 0, stderr: '' });
    });
  },
);
