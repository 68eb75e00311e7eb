import { expect, it } from 'vitest';
import { ClockInput } from '../../src/contract/clock.ts';
import { parseInput } from '../../src/contract/input.ts';
import { parseInstant } from '../../src/contract/time.ts';

it.each([
  [{}, 'must have exactly one of advance, freeze, resume and reset'],
  [{ freeze: 'now', resume: true }, 'must have exactly one of advance, freeze, resume and reset'],
  [{ advance: 'soon' }, 'advance must be a duration'],
  [{ freeze: '2999-02-30' }, 'freeze must be now, or a time with its zone'],
  [{ advance: '1h', timeout: '241s' }, 'timeout must be a duration such as 500ms or 10s, at most 240s'],
  [{ advnce: '1h' }, 'did you mean advance?'],
])('a move of the clock must not be %j', (move, message) => {
  expect(() => parseInput(ClockInput, move)).toThrow(message);
});

it.each([
  ['2999-01-01', '2999-01-01T00:00:00.000Z'],
  ['2999-01-01T12:00+02:00', '2999-01-01T10:00:00.000Z'],
  ['2999-01-01T00:00:00.250Z', '2999-01-01T00:00:00.250Z'],
])('%s means %s', (text, at) => {
  expect(parseInstant(text)).toBe(Date.parse(at));
});

it.each(['', 'soon', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00'])('"%s" is no time', (text) => {
  expect(parseInstant(text)).toBeUndefined();
});
