import type { TestProject } from 'vitest/node';

/** Whether a file of the run matches: a resource is created only if a file needs it. */
export const isForAny = ({ vitest }: TestProject, files: RegExp) =>
  vitest.state.getPaths().some((path) => files.test(path));
