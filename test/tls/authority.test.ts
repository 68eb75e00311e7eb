import { chmod, chown, cp, lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storedAuthority } from '../../src/tls/authority.ts';
import { issue } from '../../src/tls/certificates.ts';
import { LOOPBACK_NAMES } from '../helpers/certificates.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const DAY_MS = 24 * 3_600_000;
const NOW = Date.now();

const start = (folder: string, now = NOW, names = LOOPBACK_NAMES) =>
  storedAuthority(join(folder, '..'), names, now);
const caIn = (folder: string) => readFile(join(folder, 'ca.pem'), 'utf8');
const key = (folder: string) => join(folder, 'key.pem');

/** A folder with the files that a start creates. */
async function folderWithAuthority(now = NOW, names = LOOPBACK_NAMES): Promise<string> {
  const folder = join(await temporaryFolder(), 'tls');
  await start(folder, now, names);
  return folder;
}

/** Expects that a start replaces the authority and says why. */
async function requireNewOne(folder: string, why: string): Promise<void> {
  const former = await caIn(folder).catch(() => '');
  const made = await start(folder);
  expect(made.notices).toEqual([
    `the local authority was replaced (${why}): clients must trust ${join(folder, 'ca.pem')} again`,
  ]);
  expect(await caIn(folder)).not.toBe(former);
  expect(await start(folder)).toMatchObject({ key: made.key, notices: [] });
  const file = await lstat(key(folder));
  expect([file.isFile(), file.mode & 0o777]).toEqual([true, 0o600]);
}

describe('a local authority in the data folder', () => {
  const other = issue(LOOPBACK_NAMES, NOW);
  const NOT_OURS = 'the previous one was not created here';

  it('is reused without a notice if it was created there', async () => {
    const folder = await folderWithAuthority();
    const ca = await caIn(folder);
    const files = {
      cert: await readFile(join(folder, 'cert.pem'), 'utf8'),
      key: await readFile(key(folder), 'utf8'),
    };
    expect(await start(folder)).toMatchObject({ ...files, notices: [] });
    expect(await caIn(folder)).toBe(ca);
  });

  it.each([
    ['for other names', NOW, [...LOOPBACK_NAMES, 'bank.example'], 'the names changed'],
    ['that is about to expire', NOW - 80 * DAY_MS, LOOPBACK_NAMES, 'the previous one expires soon'],
    ['that is not valid yet', NOW + DAY_MS, LOOPBACK_NAMES, 'the previous one is not valid yet'],
  ])('%s is created again, with a notice', async (_, now, names, why) => {
    await requireNewOne(await folderWithAuthority(now, names), why);
  });

  it.skipIf(process.platform === 'win32').each<[string, (folder: string) => unknown, string]>([
    [
      'whose key others can read',
      (folder) => chmod(key(folder), 0o640),
      'key.pem: others can read or change it',
    ],
    ['without a key', (folder) => rm(key(folder)), 'missing key.pem'],
    [
      'that is a copy',
      async (folder) => {
        await rename(folder, `${folder}-original`);
        await cp(`${folder}-original`, folder, { recursive: true, preserveTimestamps: true });
      },
      NOT_OURS,
    ],
    [
      'with a certificate from elsewhere',
      (folder) => writeFile(join(folder, 'cert.pem'), other.cert),
      NOT_OURS,
    ],
    [
      'whose files were all replaced',
      async (folder) => {
        for (const name of ['ca', 'cert', 'key'] as const)
          await writeFile(join(folder, `${name}.pem`), other[name]);
      },
      NOT_OURS,
    ],
  ])('%s is not used', async (_, change, why) => {
    const folder = await folderWithAuthority();
    await change(folder);
    await requireNewOne(folder, why);
  });

  it.runIf(process.getuid?.() === 0)('of another user is not used', async () => {
    const folder = await folderWithAuthority();
    await chown(join(folder, 'ca.pem'), 4_711, 4_711);
    await requireNewOne(folder, 'ca.pem: it belongs to another user');
  });
});
