import { expect, it } from 'vitest';
import { answerProblem } from '../../src/domain/receiver-answer.ts';

/** Maximum stored length of a response. */
const LENGTH = 65_536;

// Each response would take seconds if the rest of the response were searched after every match.
it.each([
  ['one long word', 'Error'.repeat(LENGTH / 5)],
  ['an endless word', 'a'.repeat(LENGTH)],
  ['unclosed styles', '<style'.repeat(LENGTH / 6)],
  ['unclosed titles', '<title'.repeat((4 * LENGTH) / 6)],
  ['unclosed tags', `Traceback (most recent call last)${'<'.repeat(2 * LENGTH)}`],
])('reads a response with %s quickly', (_, body) => {
  expect(answerProblem({ status: 500, headers: [], body })?.cause ?? '').not.toContain('<<<<'.repeat(50));
});
