import { mkdir, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeTemporaryFolder, removeTemporaryFolder } from '../../src/tls/temporary-folder.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const NOBODY = 999_999_999;

it('a process removes only the folders of killed processes', async () => {
  const [temporary, elsewhere] = [await temporaryFolder(), await temporaryFolder()];
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const running = await makeTemporaryFolder();
  expect((await stat(running)).mode & 0o777).toBe(0o700);
  /** The name of the folder if an ended process had created it. */
  const leftBy = (letter: string) =>
    basename(running).replace(`-${process.pid}-`, `-${NOBODY}-`).replace(/.{6}$/, letter.repeat(6));
  const killed = await makeTemporaryFolder();
  await writeFile(join(killed, 'ca.pem'), '');
  await symlink(elsewhere, join(killed, 'link'));
  await rename(killed, join(temporary, leftBy('a')));
  await writeFile(join(elsewhere, 'precious'), '');
  await symlink(elsewhere, join(temporary, leftBy('b')));
  const ofContainer = leftBy('c').replace(/tls-\w{12}/, 'tls-0123456789ab');
  await mkdir(join(temporary, ofContainer));
  const next = await makeTemporaryFolder();
  const left = [basename(running), basename(next), leftBy('b'), ofContainer];
  expect((await readdir(temporary)).sort()).toEqual(left.sort());
  expect(await readdir(elsewhere)).toEqual(['precious']);
  for (const folder of [running, killed, next]) await removeTemporaryFolder(folder);
  expect((await readdir(temporary)).sort()).toEqual([leftBy('b'), ofContainer].sort());
});
