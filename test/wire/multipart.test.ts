import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldReader } from '../../src/wire/body.ts';
import { character } from '../helpers/characters.ts';

const TYPE = 'multipart/form-data; boundary=XX';
const part = (name: string, value: string, headers = '') =>
  `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n${headers}\r\n${value}\r\n`;
const parse = (text: string, type = TYPE) => fieldReader(type)(Buffer.from(text), type).fields;

describe('a multipart body', () => {
  it('returns its text fields byte for byte, the last one of the same name', () => {
    const body = `${part('a', '1')}${part('b', '')}${part('a', ' two\r\nlines\r\n')}--XX--\r\n`;
    expect(parse(body)).toEqual({ a: ' two\r\nlines\r\n', b: '' });
  });

  it('is read as UTF-8, names and values', () => {
    expect(parse(`${part('é', '€ 日本 😀')}--XX--`)).toEqual({ é: '€ 日本 😀' });
  });

  it('may have a preamble, an epilogue, a quoted boundary and spaces after a boundary', () => {
    const body = `hello\r\n--a b  \r\ncontent-disposition: FORM-DATA; name=x\r\n\r\n1\r\n--a b--\r\nbye`;
    expect(parse(body, 'multipart/form-data; charset=utf-8; boundary="a b"')).toEqual({ x: '1' });
  });

  it('is read without its files', () => {
    const file = '--XX\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\n\r\n\u0000\u0001\r\n';
    expect(parse(`${file}${part('a', '1')}--XX--`)).toEqual({ a: '1' });
  });

  it('keeps text in a value that only looks like a boundary', () => {
    expect(parse(`${part('a', '--XX and -- --XX')}--XX--`)).toEqual({ a: '--XX and -- --XX' });
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
    [
      'another boundary in the body',
      `${part('a', '1')}--XX--`,
      'multipart/form-data; boundary=YY',
      'does not contain its boundary',
    ],
    ['an empty body', '', TYPE, 'does not contain its boundary'],
    ['a body that ends in a value', `${part('a', '1')}`, TYPE, 'last boundary'],
    ['a body that ends in the headers', '--XX\r\nContent-Disposition: form-data; name="a"', TYPE, 'headers'],
    [
      'a body without its last boundary',
      '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n1',
      TYPE,
      'last boundary',
    ],
    [
      'a longer line that begins like the boundary',
      '--XXYY\r\n\r\n\r\n--XX\r\n\r\n\r\n--XX--',
      TYPE,
      'Content-Disposition',
    ],
    [
      'a part without a name',
      '--XX\r\nContent-Disposition: form-data\r\n\r\n1\r\n--XX--',
      TYPE,
      'Content-Disposition',
    ],
    ['a part without a disposition', '--XX\r\n\r\n1\r\n--XX--', TYPE, 'Content-Disposition'],
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
