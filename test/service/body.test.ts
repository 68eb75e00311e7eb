import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldReader, Unreadable } from '../../src/service/body.ts';
import { character } from '../helpers/characters.ts';

const FORM = 'application/x-www-form-urlencoded';
const read = (body: string | Buffer) => fieldReader(FORM)(Buffer.from(body), FORM);
/**
 * The fields of a form: the last value of a repeated field. After a separator, a question mark is part of the name. All is
 * escaped, because Node 20 decodes some texts with unescaped characters and invalid escapes wrongly.
 */
const expected = (text: string) =>
  new Map(new URLSearchParams(`&${text.replace(/\P{ASCII}/gu, encodeURIComponent)}`));

describe('JSON', () => {
  const json = (body: string | Buffer) =>
    fieldReader('application/json')(Buffer.from(body), 'application/json');

  it('must not contain a lone surrogate at any depth, because files and forms cannot encode it', () => {
    expect(json('{"a":"\\uD83D\\uDE00"}').fields).toEqual({ a: '😀' });
    expect(() => json('{"set":{"b":["x","\\uDC00"]}}')).toThrowError(
      expect.objectContaining({
        code: 'unparseable_body',
        message: '1 has a lone surrogate, such as \\ud800, which is not a character',
      }),
    );
  });

  it('must be UTF-8', () => {
    expect(() => json(Buffer.from('{"a":"caf\xe9"}', 'latin1'))).toThrowError(
      expect.objectContaining({
        code: 'unparseable_body',
        message: 'the body has the byte 0xE9 at position 10, which is not UTF-8: send JSON in UTF-8',
      }),
    );
  });

  it.each(['null', '1', '"text"', '[]'])('is rejected if it is not an object: %s', (text) => {
    expect(() => json(text)).toThrow('the body must be a JSON object');
  });
});

it.each([
  ['', 'got none'],
  ['; charset=utf-8', 'got none'],
  [' TEXT/Plain ; charset=x', 'got "text/plain"'],
])('rejects a body of type %j and names the type', (type, got) => {
  expect(() => fieldReader(type)).toThrow(got);
});

describe('a form', () => {
  const SYNTAX = [
    '&',
    '=',
    '+',
    '%',
    '%2',
    '%2B',
    '%26',
    '%3d',
    '%C3%A9',
    '%ff',
    '%EF%BB%BF',
    '%00',
    '?',
    '#',
  ];
  const WORDS = ['a', 'amount', '__proto__', 'constructor', 'toString', '€', '😀', '\ufeff', ';', '\r\n'];
  const piece = fc.oneof(
    fc.constantFrom(...SYNTAX, ...WORDS).map((text) => Buffer.from(text)),
    fc.string({ unit: character, maxLength: 6 }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 6 }),
  );

  it('is read like URLSearchParams, for any bytes, but names bytes that are not text', () => {
    let unreadable = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const body = Buffer.concat(pieces);
        const { fields } = read(body);
        for (const [name, value] of expected(body.toString())) {
          if (name.includes('\ufffd')) continue;
          if (!value.includes('\ufffd')) expect(fields[name]).toBe(value);
          else expect([++unreadable, fields[name]]).toEqual([unreadable, expect.any(Unreadable)]);
        }
      }),
      { numRuns: 800 },
    );
    expect(unreadable).toBeGreaterThan(20);
  });

  it.each([
    ['name=caf%E9', 'has the byte 0xE9 at position 4, which is not UTF-8'],
    ['name=%ff%E9', 'has the byte 0xFF at position 1, which is not UTF-8'],
    [Buffer.from('name=caf\xe9', 'latin1'), 'has the byte 0xE9 at position 4, which is not UTF-8'],
  ])('names the byte that is not UTF-8: %s', (body, problem) => {
    const fix = ': send UTF-8, or state the charset in Content-Type';
    expect(read(body).fields).toEqual({ name: new Unreadable(problem + fix) });
  });

  it('is decoded by the charset that its type states', () => {
    const type = `${FORM}; charset=ISO-8859-1`;
    expect(fieldReader(type)(Buffer.from('name=caf%E9+%A3'), type).fields).toEqual({ name: 'café £' });
    const unknown = `${FORM}; charset=klingon`;
    expect(() => fieldReader(unknown)(Buffer.from('a=1'), unknown)).toThrow('unknown charset "klingon"');
  });

  it.each([
    ['a=1%', '1%'],
    ['a=%zz%41', '%zzA'],
    ['a=100%+off', '100% off'],
  ])('keeps an invalid escape as it is: %s', (body, value) => {
    expect(read(body).fields).toEqual({ a: value });
  });
});

it('names the byte order mark at the beginning of JSON', () => {
  const type = 'application/json';
  expect(() => fieldReader(type)(Buffer.from('\uFEFF{"a":1}'), type)).toThrowError(
    expect.objectContaining({
      code: 'unparseable_body',
      message: expect.stringMatching(/: it begins with a byte order mark$/),
    }),
  );
});

describe('a value of a body', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const rest = 'x'.repeat(50_000);

  it.each([
    [FORM, (value: string) => `identifier=${value}&rest=${rest}`],
    [
      'multipart/form-data; boundary=XX',
      (value: string) =>
        `--XX\r\nContent-Disposition: form-data; name="identifier"\r\n\r\n${value}\r\n--XX\r\nContent-Disposition: form-data; name="rest"\r\n\r\n${rest}\r\n--XX--`,
    ],
  ])('does not keep the whole body in memory (%s)', (type, body) => {
    collect();
    const before = process.memoryUsage().heapUsed;
    const kept: unknown[] = [];
    for (let count = 0; count < 200; count++) {
      const value = `identifier-${count}-long`;
      kept.push(fieldReader(type)(Buffer.from(body(value)), type).fields['identifier']);
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000);
    expect(kept[7]).toBe('identifier-7-long');
  });
});

const TYPE = 'multipart/form-data; boundary=XX';
const part = (name: string, value: string, headers = '') =>
  `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n${headers}\r\n${value}\r\n`;
const parse = (text: string, type = TYPE) => fieldReader(type)(Buffer.from(text), type).fields;

describe('a multipart body', () => {
  it('returns its text fields byte for byte, the last one of the same name', () => {
    const body = `${part('a', '1')}${part('b', '')}${part('a', ' two\r\nlines\r\n')}--XX--\r\n`;
    expect(parse(body)).toEqual({ a: ' two\r\nlines\r\n', b: '' });
  });

  it.each([
    [
      'line feeds alone',
      `${part('a', 'x\n--XY')}${part('b', '')}${part('c', '1')}--XX--\r\n`.replaceAll('\r', ''),
    ],
    ['both line ends', `${part('a', 'x\n--XY')}${part('b', '').replaceAll('\r', '')}${part('c', '1')}--XX--`],
    ['a text before it', `hello\n${part('a', 'x\n--XY')}${part('b', '')}${part('c', '1')}--XX--`],
    ['single quotes', `${part('a', 'x\n--XY')}${part('b', '')}${part('c', '1')}--XX--`.replaceAll('"', "'")],
  ])('is read as PHP reads it, with %s', (_, body) => {
    expect(parse(body)).toEqual({ a: 'x\n--XY', b: '', c: '1' });
  });

  it('is read as UTF-8, names and values', () => {
    expect(parse(`${part('é', '€ 日本 😀')}--XX--`)).toEqual({ é: '€ 日本 😀' });
  });

  it('is read without its files', () => {
    const file = '--XX\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\n\r\n\u0000\u0001\r\n';
    expect(parse(`${file}${part('a', '1')}--XX--`)).toEqual({ a: '1' });
  });

  it('round-trips from FormData for any values', async () => {
    const text = fc
      .string({ unit: character, maxLength: 30 })
      .map((value) => value.replace(/\r\n|\r|\n/g, '\r\n'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.stringMatching(/^[a-z_]{1,12}$/), text)), async (fields) => {
        const form = new FormData();
        for (const [name, value] of fields) form.append(name, value);
        const response = new Response(form);
        const body = Buffer.from(await response.arrayBuffer());
        const type = response.headers.get('content-type') ?? '';
        expect(fieldReader(type)(body, type).fields).toEqual(Object.fromEntries(fields));
      }),
    );
  });

  it.each([
    ['no boundary in the header', `${part('a', '1')}--XX--`, 'multipart/form-data', 'names no boundary'],
    ['an empty body', '', TYPE, 'does not contain its boundary'],
    ['a body that ends in a value', `${part('a', '1')}`, TYPE, 'last boundary'],
    [
      'a part without a name',
      '--XX\r\nContent-Disposition: form-data\r\n\r\n1\r\n--XX--',
      TYPE,
      'Content-Disposition',
    ],
  ])('is rejected with a reason: %s', (_, body, type, reason) => {
    expect(() => parse(body, type)).toThrowError(
      expect.objectContaining({ code: 'unparseable_body', message: expect.stringContaining(reason) }),
    );
  });

  it('never fails in any other way, whatever its bytes', () => {
    const piece = fc.constantFrom(
      '--XX',
      '\r\n',
      '--',
      'Content-Disposition: form-data; name="a"',
      '"',
      '\\',
      'x',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          parse(pieces.join(''));
        } catch (error) {
          expect(error).toMatchObject({ code: 'unparseable_body' });
        }
      }),
    );
  });
});

const JSON_TYPE = 'application/json';
const MULTIPART = 'multipart/form-data; boundary=XX';
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const object = (count: number) =>
  Object.fromEntries(numbers(count).map((number) => [`field${number}`, 'x:"{}']));

const BODIES: [type: string, body: (fields: number) => string][] = [
  [
    FORM,
    (count) =>
      numbers(count)
        .map((number) => `field${number}=1`)
        .join('&'),
  ],
  [
    MULTIPART,
    (count) =>
      `${numbers(count)
        .map((number) => `--XX\r\nContent-Disposition: form-data; name="field${number}"\r\n\r\n1\r\n`)
        .join('')}--XX--`,
  ],
  [JSON_TYPE, (count) => JSON.stringify(object(count))],
];

describe('a body', () => {
  it.each(BODIES)('of %s must have at most a thousand fields', (type, body) => {
    const read = (count: number) => fieldReader(type)(Buffer.from(body(count)), type);
    expect(() => read(1_000)).not.toThrow();
    expect(() => read(1_001)).toThrowError(
      expect.objectContaining({
        code: 'body_too_large',
        message: expect.stringMatching(/^(a form|the body) must have at most 1000 fields$/),
      }),
    );
  });

  it('may have more fields in nested objects', () => {
    const list = JSON.stringify({ faults: numbers(900).map(() => ({ route: 'ipn', status: 500 })) });
    expect(() => fieldReader(JSON_TYPE)(Buffer.from(list), JSON_TYPE)).not.toThrow();
  });

  it('may be nested to any depth', () => {
    const deep = `{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}`;
    expect(() => fieldReader(JSON_TYPE)(Buffer.from(deep), JSON_TYPE)).not.toThrow();
  });
});
