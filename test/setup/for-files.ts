import type { TestProject } from 'vitest/node';

/** Whether the run has a file that matches: what only some files need is not created for others. */
export const isForAny = ({ vitest }: TestProject, files: RegExp) =>
  vitest.state.getPaths().some((path) => files.test(path));
