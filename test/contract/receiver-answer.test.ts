import { expect, it } from 'vitest';
import { answerProblem } from '../../src/contract/receiver-answer.ts';

/** Maximum stored length of a response. */
const LENGTH = 65_536;

// Each would take seconds if every match were searched to the end of the response.
it.each([
  ['one long word', 'Error'.repeat(LENGTH / 5)],
  ['one long word without an end', 'a'.repeat(LENGTH)],
  ['styles that never end', '<style'.repeat(LENGTH / 6)],
  ['titles that never end', '<title'.repeat((4 * LENGTH) / 6)],
  ['tags that never end', `Traceback (most recent call last)${'<'.repeat(2 * LENGTH)}`],
])('reads a response with %s fast', (_, body) => {
  expect(answerProblem({ status: 500, headers: [], body })?.cause ?? '').not.toContain('<<<<'.repeat(50));
});
