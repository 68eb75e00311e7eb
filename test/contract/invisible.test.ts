import { expect, it } from 'vitest';
import { invisibleIn } from '../../src/contract/invisible.ts';

it.each([
  ['sec\r', 'ends with a carriage return'],
  ['sec\n', 'ends with a line break'],
  ['\uFEFFsec\r', 'starts with a byte order mark'],
  [' sec', 'starts with a space'],
  ['se\u00a0c', 'contains a no-break space'],
  ['se\u200bc', 'contains a zero-width space'],
  ['sec\u202e', 'ends with the invisible character U+202E'],
  ['s\0e\0c\0', 'ends with a NUL character'],
  ['sec', undefined],
  ['größer', undefined],
  ['', undefined],
])('%j %s', (text, what) => {
  expect(invisibleIn(text)).toBe(what);
});
