import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { GatewayError } from '../../src/contract/error.ts';
import { shapeOf } from '../../src/contract/field.ts';
import { LOOSE, PROFILES } from '../../src/contract/profiles.ts';
import { INITIATE_FIELDS, readInitiate } from '../../src/wire/documented/initiate.ts';
import { character } from '../helpers/characters.ts';
import { fields } from '../helpers/records.ts';

const SCHEMAS = {
  strict: z.object(shapeOf(INITIATE_FIELDS.strict)),
  loose: z.object(shapeOf(INITIATE_FIELDS.loose)),
};
const NAMES = Object.keys(INITIATE_FIELDS.strict);

/** The result of the schema: the values, or every problem in the order of the fields. */
function bySchema(posted: Record<string, unknown>, strictness: keyof typeof SCHEMAS) {
  const values = { ...posted };
  const absent = strictness === 'loose' ? ['checkout_theme', 'site_logo'] : ['checkout_theme'];
  for (const name of NAMES) if (values[name] === null) delete values[name];
  for (const name of absent) if (values[name] === '') delete values[name];
  const parsed = SCHEMAS[strictness].safeParse(values);
  return parsed.success
    ? parsed.data
    : parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
}

/** The result of the table, in the same shape. */
function byTable(posted: Record<string, unknown>, strictness: keyof typeof SCHEMAS) {
  try {
    const { publicKey, request } = readInitiate(
      { fields: posted, text: '' },
      strictness === 'loose' ? LOOSE : PROFILES.document.choices,
    );
    return { publicKey, ...request };
  } catch (error) {
    return error instanceof GatewayError ? error.problems : error;
  }
}

/** A result of the schema, with our names. */
function ours(read: ReturnType<typeof bySchema>) {
  if (Array.isArray(read)) return read;
  const { checkout_theme = 'light', site_logo = null, ...others } = read;
  const renamed = Object.entries({ checkout_theme, site_logo, ...others }).map(([name, value]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(renamed);
}

const VALUES = fc.oneof(
  fc.constantFrom(undefined, null, '', true, {}, [], 'dark', 'light', 'Dark', 'USD', '10.00', '-1', '1e2'),
  fc.constantFrom(
    'a@b.cd',
    'a b@c.de',
    'nobody',
    'http://h/?a=b',
    'HTTP://h',
    'http://',
    'x'.repeat(21),
    ' ',
  ),
  fc.constantFrom(
    'x'.repeat(31),
    '😀'.repeat(30),
    '😀'.repeat(31),
    `http://h/${'x'.repeat(2_040)}`,
    '\u0000',
  ),
  fc.string({ unit: character, maxLength: 60 }),
);

describe('the fields of initiate', () => {
  it.each(['strict', 'loose'] as const)(
    'have the same values and problems with the table as with the schema (%s)',
    (strictness) => {
      const changes = fc.dictionary(fc.constantFrom(...NAMES, 'other', '__proto__'), VALUES, { maxKeys: 5 });
      let good = 0;
      fc.assert(
        fc.property(changes, (changed) => {
          const posted = fields(changed);
          const expected = ours(bySchema(posted, strictness));
          expect(byTable(posted, strictness)).toEqual(expected);
          if (!Array.isArray(expected)) good++;
        }),
        { numRuns: 500 },
      );
      expect(good).toBeGreaterThan(20);
    },
  );

  it('report the amount in its place in the order if a number cannot be read exactly', () => {
    const posted = fields({ currency: '', amount: 1e-9, details: '' });
    expect(byTable(posted, 'strict')).toEqual([
      'currency is required',
      'amount cannot be read exactly from this JSON number: send a string, such as "49.90"',
      'details is required',
    ]);
  });
});
