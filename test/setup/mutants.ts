import { afterAll, beforeAll, type TaskMeta } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Mutants whose code ran in the tests of a file, or while its modules were loaded. */
    met?: { inTests: number[]; onLoading: number[] };
  }
}

/** The mutant that `npm run mutants` activates; without it, the run records which places are executed. */
const active = Number(process.env['MUTANT']);
const inTests = new Set<number>();
const onLoading = new Set<number>();
let isLoading = true;
Error.stackTraceLimit = 50;

Object.assign(globalThis, {
  mutant(id: number): boolean {
    if (!inTests.has(id) && !onLoading.has(id)) {
      // While a file defines its tests, it already runs tested code.
      const isOfModule = isLoading && !new Error().stack?.includes('.test.ts');
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
