import { STRUCTURES } from '../contract/configuration.ts';
import { DURATION_PATTERN } from '../contract/duration.ts';
import { FaultRules } from '../contract/fault.ts';
import type { JsonSchema } from '../contract/field.ts';
import { inlineSchema } from '../contract/json-schema.ts';
import { type OptionSpec, START_OPTIONS } from './table.ts';

const SCHEMAS = { ...STRUCTURES, faults: FaultRules.shape.faults };

/** A value as the configuration file holds it, by the kind of its option. */
const KINDS = {
  text: () => ({ type: 'string', minLength: 1 }),
  secret: ({ max }) => ({ type: 'string', minLength: 1, maxLength: max, pattern: '^[!-~]+$' }),
  integer: ({ min = 0, max }) => ({
    type: 'integer',
    minimum: min,
    ...(max !== undefined && { maximum: max }),
  }),
  boolean: () => ({ type: 'boolean' }),
  choice: ({ choices = [] }) => ({ enum: choices }),
  list: () => ({ type: 'array', items: { type: 'string', minLength: 1 } }),
  url: () => ({ type: 'string', format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://[^/]' }),
  baseUrl: () => ({ type: 'string', format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://[^/?#@][^?#@]*$' }),
  duration: () => ({
    anyOf: [
      { type: 'string', pattern: DURATION_PATTERN },
      { type: 'integer', minimum: 0, description: 'in milliseconds' },
    ],
  }),
  structure: (_, name) => inlineSchema(SCHEMAS[name as keyof typeof SCHEMAS]),
} as const satisfies Record<OptionSpec['kind'], (spec: OptionSpec, name: string) => JsonSchema>;

/** The JSON schema of one option as the configuration file and the library take it. */
export function optionSchema(name: string, spec: OptionSpec): JsonSchema {
  return {
    ...KINDS[spec.kind](spec, name),
    ...spec.json,
    description: spec.description,
    ...(spec.default !== undefined && { default: spec.default }),
  };
}

/**
 * The JSON schema of gateway-sim.config.json, by which editors complete and check it. It wants values in their own
 * JSON type, while the emulator also reads the texts that variables hold ("4477", "true", "a,b"); what it accepts,
 * the emulator takes, but for what no schema can tell (two effects that exclude each other, say).
 */
export function configurationSchema(): JsonSchema {
  const properties = Object.entries<OptionSpec>(START_OPTIONS).map(([name, spec]) => [
    name,
    optionSchema(name, spec),
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

/** What `status` shows of the options in force. */
export function optionsSchema(): JsonSchema {
  const properties = Object.entries<OptionSpec>(START_OPTIONS).map(([name, spec]) => {
    const type = spec.kind === 'secret' && name !== 'publicKey' ? ['string', 'null'] : SHOWN_TYPES[spec.kind];
    return [
      name,
      {
        ...(type && { type }),
        ...(spec.kind === 'list' && { items: { type: 'string' } }),
        ...(spec.choices && { enum: spec.choices }),
        description: spec.description,
      },
    ];
  });
  return {
    description:
      'Options of `start` in force, secrets masked; what is not set and has no default is left out.',
    type: 'object',
    properties: Object.fromEntries(properties),
  };
}

/** Durations are shown in milliseconds; structures have a shape of their own. */
const SHOWN_TYPES = {
  text: 'string',
  secret: 'string',
  url: 'string',
  baseUrl: 'string',
  integer: 'integer',
  boolean: 'boolean',
  duration: 'integer',
  list: 'array',
  choice: 'string',
  structure: undefined,
} as const satisfies Record<OptionSpec['kind'], string | undefined>;

/** The options of the library: those of an emulator wherever it runs. */
export function librarySchema(): JsonSchema {
  const properties = Object.entries<OptionSpec>(START_OPTIONS)
    .filter(([, { commandOnly }]) => !commandOnly)
    .map(([name, spec]) => {
      const said = spec.default === undefined ? '' : ` Default: ${JSON.stringify(spec.default)}.`;
      const sentence = spec.description.replace(/^\w/, (letter) => letter.toUpperCase());
      return [name, { ...optionSchema(name, spec), description: `${sentence}.${said}` }];
    });
  return {
    description: 'The options of `gateway-sim start`. Environment and configuration file are not looked at.',
    properties: Object.fromEntries(properties),
  };
}
