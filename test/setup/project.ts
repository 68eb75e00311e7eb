import { rm } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { installPacked } from '../recipes/packed.ts';
import { isForAny } from './for-files.ts';

declare module 'vitest' {
  interface ProvidedContext {
    installed: string;
    printed: { stdout: string; stderr: string };
  }
}

/** Packs the package and installs it in a project, which the tests copy. */
export default async function setup(project: TestProject): Promise<undefined | (() => Promise<void>)> {
  if (!isForAny(project, /\/test\/(recipes|package|docs\/(receivers|sessions))/)) return undefined;
  const { folder, printed } = await installPacked();
  project.provide('installed', folder);
  project.provide('printed', printed);
  return () => rm(folder, { recursive: true, maxRetries: 10 });
}
