import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { GatewayError } from '../../src/contract/error.ts';
import { COLLECTIONS } from '../../src/contract/state.ts';
import { COLLECTION_NAMES } from '../../src/contract/vocabulary.ts';
import { parseSnapshot } from '../../src/store/parse-snapshot.ts';
import { emptySnapshot, SNAPSHOT_VERSION } from '../../src/store/snapshot.ts';
import { fullSnapshot, wallet } from '../helpers/records.ts';

const paid = () => fullSnapshot().payments[0];
const due = () => fullSnapshot().deliveries[0];
const tried = () => fullSnapshot().attempts[0];

describe('a snapshot', () => {
  it('gets empty collections for missing ones', () => {
    expect(parseSnapshot({ version: SNAPSHOT_VERSION }, 'it')).toEqual(emptySnapshot());
  });

  it.each([
    ['wallets', [{ ...wallet(), balance: '1e5' }], 'wallets.0.balance'],
    ['wallets', [wallet(), 7], 'wallets.1'],
    ['wallets', {}, 'wallets'],
    ['payments', [{ ...paid(), status: 'paid' }], 'payments.0.status'],
    ['payments', [{ ...paid(), amount: 'much' }], 'payments.0.amount'],
    ['payments', [{ ...paid(), expiresAt: 'soon' }], 'payments.0.expiresAt'],
    ['payments', [{ ...paid(), siteLogo: undefined }], 'payments.0.siteLogo'],
    ['deliveries', [{ ...due(), nextAttemptAt: 'tomorrow' }], 'deliveries.0.nextAttemptAt'],
    ['deliveries', [{ ...due(), nextAttemptAt: '2026-13-01T00:00:00.000Z' }], 'deliveries.0.nextAttemptAt'],
    ['deliveries', [{ ...due(), attemptCount: -1 }], 'deliveries.0.attemptCount'],
    ['attempts', [{ ...tried(), requestHeaders: [['a', 'b', 'c']] }], 'attempts.0.requestHeaders.0'],
  ])('with damaged %s is rejected, and the error names the place', (name, value, where) => {
    const act = () => parseSnapshot({ ...fullSnapshot(), [name]: value }, 'the request body');
    expect(act).toThrow(GatewayError);
    expect(act).toThrow(`the request body is damaged: ${where}`);
  });

  it.each([
    ['wallets', [{ ...wallet(), holdr: 'x' }], 'wallets.0: unknown key "holdr": did you mean holder?'],
    [
      'payments',
      [{ ...paid(), history: [{ ...paid()?.history[0], evnt: 'x' }] }],
      'payments.0.history.0: unknown key "evnt": did you mean event?',
    ],
    [
      'attempts',
      [{ ...tried(), failure: { code: 'tls', message: 'x', limitMs: 1 } }],
      'attempts.0.failure: unknown key "limitMs"',
    ],
  ])('with an unknown key in %s is rejected, and the error names it', (name, value, problem) => {
    const act = () => parseSnapshot({ ...fullSnapshot(), [name]: value }, 'it');
    expect(act).toThrow(`it is damaged: ${problem}`);
  });

  it.each([0, 3, 5, '4', null])('of the version %j is rejected, and the error says what to do', (version) => {
    expect(() => parseSnapshot({ ...fullSnapshot(), version }, 'it')).toThrow(
      expect.objectContaining({
        code: 'state_damaged',
        message: `it has version ${JSON.stringify(version)}, but this gateway-sim reads only version 4`,
        remedy: expect.stringMatching(/Use the gateway-sim that wrote it, or .* state reset .*--data-dir/),
      }),
    );
  });

  it('that is any JSON is accepted or rejected with a clear error', () => {
    const collection = fc.oneof(fc.jsonValue(), fc.array(fc.record({ id: fc.string() })));
    const anySnapshot = fc.record(
      {
        version: fc.oneof(fc.constant(SNAPSHOT_VERSION), fc.jsonValue()),
        ...Object.fromEntries(COLLECTION_NAMES.map((name) => [name, collection])),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anySnapshot), (json) => {
        try {
          parseSnapshot(json, 'it');
        } catch (error) {
          expect(error).toMatchObject({ name: 'GatewayError', code: 'state_damaged' });
        }
      }),
    );
  });
});

const HELP = `The stored keys changed. Records of users' folders are read without a schema, so if a key was renamed or
removed, is new and required, or has another kind of value: raise SNAPSHOT_VERSION. Then record the keys again:
npx vitest run test/store/snapshot.test.ts -u
`;

/** A schema, as far as this test reads it. */
interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  items?: Schema | false;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  required?: string[];
  enum?: unknown[];
  const?: unknown;
  type?: string;
  pattern?: string;
}

/** Each key of a record, with every kind of value. A key that may be missing ends in a question mark. */
function kindsOf(schema: Schema, path: string): string[] {
  const { properties = {}, required = [], additionalProperties, items, prefixItems } = schema;
  const each = schema.anyOf ?? schema.oneOf;
  if (each) return each.flatMap((one) => kindsOf(one, path));
  const values = schema.enum ?? ('const' in schema ? [schema.const] : undefined);
  if (values) return values.map((value) => `${path} ${JSON.stringify(value)}`);
  return [
    [path, schema.type, schema.pattern].join(' ').trim(),
    ...Object.entries(properties).flatMap(([name, one]) =>
      kindsOf(one, `${path}.${name}${required.includes(name) ? '' : '?'}`),
    ),
    ...[additionalProperties || [], items || [], prefixItems ?? []]
      .flat()
      .flatMap((one) => kindsOf(one, `${path}[]`)),
  ];
}

it('the keys of each record, with every kind of value, are those of this format', async () => {
  const keys = COLLECTION_NAMES.flatMap((name) => {
    const schema = z.toJSONSchema(COLLECTIONS[name][0], { unrepresentable: 'any' });
    return kindsOf(schema as Schema, name);
  });
  const text = [`format ${SNAPSHOT_VERSION}`, ...[...new Set(keys)].sort(), ''].join('\n');
  await expect(text, HELP).toMatchFileSnapshot('stored-keys.txt');
});
