import { describe, expect, it } from 'vitest';
import { answerText, attemptText, stateOf, verdictFacts } from '../../src/cli/format.ts';
import type { Attempt } from '../../src/contract/delivery.ts';
import { REPORT } from '../helpers/records.ts';

describe("the words of a receiver's response", () => {
  it.each([
    ['Invalid signature', 'Invalid signature'],
    ['{\n  "detail": "The amount differs."\n}', 'The amount differs.'],
    ['', undefined],
    [null, undefined],
    ['a'.repeat(500), `${'a'.repeat(200)}…`],
    ['\u001b[2Jx', '\\u001b[2Jx'],
  ])('of %j is %j', (body, line) => {
    const failed = { error: 'no', responseBody: body };
    expect(answerText(failed)).toBe(line);
  });

  it('is not shown if the receiver accepted the attempt', () => {
    expect(answerText({ error: null, responseBody: 'OK' })).toBeUndefined();
  });
});

it.each([
  [[], 'bad', undefined, 'failed'],
  [[], 'bad', true, 'forged IPN accepted'],
  [[{ what: 'amount', was: '1', is: '2' }], 'good', undefined, 'forged IPN rejected'],
] as const)(
  'the state of an IPN does not contradict its verdict: %j %s %s',
  (tampered, tone, forged, words) => {
    const verdict = { tone, cause: '', fix: null, ...(forged && { forgeryAccepted: forged }) };
    expect(stateOf({ state: 'failed', tampered: [...tampered], verdict })).toBe(words);
  },
);

it('the fix of a neutral verdict is only a tip', () => {
  const cause = 'It happened.';
  expect(verdictFacts({ tone: 'bad', cause, fix: 'Do it.' })).toEqual({ Verdict: cause, Fix: 'Do it.' });
  expect(verdictFacts({ tone: 'waiting', cause, fix: 'Do it.' })).toEqual({ Verdict: cause, Tip: 'Do it.' });
});

it('an attempt names who sent it again', () => {
  const attempt: Attempt = { ...REPORT, id: 'att_1', number: 2, error: null };
  const first = (more: Partial<Attempt>) => attemptText({ ...attempt, ...more }).split('\n')[0];
  expect(first({ number: 1 })).toBe('Attempt 1 at 2026-01-15T10:30:00.100Z, 23 ms');
  expect(first({})).toBe('Attempt 2, retried by the emulator, at 2026-01-15T10:30:00.100Z, 23 ms');
  expect(first({ sentAgain: 'user' })).toContain('Attempt 2, resent by you, at ');
});
