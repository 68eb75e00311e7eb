import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldReader } from '../../src/wire/body.ts';
import { requireFewFields } from '../../src/wire/field-limit.ts';

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
  [JSON_TYPE, (count) => JSON.stringify({ inside: [{}, object(count)] })],
];

describe('a body', () => {
  it.each(BODIES)('of %s may have a thousand fields and not one more', (type, body) => {
    const read = (count: number) => fieldReader(type)(Buffer.from(body(count)), type);
    expect(() => read(1_000)).not.toThrow();
    expect(() => read(1_001)).toThrowError(
      expect.objectContaining({
        code: 'body_too_large',
        message: expect.stringMatching(/^(a form|an object of the body) may have at most 1000 fields$/),
      }),
    );
  });

  it('may have more of them in objects of their own', () => {
    const list = JSON.stringify({ faults: numbers(900).map(() => ({ route: 'ipn', status: 500 })) });
    expect(() => fieldReader(JSON_TYPE)(Buffer.from(list), JSON_TYPE)).not.toThrow();
  });

  it('is counted as JSON counts', () => {
    const most = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 0;
      const inside = Math.max(0, ...Object.values(value).map(most));
      return Array.isArray(value) ? inside : Math.max(Object.keys(value).length, inside);
    };
    const passes = (json: string) => {
      try {
        requireFewFields(Buffer.from(json));
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.constantFrom(998, 999, 1_000, 1_001), (json, count) => {
        const whole = { ...object(count), inside: JSON.parse(json) };
        expect(passes(JSON.stringify(whole))).toBe(most(whole) <= 1_000);
      }),
    );
  });

  it('that is cut off anywhere is counted to its end', () => {
    const json = JSON.stringify({ ...object(1_000), '\\"': '\\' });
    for (let end = json.length - 40; end < json.length; end++) {
      expect(() => requireFewFields(Buffer.from(json.slice(0, end)))).not.toThrow(TypeError);
    }
  });
});
