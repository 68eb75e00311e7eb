import { expect, it } from 'vitest';
import { invisibleIn, isUtf16 } from '../../src/contract/invisible.ts';

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

it.each([
  [Buffer.from('\uFEFF{}', 'utf16le'), true],
  [Buffer.from('{}', 'utf16le'), true],
  [Buffer.from('\uFEFF{}', 'utf16le').swap16(), true],
  [Buffer.from('\uFEFF{}'), false],
  [Buffer.from('{}'), false],
  [Buffer.from('\0\0\0'), false],
  [Buffer.from(''), false],
])('%j is UTF-16: %s', (bytes, isIt) => {
  expect(isUtf16(bytes.toString())).toBe(isIt);
});
