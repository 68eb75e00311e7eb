import { cp, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { onTestFinished } from 'vitest';

/** A folder with these files, by path; it is removed at the end of the test. */
export async function temporaryFolder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-test-'));
  // A process that was just killed may still write there.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** The environment of a process with this temporary folder, in which Node (since 22.8) stores no compiled code. */
export const withTmp = (folder: string) => ({ TMPDIR: folder, NODE_DISABLE_COMPILE_CACHE: '1' });

/** Copies the files that a kill would leave in a data folder at this moment. @param below a folder in the copy */
export async function copyOfFiles(dataDir: string, below = ''): Promise<string> {
  const files = ['db.json', 'journal.jsonl'].map((name) => join(dataDir, name));
  const asOfNow = () =>
    Promise.all(
      files.map((file) =>
        stat(file).then(
          ({ ino, size }) => [ino, size],
          () => null,
        ),
      ),
    );
  for (;;) {
    const copy = await temporaryFolder();
    const before = await asOfNow();
    // An emulator may be writing them.
    const filter = (path: string) => !/\/lock$|\.tmp$/.test(path);
    await cp(dataDir, join(copy, below), { recursive: true, filter });
    // If a snapshot was written in between, the files do not belong together.
    if (isDeepStrictEqual(await asOfNow(), before)) return copy;
  }
}
