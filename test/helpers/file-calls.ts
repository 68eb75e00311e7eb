import callbackFiles from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import { onTestFinished, vi } from 'vitest';

type Name = 'copyFile' | 'link' | 'open' | 'rename' | 'unlink' | 'utimes';

/** Until the end of the test, passes calls of these functions of node:fs/promises to `around`, which may run them. */
export function interceptFiles(
  names: readonly Name[],
  around: (name: Name, call: () => Promise<unknown>, given: readonly unknown[]) => Promise<unknown>,
): void {
  const spies = names.map((name) => {
    const real = files[name] as (...given: unknown[]) => Promise<unknown>;
    const instead = (...given: unknown[]) => around(name, () => real(...given), given);
    return vi.spyOn(files, name).mockImplementation(instead as () => Promise<never>);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
}

/** Until the end of the test, passes each wait for the disk to `around`, which may do it. */
export function interceptSyncs(
  around: (sync: () => Promise<void>, fd: number, name: 'fdatasync' | 'fsync') => Promise<void>,
): void {
  const spies = (['fdatasync', 'fsync'] as const).map((name) => {
    const real = promisify(callbackFiles[name]);
    return vi.spyOn(callbackFiles, name).mockImplementation((fd, done) => {
      around(() => real(fd), fd, name).then(() => done(null), done);
    });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
}
