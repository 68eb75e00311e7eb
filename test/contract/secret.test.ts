import fc from 'fast-check';
import { expect, it } from 'vitest';
import { masked, textMask } from '../../src/contract/secret.ts';

const SECRET = 'sec_sim_0123456789abcdefghijklmnopqrstuv';

/** Ways in which a text is written on its way. */
const WRITTEN: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'percent-encoded': encodeURIComponent,
  'in a form': (secret) => new URLSearchParams({ '': secret }).toString().slice(1),
  'percent-encoded throughout': (secret) =>
    [...secret].map((one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`).join(''),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
  'escaped in JSON throughout': (secret) =>
    [...secret].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join(''),
};

const secrets = fc.string({ unit: fc.integer({ min: 33, max: 126 }).map(String.fromCharCode), minLength: 6 });

it.each(Object.entries(WRITTEN))('a secret %s is masked wherever it stands', (_, write) => {
  fc.assert(
    fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
      const shown = textMask([secret])(before + write(secret) + after);
      expect(shown).toContain(masked(secret));
      expect(shown).not.toContain(write(secret));
    }),
  );
});

/** A character in each way that it may have. */
const WAYS: readonly ((character: string, hex: string) => string)[] = [
  (character) => character,
  (character) => `\\${character}`,
  (_, hex) => `%${hex}`,
  (_, hex) => `\\u00${hex.toUpperCase()}`,
];

it('a secret whose characters are written in several ways is masked whole', () => {
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

it('two secrets that overlap are hidden with all that they cover', () => {
  const mask = textMask(['sec_one_sec_two', 'sec_two_and_three']);
  expect(mask('a sec_one_sec_two_and_three b')).toBe('a sec_one_…wo b');
});

it('a text without a secret comes back as it is', () => {
  const mask = textMask([SECRET]);
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(mask(text)).toBe(text);
    }),
  );
  expect(mask('sec_sim_ is how a secret key begins')).toBe('sec_sim_ is how a secret key begins');
});

it('a secret that is cut off is masked from 16 characters on', () => {
  for (let length = 16; length < SECRET.length; length++) {
    expect(textMask([SECRET])(`${SECRET.slice(0, length)}`)).toBe('sec_sim_…uv');
  }
});

it('of two secrets of which one begins with the other, both are masked', () => {
  const mask = textMask(['sec_short', 'sec_short_and_long']);
  expect(mask('sec_short sec_short_and_long')).toBe('… sec_shor…ng');
});

it('a secret of fewer than six characters is none: it would stand everywhere', () => {
  expect(textMask(['test'])('a test order')).toBe('a test order');
});

it('of a text that is made to take long the rest is left out', () => {
  const mask = textMask([`${'x'.repeat(190)}y`]);
  const shown = mask(`${'x'.repeat(20_000)} the end`);
  expect(shown.endsWith('…')).toBe(true);
  expect(shown).not.toContain('the end');
  expect(shown.length).toBeLessThan(1_000);
});
