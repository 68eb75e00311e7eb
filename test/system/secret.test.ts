import fc from 'fast-check';
import { expect, it } from 'vitest';
import { masked, textMask } from '../../src/system/secret.ts';

const SECRET = 'sec_sim_0123456789abcdefghijklmnopqrstuv';

/** How a secret can be encoded in a text. */
const WRITTEN: Readonly<Record<string, (secret: string) => string>> = {
  'in plain text': (secret) => secret,
  'percent-encoded': encodeURIComponent,
  'in a form': (secret) => new URLSearchParams({ '': secret }).toString().slice(1),
  'percent-encoded throughout': (secret) =>
    [...secret].map((one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`).join(''),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
  'escaped in JSON throughout': (secret) =>
    [...secret].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join(''),
};

const secrets = fc.string({ unit: fc.integer({ min: 33, max: 126 }).map(String.fromCharCode), minLength: 6 });

it.each(Object.entries(WRITTEN))('masks a secret %s anywhere in a text', (_, write) => {
  fc.assert(
    fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
      const shown = textMask([secret])(before + write(secret) + after);
      expect(shown).toContain(masked(secret));
      expect(shown).not.toContain(write(secret));
    }),
  );
});

/** The ways to write a character. */
const WAYS: readonly ((character: string, hex: string) => string)[] = [
  (character) => character,
  (character) => `\\${character}`,
  (_, hex) => `%${hex}`,
  (_, hex) => `\\u00${hex.toUpperCase()}`,
];

it('masks a secret with mixed encodings completely', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WAYS), { minLength: 1, maxLength: 50 }), (ways) => {
      const secret = 'sec_sim_unusual_tutu_0075u';
      const written = secret
        .split('')
        .map((one, index) => ways[index % ways.length]?.(one, one.charCodeAt(0).toString(16)));
      expect(textMask([secret])(`a ${written.join('')} b`)).toBe(`a ${masked(secret)} b`);
    }),
  );
});

it('masks two overlapping secrets completely', () => {
  const mask = textMask(['sec_one_sec_two', 'sec_two_and_three']);
  expect(mask('a sec_one_sec_two_and_three b')).toBe('a sec_one_…wo b');
});

it('returns a text without secrets unchanged', () => {
  const mask = textMask([SECRET]);
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(mask(text)).toBe(text);
    }),
  );
  expect(mask('sec_sim_ is how a secret key begins')).toBe('sec_sim_ is how a secret key begins');
});

it('masks a cut-off secret of at least 16 characters', () => {
  for (let length = 16; length < SECRET.length; length++) {
    expect(textMask([SECRET])(`${SECRET.slice(0, length)}`)).toBe('sec_sim_…uv');
  }
});

it('masks both secrets if one is a prefix of the other', () => {
  const mask = textMask(['sec_short', 'sec_short_and_long']);
  expect(mask('sec_short sec_short_and_long')).toBe('… sec_shor…ng');
});

it('does not mask secrets of fewer than six characters', () => {
  expect(textMask(['test'])('a test order')).toBe('a test order');
});

it('omits the rest of a hostile text that would take too long', () => {
  const mask = textMask([`${'x'.repeat(190)}y`]);
  const shown = mask(`${'x'.repeat(20_000)} the end`);
  expect(shown.endsWith('…')).toBe(true);
  expect(shown).not.toContain('the end');
  expect(shown.length).toBeLessThan(1_000);
});
