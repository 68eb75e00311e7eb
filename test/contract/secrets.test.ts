import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { curlRequest } from '../../src/contract/curl.ts';
import { masked, maskedIn, Secrets, shownHeaders } from '../../src/contract/secrets.ts';

const SECRET = 'sec_sim_0123456789abcdefghijklmnopqrstuv';
/** With characters that encodings change. */
const HOSTILE_KEY = `sec_sim_'"<>&/\\\\+%27abcdefghijkl`;

const percent = (text: string, kept: RegExp) =>
  [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return kept.test(character) ? character : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
    })
    .join('');
const form = (text: string) => String(new URLSearchParams({ '': text })).slice(1);
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const html = (text: string, mark: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", mark)
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
const curl = (text: string) => curlRequest({ url: 'http://a', headers: [], body: text });

/** How a text can be encoded where it is printed. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'percent-encoded': encodeURIComponent,
  'percent-encoded by PHP': (text) => percent(text, /[\w.-]/),
  'percent-encoded in lower case': (text) =>
    percent(text, /[\w.~-]/).replace(/%../g, (byte) => byte.toLowerCase()),
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'in a form': form,
  'in JSON': json,
  'in JSON in JSON': (text) => json(json(text)),
  'in JSON of PHP': (text) =>
    json(text)
      .replaceAll('/', '\\/')
      .replace(/[\u0080-\uffff]/g, unit),
  'in JSON for a page': (text) =>
    json(text)
      .replace(/['&<>/\u0080-\uffff]/g, unit)
      .replaceAll('\\"', '\\u0022'),
  'in JSON in a form': (text) => form(json(text)),
  'in HTML': (text) => html(text, '&#39;'),
  'in HTML of PHP': (text) => html(text, '&#039;'),
  'in JSON in HTML': (text) => html(json(text), '&#39;'),
  'in a shell': curl,
  'in a shell in HTML': (text) => html(curl(text), '&#39;'),
};

const PASSWORDS = [
  'geheim',
  'p',
  "p'w",
  'p"w',
  'p<w>',
  'p@w',
  'p@@w@',
  'p&w=1',
  'p:w',
  'p\\w',
  'p%22w',
  'p%40w%2Fx',
  'p%w',
  '%68unter2',
  'p+w~(x)*!$,;[]{}|^`',
  'pä–😀w',
  `'"<>&@:%27\\+é`,
];

/** An address with this password, which may be invalid. */
const addressOf = (password: string) => `http://shop:${password}@localhost:3000/ipn?a=b`;

function secretsOf(...addresses: readonly string[]): Secrets {
  const secrets = new Secrets();
  secrets.learn({ payment: addresses.map((ipnUrl) => ({ ipnUrl })) });
  return secrets;
}

describe.each(Object.entries(ENCODINGS))('%s', (_, write) => {
  it.each(PASSWORDS)('the password %j of an address is masked', (password) => {
    const text = (shown: string) => write(`ä ${addressOf(shown)} ü`);
    expect(secretsOf(addressOf(password)).mask(text(password))).toBe(text('_').replace('_', '…'));
  });

  it.each([SECRET, HOSTILE_KEY, '"\'<&\\>/'])('the key %j is masked anywhere', (key) => {
    const text = (shown: string) => write(`ä${shown}ü`);
    for (const mask of [new Secrets([key]).mask, new Secrets([key]).maskKeys])
      expect(mask(text(key))).toBe(text('_').replace('_', masked(key)));
  });
});

it('all of several occurrences are masked, each in another encoding', () => {
  const { mask } = secretsOf(...PASSWORDS.map(addressOf));
  const all = (texts: readonly string[]) =>
    Object.values(ENCODINGS)
      .flatMap((write) => texts.map((text) => write(text)))
      .join('\n');
  const shown = all(PASSWORDS.map(() => addressOf('…'))).replace(
    /%25E2%2580%25A6|%E2%80%A6|%e2%80%a6|\\u2026/g,
    '…',
  );
  expect(mask(all(PASSWORDS.map(addressOf)))).toBe(shown);
  const hidden = new Secrets([HOSTILE_KEY, SECRET]).maskKeys(all([HOSTILE_KEY, SECRET, HOSTILE_KEY]));
  expect(hidden).not.toMatch(/abcdef|HIJ/);
});

const keys = fc.string({ unit: fc.integer({ min: 33, max: 126 }).map(String.fromCharCode), minLength: 6 });

it('no part of an encoded key stays, whatever is around it', () => {
  fc.assert(
    fc.property(keys, fc.string(), fc.string(), (key, before, after) => {
      const { maskKeys } = new Secrets([key]);
      for (const write of [json, form, encodeURIComponent])
        expect(maskKeys(before + write(key) + after)).not.toContain(write(key));
    }),
  );
});

it('a password is masked outside addresses, too, unless it may be a word of a text', () => {
  const echo = 'login shop, password hunter-2 (Basic c2hvcDpodW50ZXItMg==)';
  expect(secretsOf('http://shop:hunter%2D2@a').mask(echo)).toBe('login shop, password … (Basic …)');
  for (const word of ['success', '20260115', 'x1'])
    expect(secretsOf(`http://shop:${word}@a`).mask(`the ${word} of trx ${word}`)).toBe(
      `the ${word} of trx ${word}`,
    );
});

describe('a secret that is cut off', () => {
  const { mask } = new Secrets([SECRET]);

  it('is masked before a text is cut', () => {
    const text = `key ${SECRET} rejected`;
    for (let most = 1; most <= text.length; most++) {
      const shown = mask(text, { most });
      expect(shown.length).toBeLessThanOrEqual(most);
      expect('key sec_sim_…uv rejected').toContain(shown.replace(/…$/, ''));
    }
  });

  it.each(['', '…', '..."', '\n#1', '"}'])('is masked if the shop cut it: before %j', (after) => {
    for (let length = 12; length <= SECRET.length; length++)
      expect(mask(`a ${SECRET.slice(0, length)}${after}`)).toBe(`a sec_sim_…uv${after}`);
  });

  it.each(['', '…', '...'])('is masked in an address that ends in it: before %j', (after) => {
    const address = `http://shop:p'w@x"%3C/y@localhost`;
    const secrets = secretsOf(address);
    for (let length = 'http://shop:p'.length; length < address.indexOf('/y'); length++)
      expect(secrets.mask(address.slice(0, length) + after)).toBe(`http://shop:…${after}`);
  });

  it('is not what only begins like it', () => {
    expect(mask('sec_sim_ is how a secret key begins')).toBe('sec_sim_ is how a secret key begins');
    expect(secretsOf('http://shop:3secret@a').mask('http://shop:3000/ipn')).toBe('http://shop:3000/ipn');
  });
});

describe('the password of an address that was never read', () => {
  const { mask } = new Secrets();

  it.each([
    ['http://shop:pa%40ss@localhost/ipn', 'http://shop:…@localhost/ipn'],
    ['to https://a:b@c and http://:d@e.', 'to https://a:…@c and http://:…@e.'],
    ['{"ipnUrl":"http:\\/\\/a:b@c\\/"', '{"ipnUrl":"http:\\/\\/a:…@c\\/"'],
    [
      'ipn_url=http%3A%2F%2Fshop%3Apa%2540ss%40localhost%2Fipn&a=1',
      'ipn_url=http%3A%2F%2Fshop%3A…%40localhost%2Fipn&a=1',
    ],
  ])('is masked in %s', (text, shown) => {
    expect(mask(text)).toBe(shown);
  });

  it.each([
    'http://localhost:3000/ipn?mail=a@b.cd',
    'http://shop@localhost/ipn',
    'http://localhost:3000/a:b@c',
    'mail=ada%40example.com&url=http%3A%2F%2Flocalhost%3A3000%2Fa%40b',
  ])('is not seen in %s', (text) => {
    expect(mask(text)).toBe(text);
    expect(secretsOf(text).mask(text)).toBe(text);
  });
});

it('records keep their addresses', () => {
  const secrets = secretsOf('http://shop:hunter-2@a');
  expect(secrets.maskKeys('http://shop:hunter-2@a')).toBe('http://shop:hunter-2@a');
});

it('masks the texts and the names in a value', () => {
  const value = { [SECRET]: [`a ${SECRET}`, 1, null, { b: SECRET }] };
  expect(maskedIn(value, new Secrets([SECRET]).mask)).toEqual({
    'sec_sim_…uv': ['a sec_sim_…uv', 1, null, { b: 'sec_sim_…uv' }],
  });
});

it('shows nothing of a key that a page or JSON would escape', () => {
  expect([SECRET, `"><b>${SECRET}`, 'short_secret'].map(masked)).toEqual(['sec_sim_…uv', '…', '…']);
});

it('returns a text without secrets unchanged', () => {
  const secrets = new Secrets([SECRET]);
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(secrets.mask(text)).toBe(text);
    }),
  );
});

it('masks both secrets if one is the beginning of the other, or they begin alike', () => {
  const { mask } = new Secrets(['sec_short', 'sec_short_and_long', 'sec_short_and_lower']);
  expect(mask('sec_short sec_short_and_long sec_short_and_lower')).toBe('… sec_shor…ng sec_shor…er');
});

it('does not mask secrets of fewer than six characters', () => {
  expect(new Secrets(['test']).mask('a test order')).toBe('a test order');
});

it('learns later, and keeps the newest passwords', () => {
  const address = (number: number) => `http://shop:p"w${number}@a`;
  const secrets = new Secrets([], { later: [address(0)] });
  expect(secrets.mask(address(0))).toBe('http://shop:…@a');
  secrets.learn(Array.from({ length: 100 }, (_, index) => address(index + 1)));
  expect(secrets.mask(`${address(100)} ${address(0)}`)).toBe(`http://shop:…@a ${address(0)}`);
});

it.each([
  [
    'keys',
    () =>
      new Secrets([SECRET, `${'x'.repeat(190)}y`, `y${'x'.repeat(190)}`, `'"`.repeat(95), '\\'.repeat(9)]),
  ],
  [
    'passwords',
    () => secretsOf(...PASSWORDS.map(addressOf), addressOf(`"'`.repeat(900)), addressOf('\\'.repeat(95))),
  ],
])('masks %s in a hostile text quickly', (_, make) => {
  const { mask } = make();
  mask('the first text compiles the patterns');
  const began = process.cpuUsage();
  for (const text of ['x', 'sec_sim_', '%25', '\\', '%5C', "'", '"\'', "'\\'", ':', '//shop:', '&amp;', '…'])
    mask(text.repeat(65_536 / text.length));
  expect(process.cpuUsage(began).user).toBeLessThan(1_500_000);
});

it('headers with credentials are masked whole', () => {
  const headers = [
    ['AUTHORIZATION', 'Basic eA=='],
    ['Accept', '*/*'],
  ] as const;
  expect(shownHeaders(headers)).toEqual([
    ['AUTHORIZATION', '…'],
    ['Accept', '*/*'],
  ]);
});
