import { describe, expect, it } from 'vitest';
import { isEmail, urlProblem } from '../../src/contract/address.ts';

/** Two UTF-16 units and four bytes, one character. */
const SMILE = '😀';

describe('an address', () => {
  const longest = `http://a/${'x'.repeat(2048 - 'http://a/'.length)}`;

  // More of them are in fixtures/fidelity/manifest.jsonl.
  it.each(['HTTP://SHOP.example.com/Path', 'http://[::1]:3000/ipn', 'https://x.de?é=%20#there'])(
    '%s is valid',
    (url) => {
      expect(urlProblem(url)).toBeUndefined();
    },
  );

  it.each([
    '//shop.example.com',
    'data:text/html,x',
    'http:/shop.example.com',
    'http:///path',
    'http://%zz/',
  ])('%j is invalid', (url) => {
    expect(urlProblem(url)).toMatch(/^must be an absolute http or https address/);
  });

  it('must not contain a space or a control character anywhere', () => {
    const control = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code));
    const url = 'https://ada:pw@a.example:8/b/c?d=e#f';
    const problems = [' ', '\u007f', '\u0085', '\u00a0', ...control].flatMap((bad) =>
      Array.from({ length: url.length + 1 }, (_, at) => urlProblem(url.slice(0, at) + bad + url.slice(at))),
    );
    expect(new Set(problems)).toEqual(new Set(['must not contain spaces or control characters']));
  });

  it('may have 2048 characters, counted as code points', () => {
    expect(urlProblem(longest)).toBeUndefined();
    expect(urlProblem(`${longest}x`)).toBe('must have at most 2048 characters (got 2049)');
    expect(urlProblem(`http://a/${SMILE.repeat(2048 - 'http://a/'.length)}`)).toBeUndefined();
  });
});

describe('an e-mail address', () => {
  it.each([
    'ada@',
    '@example.com',
    'ada@@example.com',
    'ada@.com',
    'ada@example.',
    'ada@ex..com',
    'ada@example.com\n',
  ])('must not be %j', (text) => {
    expect(isEmail(text)).toBe(false);
  });

  it.each(['a@b.c', "o'neil@example.co.uk", 'é@exämple.com'])('may be %s', (text) => {
    expect(isEmail(text)).toBe(true);
  });
});
