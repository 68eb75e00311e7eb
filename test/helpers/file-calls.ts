import callbackFiles from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import { onTestFinished, vi } from 'vitest';

function restored(spies: readonly { mockRestore: () => void }[]): void {
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
}

/** Until the end of the test, passes calls of these functions of node:fs/promises to `around`, which may run them. */
export function interceptFiles(
  names: readonly ('open' | 'utimes')[],
  around: (name: string, call: () => Promise<unknown>, given: readonly unknown[]) => Promise<unknown>,
): void {
  const spies = names.map((name) => {
    const real = files[name] as (...given: unknown[]) => Promise<unknown>;
    const instead = (...given: unknown[]) => around(name, () => real(...given), given);
    return vi.spyOn(files, name).mockImplementation(instead as () => Promise<never>);
  });
  restored(spies);
}

/** The same for functions of node:fs that take effect immediately. @param around gets the paths of the call */
export function interceptNow(
  names: readonly ('linkSync' | 'renameSync' | 'unlinkSync')[],
  around: (call: () => void, name: string, ...paths: string[]) => void,
): void {
  const spies = names.map((name) => {
    const real = callbackFiles[name] as (...paths: string[]) => void;
    const instead = (...paths: string[]) => around(() => real(...paths), name, ...paths);
    return vi.spyOn(callbackFiles, name).mockImplementation(instead as () => void);
  });
  restored(spies);
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
  restored(spies);
}

/** Whether a file is a temporary one that is about to replace another. */
export const isNewVersionOf = (path: unknown, replaced: string): boolean =>
  String(path).startsWith(`${replaced}.`) && String(path).endsWith('.tmp');

/** Until the end of the test, or until the returned function is called, no file at this path is replaced. */
export function preventReplacing(path: string): () => void {
  let isPrevented = true;
  interceptFiles(['open'], async (_, open, [opened]) => {
    if (isPrevented && isNewVersionOf(opened, path))
      throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'open' });
    return open();
  });
  return () => {
    isPrevented = false;
  };
}
