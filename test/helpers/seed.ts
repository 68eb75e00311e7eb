import { basename } from 'node:path';
import { expect } from 'vitest';

/** Another value generates other ids, which reveals tests that depend on certain ids. */
const RUN = process.env['TEST_SEED'] ?? '1';

const counts = new Map<string, number>();

/** A seed for the ids of an emulator. It is the same in every run, but different for each emulator of a test. */
export function seedOfTest(): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const test = `${basename(testPath)} ${currentTestName}`.replace(/\s+/g, ' ');
  const number = (counts.get(test) ?? 0) + 1;
  counts.set(test, number);
  return `${RUN} ${test} ${number}`;
}

/** Generates numbers from 0 to 1, excluding 1; the seed determines them (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
