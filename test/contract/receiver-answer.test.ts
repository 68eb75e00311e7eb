import { expect, it } from 'vitest';
import { answerProblem } from '../../src/contract/receiver-answer.ts';

/** As much as is kept of an answer. */
const LENGTH = 65_536;

// Seconds each where every one of them is read to the end of the answer.
it.each([
  ['one long word', 'Error'.repeat(LENGTH / 5)],
  ['one long word without an end', 'a'.repeat(LENGTH)],
  ['styles that never end', '<style'.repeat(LENGTH / 6)],
  ['titles that never end', '<title'.repeat((4 * LENGTH) / 6)],
  ['tags that never end', `Traceback (most recent call last)${'<'.repeat(2 * LENGTH)}`],
])('an answer of %s is read at once', (_, body) => {
  expect(answerProblem({ status: 500, headers: [], body })?.cause ?? '').not.toContain('<<<<'.repeat(50));
});
