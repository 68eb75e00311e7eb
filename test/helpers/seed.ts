import { basename } from 'node:path';
import { expect } from 'vitest';

/** Another value draws other ids, which reveals tests that depend on them. */
const RUN = process.env['TEST_SEED'] ?? '1';

const drawn = new Map<string, number>();

/** A seed for the ids of an emulator in this test: the same in every run, but different for each emulator. */
export function seedOfTest(): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const test = `${basename(testPath)} ${currentTestName}`;
  const number = (drawn.get(test) ?? 0) + 1;
  drawn.set(test, number);
  return `${RUN} ${test} ${number}`;
}
