import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { launchOptions } from '../helpers/chromium.ts';

/** Starts the Chromium that all tests of the project share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await chromium.launchServer(await launchOptions());
  project.provide('chromium', server.wsEndpoint());
  return () => server.close();
}
