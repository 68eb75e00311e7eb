import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldReader } from '../../src/wire/body.ts';
import { character } from '../helpers/characters.ts';

const FORM = 'application/x-www-form-urlencoded';
const read = (body: string | Buffer) => fieldReader(FORM)(Buffer.from(body), FORM);
/**
 * The fields of a form: the last value of a repeated field, and no `__proto__`. After a separator, a question mark is
 * part of the name.
 */
const expected = (text: string) =>
  [...new Map(new URLSearchParams(`&${text}`))].filter(([name]) => name !== '__proto__').sort();

describe('JSON', () => {
  it('has no lone surrogates at any depth, because files and forms cannot encode them', () => {
    const text = '{"a":"x\\ud800y","set":{"b":["\\uDC00","\\uD83D\\uDE00"]}}';
    const { fields } = fieldReader('application/json')(Buffer.from(text), 'application/json');
    expect(fields).toEqual({ a: 'x\ufffdy', set: { b: ['\ufffd', '😀'] } });
  });

  it.each(['null', '1', '"text"', '[]'])('is rejected if it is not an object: %s', (text) => {
    const json = fieldReader('application/json');
    expect(() => json(Buffer.from(text), 'application/json')).toThrow('the body must be a JSON object');
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

  it('is read like URLSearchParams, for any bytes', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const body = Buffer.concat(pieces);
        const { fields, text } = read(body);
        expect(Object.entries(fields).sort()).toEqual(expected(body.toString()));
        expect(text).toBe(body.toString());
      }),
      { numRuns: 800 },
    );
  });
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
