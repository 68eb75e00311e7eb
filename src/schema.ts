import * as z from 'zod/mini';
import { STRUCTURES } from './contract/configuration.ts';
import { FaultRules } from './contract/fault.ts';
import { type OptionName, type OptionSpec, START_OPTIONS } from './options.ts';

/** A JSON schema, or a part of one. */
export interface JsonSchema {
  [keyword: string]: unknown;
}

const DURATION = { type: 'string', pattern: '^\\d{1,9}(ms|s|m|h)$' };
const DECIMAL = {
  anyOf: [
    { type: 'string', pattern: '^\\d{1,20}(\\.\\d{1,8})?$' },
    { type: 'number', minimum: 0 },
  ],
};
const PERCENT = {
  anyOf: [
    { type: 'string', pattern: '^(100(\\.0{1,4})?|\\d{1,2}(\\.\\d{1,4})?)$' },
    { type: 'number', minimum: 0, maximum: 100 },
  ],
};

/** What the options table does not know of its lists and texts. */
const REFINEMENTS: Partial<Record<OptionName, JsonSchema>> = {
  amountFormat: { pattern: '^(sent|stored|fixed:[0-8])$', examples: ['sent', 'stored', 'fixed:2'] },
  currency: { items: { type: 'string', pattern: '^[A-Z0-9]{2,4}(:.{0,8})?$' }, examples: [['NPR:Rs']] },
  ipnOn: { items: { enum: ['canceled', 'failed', 'expired'] } },
  ipnSchedule: { items: DURATION },
};

/**
 * What the schemas that validate cannot say in JSON schema, by the way to it; `*` stands for the entries of a list.
 * Their refinements are functions.
 */
const NOTES: Readonly<Record<string, JsonSchema>> = {
  'charges.payment': { description: 'taken from a payment; 2 % unless configured' },
  'charges.card': { description: 'taken from a new card; 1 % unless configured' },
  'charges.cardTransaction': { description: 'taken from what a card pays; nothing unless configured' },
  ...Object.fromEntries(
    ['payment', 'card', 'cardTransaction'].flatMap((name): [string, JsonSchema][] => [
      [`charges.${name}.percent`, { description: 'from 0 to 100, such as "2.5"', ...PERCENT }],
      [`charges.${name}.fixed`, { description: 'added to it, such as "0.30"', ...DECIMAL }],
    ]),
  ),
  'currencies.*.code': { description: 'two to four upper-case letters or digits' },
  'currencies.*.name': { description: 'its name (default: the code)' },
  'currencies.*.symbol': { description: 'its symbol (default: the code)', minLength: 1, maxLength: 8 },
  'currencies.*.decimals': {
    description: 'decimals that amounts are shown with',
    minimum: 0,
    maximum: 8,
    default: 2,
  },
  'faults.*.route': {
    description: 'initiate, checkout, cards, ipn, or a path in which * stands for anything',
  },
  'faults.*.probability': {
    description: 'acts on so large a part',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 1,
  },
  'faults.*.times': {
    description: 'acts so often and is spent then (default: until cleared)',
    type: 'integer',
    minimum: 1,
  },
  'faults.*.identifier': { description: 'only for these identifiers, such as order-*' },
  'faults.*.status': { description: 'answers with this status', type: 'integer', minimum: 200, maximum: 599 },
  'faults.*.retryAfter': { description: 'Retry-After of that answer; the status is 429 then', ...DURATION },
  'faults.*.latency': { description: 'waits first: 2s, or a range such as 100ms..2s' },
  'faults.*.drop': { description: 'closes the connection without an answer; an IPN is lost' },
  'faults.*.truncate': { description: 'only half of the body' },
  'faults.*.malformed': { description: 'spoils the JSON' },
  'faults.*.duplicate': { description: 'IPN: goes out twice' },
  'faults.*.delay': { description: "IPN: goes out so much later, on the emulator's clock", ...DURATION },
  'faults.*.reorder': { description: 'IPN: the next one overtakes it' },
  'faults.*.corruptSignature': { description: 'IPN: the signature is wrong' },
  'outcomes.*': { anyOf: ['identifier', 'email', 'amount'].map((name) => ({ required: [name] })) },
  'outcomes.*.identifier': { description: 'identifiers that it is for, such as fail-*', minLength: 1 },
  'outcomes.*.email': {
    description: 'e-mails of customers that it is for, such as *@fail.test',
    minLength: 1,
  },
  'outcomes.*.amount': {
    description: 'amounts that it is for, as they were sent, such as *.13',
    minLength: 1,
  },
  'outcomes.*.outcome': { description: 'how these payments end; pending leaves them to you' },
  'outcomes.*.delivery': { description: 'order of IPN and redirect (default: that of the emulator)' },
  'outcomes.*.delay': { description: 'time from initiate (default: autoDelay)', ...DURATION },
  'wallets.*.email': { description: 'what its owner enters on the checkout', format: 'email' },
  'wallets.*.holder': { description: 'account_holder of the IPN' },
  'wallets.*.currency': { description: 'one that the emulator knows' },
  'wallets.*.balance': { description: 'as decimal text, such as "250.00"', ...DECIMAL },
};

/**
 * The JSON schema of gateway-sim.config.json, by which editors complete and check it. It wants values in their own
 * JSON type, while the emulator also reads the texts that variables hold ("4477", "true", "a,b"); what it lets
 * through, the emulator takes, but for what no schema can tell (two effects that exclude each other, say).
 */
export function configurationSchema(): JsonSchema {
  const properties = Object.entries<OptionSpec>(START_OPTIONS).map(([name, spec]) => [
    name,
    {
      description: spec.description,
      ...ofKind(name, spec),
      ...REFINEMENTS[name as OptionName],
      ...(spec.default !== undefined && { default: spec.default }),
    },
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of gateway-sim',
    description:
      'gateway-sim.config.json: what "gateway-sim start" does unless a flag or a variable says otherwise.',
    // Visual Studio Code asks the schema whether the file may have these; other readers pass over it.
    allowComments: true,
    allowTrailingCommas: true,
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: { type: 'string', description: 'where this schema lies' },
      ...Object.fromEntries(properties),
    },
  };
}

function ofKind(name: string, { kind, choices, min, max }: OptionSpec): JsonSchema {
  switch (kind) {
    case 'integer':
      return { type: 'integer', minimum: min ?? 0, ...(max !== undefined && { maximum: max }) };
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { enum: choices };
    case 'list':
      return { type: 'array', items: { type: 'string', minLength: 1 } };
    case 'duration':
      return { anyOf: [DURATION, { type: 'integer', minimum: 0, description: 'in milliseconds' }] };
    case 'url':
      return { type: 'string', format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://[^/]' };
    case 'baseUrl':
      return { type: 'string', format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://[^/?#@][^?#@]*$' };
    case 'secret':
      return { type: 'string', minLength: 1, maxLength: max, pattern: '^[!-~]+$' };
    case 'text':
      return { type: 'string', minLength: 1 };
    case 'structure':
      return structure(name);
  }
}

function structure(name: string): JsonSchema {
  const schemas: Record<string, z.ZodMiniType> = { ...STRUCTURES, faults: FaultRules.shape.faults };
  const schema = schemas[name];
  if (!schema) throw new Error(`the structure ${name} has no schema`);
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return annotated(json, name);
}

/** A schema with the notes on it and on what is in it. */
function annotated(schema: JsonSchema, path: string): JsonSchema {
  const { properties, items } = schema as { properties?: Record<string, JsonSchema>; items?: JsonSchema };
  // A note that gives alternatives stands for the type, it does not come on top.
  const { anyOf } = NOTES[path] ?? {};
  const { anyOf: _, ...plain } = schema;
  return {
    ...(anyOf === undefined ? schema : plain),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, annotated(field, `${path}.${name}`)]),
      ),
    }),
    ...(items && { items: annotated(items, `${path}.*`) }),
    ...NOTES[path],
  };
}
