import { expect, it } from 'vitest';
import type { Verdict } from '../../src/conform/expectation.ts';
import { reportOf } from '../../src/conform/report.ts';
import { Secrets } from '../../src/contract/secrets.ts';
import { linesNamed } from '../helpers/conform.ts';

const [line = expect.fail('no such line')] = linesNamed('refusal-key');
const KEYS = ['sec_live_0123456789abcdef', 'a-public-key-of-their-own'] as const;
const CHECKED = { target: 'https://pay.example', profile: 'document' };

const reportWith = (verdict: Verdict) =>
  reportOf(CHECKED, new Map([[line, verdict]]), new Secrets(KEYS).mask);

it('a report has the counts, and each difference with all its mismatches', () => {
  const mismatches = [
    { expected: 'status 200', got: '500' },
    { expected: 'a refusal', got: 'nothing' },
  ];
  const { id } = line;
  const difference = { id, expected: 'status 200; a refusal', got: '500; nothing' };
  expect(reportWith({ mismatches })).toEqual({ ...CHECKED, agree: 0, differ: [difference], unseen: [] });
  expect(reportWith({ mismatches: [] })).toEqual({ ...CHECKED, agree: 1, differ: [], unseen: [] });
});

it.each([
  ['a value', KEYS.join(' ')],
  ['a form', String(new URLSearchParams({ key: KEYS[1] }))],
  ['a shortened value', 'x'.repeat(220) + KEYS[1]],
])('a report has no key from %s', (_, text) => {
  const { differ } = reportWith({ mismatches: [{ expected: text, got: text }] });
  const { unseen } = reportWith({ why: text });
  for (const shown of [differ[0]?.expected, differ[0]?.got, unseen[0]?.why]) {
    expect(shown).toMatch(/…/);
    expect(shown).not.toMatch(/0123456789|their-own/);
  }
});

it('a report shortens values, but not reasons', () => {
  const long = 'x'.repeat(1_000);
  const { differ } = reportWith({ mismatches: [{ expected: long, got: long }] });
  expect([differ[0]?.expected.length, differ[0]?.got.length]).toEqual([240, 240]);
  expect(reportWith({ why: long }).unseen).toEqual([{ id: line.id, why: long }]);
});
