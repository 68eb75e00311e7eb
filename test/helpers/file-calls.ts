import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

type Name = 'link' | 'rename' | 'rm';

/** Passes each of these calls of node:fs/promises to a function that may run it, until the end of the test. */
export function interceptFiles(
  names: readonly Name[],
  around: (name: Name, call: () => Promise<unknown>) => Promise<unknown>,
): void {
  const spies = names.map((name) => {
    const real = files[name] as (...given: unknown[]) => Promise<unknown>;
    const instead = (...given: unknown[]) => around(name, () => real(...given));
    return vi.spyOn(files, name).mockImplementation(instead as () => Promise<void>);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
}
