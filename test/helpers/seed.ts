import { basename } from 'node:path';
import { expect } from 'vitest';

/** Another one draws other ids, and shows the tests that these decide. */
const RUN = process.env['TEST_SEED'] ?? '1';

const drawn = new Map<string, number>();

/** For the ids of an emulator of this test: the same in every run, and those of no other emulator. */
export function seedOfTest(): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const test = `${basename(testPath)} ${currentTestName}`;
  const number = (drawn.get(test) ?? 0) + 1;
  drawn.set(test, number);
  return `${RUN} ${test} ${number}`;
}
