import { readdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeTemporaryFolder, removeTemporaryFolder } from '../../src/system/temporary-folder.ts';
import { temporaryFolder } from '../helpers/folder.ts';

it('a temporary folder is for its user only, and is removed without the others', async () => {
  const temporary = await temporaryFolder();
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const [one, other] = [await makeTemporaryFolder(), await makeTemporaryFolder()];
  expect((await stat(one)).mode & 0o777).toBe(0o700);
  await removeTemporaryFolder(one);
  expect(await readdir(temporary)).toEqual([basename(other)]);
  await removeTemporaryFolder(other);
  expect(await readdir(temporary)).toEqual([]);
});
