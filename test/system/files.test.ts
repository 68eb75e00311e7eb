import { link, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readText } from '../../src/system/files.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const openFiles = async () => {
  const all = await readdir('/proc/self/fd');
  return Promise.all(all.map((one) => readlink(join('/proc/self/fd', one)).catch(() => '')));
};

it.runIf(process.platform === 'linux')('a file that is rejected is closed', async () => {
  const path = join(await temporaryFolder(), 'key');
  await writeFile(path, 'text');
  await link(path, `${path}-too`);
  await expect(readText(path, { isAlone: true })).rejects.toThrow('it is a hard link');
  expect(await openFiles()).not.toContain(path);
});
