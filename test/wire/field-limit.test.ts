import { describe, expect, it } from 'vitest';
import { fieldReader } from '../../src/wire/body.ts';

const FORM = 'application/x-www-form-urlencoded';
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
