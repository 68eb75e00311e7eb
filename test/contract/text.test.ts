import fc from 'fast-check';
import { expect, it } from 'vitest';
import { characters, shorten } from '../../src/contract/text.ts';
import { character } from '../helpers/characters.ts';

it('counts characters as code points, even for lone surrogates', () => {
  const unit = fc.oneof(character, fc.constantFrom('\ud83d', '\ude00', 'a', '😀'));
  fc.assert(fc.property(fc.string({ unit }), (text) => characters(text) === [...text].length));
});

it('shortens a quoted value at a character boundary', () => {
  expect(shorten(`a${'😀'.repeat(60)}`)).toBe(`a${'😀'.repeat(59)}…`);
});
