import { tmpdir } from 'node:os';
import type { TestProject } from 'vitest/node';
import { launchOptions } from '../helpers/chromium.ts';
import { isForAny } from './for-files.ts';

/** Unpacks Chromium once for all test files. */
export default async function setup(project: TestProject): Promise<void> {
  if (isForAny(project, /\/test\/browser\//)) await launchOptions(tmpdir());
}
