import fc from 'fast-check';
import { expect, it } from 'vitest';
import { masked, maskedIn, textMask } from '../../src/system/secret.ts';

const SECRET = 'sec_sim_0123456789abcdefghijklmnopqrstuv';

/** How a secret can be encoded in a text. */
const WRITTEN: Readonly<Record<string, (secret: string) => string>> = {
  'in plain text': (secret) => secret,
  'percent-encoded': encodeURIComponent,
  'in a form': (secret) => new URLSearchParams({ '': secret }).toString().slice(1),
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

it('masks the texts and the names in a value', () => {
  const value = { [SECRET]: [`a ${SECRET}`, 1, null, { b: SECRET }] };
  expect(maskedIn(value, textMask([SECRET]))).toEqual({
    'sec_sim_…uv': ['a sec_sim_…uv', 1, null, { b: 'sec_sim_…uv' }],
  });
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

it('masks both secrets if one is a prefix of the other', () => {
  const mask = textMask(['sec_short', 'sec_short_and_long']);
  expect(mask('sec_short sec_short_and_long')).toBe('… sec_shor…ng');
});

it('does not mask secrets of fewer than six characters', () => {
  expect(textMask(['test'])('a test order')).toBe('a test order');
});

it('masks a hostile text quickly', () => {
  const mask = textMask([SECRET, `${'x'.repeat(190)}y`, `y${'x'.repeat(190)}`]);
  const began = process.cpuUsage();
  for (const text of ['x', 'sec_sim_', '%25']) mask(text.repeat(1_000_000));
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
});
