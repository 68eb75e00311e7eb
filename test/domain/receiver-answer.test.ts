import { expect, it } from 'vitest';
import { answerProblem, languageOf } from '../../src/domain/receiver-answer.ts';

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

it.each<[headers: [string, string][], body: string, language: string | undefined]>([
  [[['Server', 'BaseHTTP/0.6 Python/3.12']], '', 'Python'],
  [[['X-Powered-By', 'PHP/8.3']], '', 'PHP'],
  [[['X-Powered-By', 'Express']], '', 'Node'],
  [[], 'at pay (/app/ipn.mjs:3:9)', 'Node'],
  [[['X-Powered-By', 'PHP/8.3']], 'at pay (/app/ipn.mjs:3:9)', undefined],
  [[], 'rejected', undefined],
])('a response with %j and “%s” reveals %s', (headers, body, language) => {
  expect(languageOf([{ headers, body }])).toBe(language);
});
