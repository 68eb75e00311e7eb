import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPlainHost } from '../../src/contract/address.ts';

const label = fc.stringMatching(/^[a-z0-9.:-]{1,12}$/);
const host = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.')),
  fc
    .tuple(fc.constantFrom('127.0.0.1', 'localhost', 'a-b.c', 'xn--a', '1.2', 'a.1'), fc.nat(99_999))
    .map(([name, port]) => `${name}:${port}`),
);

describe('a plain host', () => {
  it('does not change when parsed', () => {
    let seen = 0;
    fc.assert(
      fc.property(host, (text) => {
        if (!isPlainHost(text)) return;
        seen++;
        expect(new URL(`http://${text}/`).hostname).toBe(text.replace(/:\d+$/, ''));
      }),
      { numRuns: 500 },
    );
    expect(seen).toBeGreaterThan(50);
  });

  it.each(['', 'a b', 'A', 'xn--a', '1.2.3.4.5', 'a.1', 'a:99999', 'a@b', '[::1]', 'a/'])(
    'is not %j',
    (text) => {
      expect(isPlainHost(text)).toBe(false);
    },
  );
});
