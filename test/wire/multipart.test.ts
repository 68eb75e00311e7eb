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
