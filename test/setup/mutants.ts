import { afterAll, beforeAll, type TaskMeta } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Mutants whose code was executed by the tests of a file, or while its modules were loaded. */
    met?: { inTests: number[]; onLoading: number[] };
  }
}

/** The active mutant. Without one, the run only records which mutants are executed. */
const active = Number(process.env['MUTANT']);
const inTests = new Set<number>();
const onLoading = new Set<number>();
let isLoading = true;
Error.stackTraceLimit = 50;

Object.assign(globalThis, {
  mutant(id: number): boolean {
    if (!inTests.has(id) && !onLoading.has(id)) {
      // Code that a test file executes while it defines its tests counts as tested. The frames after the module's own
      // evaluation only show which files imported it. A module may also be loaded by a test.
      const [calls = '', ...importers] = (new Error().stack ?? '').split('_runInlinedModule');
      const isOfModule = (isLoading || importers.length > 0) && !calls.includes('.test.ts');
      (isOfModule ? onLoading : inTests).add(id);
    }
    return id === active;
  },
});

beforeAll(() => {
  isLoading = false;
});

// biome-ignore lint/correctness/noEmptyPattern: Vitest accepts no other name there.
afterAll(({}, file) => {
  const meta: TaskMeta = file.meta;
  meta.met = { inTests: [...inTests], onLoading: [...onLoading] };
});
