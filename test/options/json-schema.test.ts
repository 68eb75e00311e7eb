import { readFile, writeFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { configurationTemplate } from '../../src/cli/commands/init.ts';
import { FaultRules } from '../../src/contract/fault.ts';
import type { JsonSchema } from '../../src/contract/field.ts';
import { readStructures } from '../../src/domain/configuration.ts';
import { configurationSchema } from '../../src/options/json-schema.ts';
import { resolveOptions } from '../../src/options/resolve.ts';
import { type OptionKind, type OptionName, START_OPTIONS } from '../../src/options/start-options.ts';

const PUBLISHED = new URL('../../fixtures/config.schema.json', import.meta.url);
const NAMES = Object.keys(START_OPTIONS) as OptionName[];

/**
 * To update it: REFRESH=1 npx vitest run test/options/json-schema.test.ts (and npx biome check --write fixtures/config.schema.json,
 * which formats it).
 */
test('the published schema matches the one generated from the options', async () => {
  const made: unknown = JSON.parse(JSON.stringify(configurationSchema()));
  if (process.env['REFRESH']) await writeFile(PUBLISHED, `${JSON.stringify(made, null, 2)}\n`);
  expect(JSON.parse(await readFile(PUBLISHED, 'utf8'))).toEqual(made);
  expect(manifest.files).toContain('fixtures/config.schema.json');
});

// Formats are hints for editors. If a format matters, there is also a pattern.
const validate = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  validateFormats: false,
})
  .addVocabulary(['allowComments', 'allowTrailingCommas'])
  .compile(configurationSchema());

const TEXT = { good: ['x'], bad: ['', 1, true, null, ['x'], {}] };
const SECRET = { good: ['x', 'sec_+/=~!'], bad: [...TEXT.bad, 'a b', 'x\r\ny', 'tökén', 'x'.repeat(201)] };
const TRUTH = { good: [true, false], bad: ['true', 1, null] };
const WHOLE = { good: [0, 3], bad: [-1, 1.5, '3', null] };
const ADDRESS = {
  good: ['http://a.test', 'HTTPS://a.test/b?c'],
  bad: ['', 'a.test', 'ftp://a.test', 'http:///a', 1],
};
const TEXTS = { good: [[], ['a.test', 'b']], bad: ['a', [''], [1], {}] };
const WAIT = { good: ['500ms', '2s', '30m', '1h', 0, 1500], bad: ['2 s', '2d', '', -1, 1.5, true] };

interface Values {
  good: readonly unknown[];
  bad: readonly unknown[];
}

/** Valid and invalid values in the configuration file, by the kind of option. */
const BY_KIND: Partial<Record<OptionKind, Values>> = {
  ...{ text: TEXT, secret: SECRET, boolean: TRUTH, list: TEXTS, duration: WAIT, url: ADDRESS },
};

/** The values of options that differ from others of their kind. */
const VALUES: Partial<Record<OptionName, Values>> = {
  port: { good: [0, 4477, 65535], bad: [-1, 65536, 1.5, '4477'] },
  publicUrl: {
    good: ['http://a.test', 'HTTPS://a.test:1/b/'],
    bad: [...ADDRESS.bad, 'http://a/?b', 'http://a/#b', 'http://a@b/'],
  },
  profile: { good: ['document', 'observed', 'server'], bad: ['', 'ours.json', 1, true] },
  errorStatus: { good: ['ok', 'http'], bad: ['htp', 200, true] },
  publicKey: { ...SECRET, bad: [...SECRET.bad, 'x'.repeat(51)] },
  currency: { good: [[], ['NPR', 'NPR:Rs']], bad: ['NPR', ['npr'], [''], [1]] },
  delivery: { good: ['ipn-only', 'ipn-twice'], bad: ['never', 1] },
  auto: { good: ['approve', 'cancel', 'fail'], bad: ['aprove', true] },
  ipnSchedule: { good: [[], ['1s', '5m']], bad: ['1s', ['1 s'], [1]] },
  ipnRetries: WHOLE,
  ipnFormat: { good: ['form', 'json'], bad: ['xml', 1] },
  amountFormat: { good: ['sent', 'stored', 'fixed:2'], bad: ['fixed', 'fixed:9', 2] },
  ipnOn: { good: [[], ['canceled', 'failed', 'expired']], bad: ['failed', ['success']] },
  forwardIpn: {
    good: [[], 'http://a/ipn', ['shop.example=127.0.0.1:8080', 'a=https://b:8443', 'http://a/ipn?b=c=d']],
    bad: ['a', ['a'], ['=b'], ['a='], ['http://'], [1]],
  },
  allowOrigin: {
    good: [[], ['https://shop.example'], ['null', 'http://a.example:8080/']],
    bad: ['https://shop.example', ['shop.example'], ['https://shop.example/path'], ['*'], null],
  },
  charges: {
    good: [{}, { payment: { percent: '2', fixed: 0.3 }, card: {}, cardTransaction: { fixed: '0' } }],
    bad: [
      2,
      [],
      { paymnt: {} },
      { payment: { percent: '1%' } },
      { payment: { percent: 101 } },
      { card: { percnt: '1' } },
    ],
  },
  currencies: {
    good: [
      [],
      [{ code: 'NPR' }, { code: 'KES', name: 'Kenyan Shilling', symbol: 'KSh', decimals: 2 }],
      [{ code: 'KWD', decimals: 3 }],
    ],
    bad: [{}, [{}], [{ code: 'npr' }], [{ code: 'NPR', symbl: 'Rs' }], [{ code: 'NPR', decimals: 4 }]],
  },
  faults: {
    good: [
      [],
      [
        { route: 'initiate', status: 503, times: 2 },
        { route: 'ipn', drop: true, probability: 0.5 },
      ],
    ],
    bad: [
      {},
      [{}],
      [{ route: 'ipn', status: '503' }],
      [{ route: 'ipn', drop: false }],
      [{ route: 'ipn', stats: 503 }],
    ],
  },
  outcomes: {
    good: [
      [],
      [
        { identifier: 'a-*', outcome: 'fail' },
        { email: '*@b.test', amount: '1', outcome: 'pending', delivery: 'ipn-only', delay: '2s' },
      ],
    ],
    bad: [
      {},
      [{ outcome: 'fail' }],
      [{ identifier: 'a', outcome: 'failed' }],
      [{ identifer: 'a', outcome: 'fail' }],
    ],
  },
  wallets: {
    good: [[], [{ email: 'a@b.co', holder: 'A', currency: 'USD', balance: '5.00' }]],
    bad: [
      {},
      [{}],
      [{ email: 'a@b.co', holder: 'A', currency: 'USD', balance: '-1' }],
      [{ email: 'a@b.co', holder: 'A', currency: 'usd', balance: '1' }],
    ],
  },
};

/** The schema is stricter about the other options, which also come as texts: from flags and the environment. */
const STRUCTURED: readonly OptionName[] = ['charges', 'currencies', 'wallets', 'outcomes', 'faults'];

/** Reads a value as the emulator does, without checks that depend on other options. */
function read(name: OptionName, value: unknown): void {
  const options = resolveOptions([{ values: { [name]: value }, label: () => name }]);
  readStructures(options);
  if (options.faults !== undefined) FaultRules.parse({ faults: options.faults });
}

describe('the schema', () => {
  it.each(NAMES)('accepts valid values for %s, and rejects invalid ones', (name) => {
    const { good, bad } = VALUES[name] ?? BY_KIND[START_OPTIONS[name].kind] ?? { good: [], bad: [] };
    expect([good, bad]).not.toContainEqual([]);
    for (const value of good) {
      expect([value, validate({ [name]: value }), validate.errors]).toEqual([value, true, null]);
      expect(() => read(name, value)).not.toThrow();
    }
    for (const value of bad) {
      expect([value, validate({ [name]: value })]).toEqual([value, false]);
      if (STRUCTURED.includes(name)) expect(() => read(name, value), JSON.stringify(value)).toThrow(name);
    }
  });

  it('rejects an unknown key, and accepts $schema', () => {
    expect(validate({ prot: 1 })).toBe(false);
    expect(validate({ $schema: '../schema.json' })).toBe(true);
  });

  it('has a description for every key, and the defaults', () => {
    const bare: string[] = [];
    const walk = ({ properties, items }: JsonSchema, path: string) => {
      for (const [name, field] of Object.entries((properties ?? {}) as Record<string, JsonSchema>)) {
        if (!field['description']) bare.push(`${path}${name}`);
        walk(field, `${path}${name}.`);
      }
      if (items) walk(items as JsonSchema, path);
    };
    const schema = configurationSchema();
    walk(schema, '');
    expect(bare).toEqual([]);
    const properties = schema['properties'] as Record<string, JsonSchema>;
    for (const [name, spec] of Object.entries(START_OPTIONS)) {
      expect([name, properties[name]?.['default']]).toEqual([
        name,
        'default' in spec ? spec.default : undefined,
      ]);
    }
  });

  it('accepts the template of init, unchanged and with every option uncommented', async () => {
    const { parseJsonc } = await import('../../src/cli/configuration.ts');
    const template = configurationTemplate();
    for (const text of [template, template.replace(/^ {2}\/\/ (?=")/gm, '  ')]) {
      expect([validate(parseJsonc(text)), validate.errors]).toEqual([true, null]);
    }
  });
});
