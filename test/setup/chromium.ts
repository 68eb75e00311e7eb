import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { launchOptions } from '../helpers/chromium.ts';
import { isForAny } from './for-files.ts';

/** Starts the Chromium that all tests share. */
export default async function setup(project: TestProject): Promise<undefined | (() => Promise<void>)> {
  if (!isForAny(project, /\/test\/browser\//)) return undefined;
  // Chromium leaves folders behind.
  const folder = await mkdtemp(join(tmpdir(), 'chromium-'));
  const server = await chromium.launchServer(await launchOptions(folder));
  project.provide('chromium', server.wsEndpoint());
  return async () => {
    await server.close();
    await rm(folder, { recursive: true, maxRetries: 10 });
  };
}
