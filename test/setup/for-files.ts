import type { TestProject } from 'vitest/node';

/** Whether the run has a file that matches, so that a resource is created only if a file needs it. */
export const isForAny = ({ vitest }: TestProject, files: RegExp) =>
  vitest.state.getPaths().some((path) => files.test(path));
