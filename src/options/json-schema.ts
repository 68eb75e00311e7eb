import { ChosenValues, STRUCTURES } from '../contract/configuration.ts';
import { DURATION_PATTERN } from '../contract/duration.ts';
import { FaultRules } from '../contract/fault.ts';
import type { JsonSchema } from '../contract/field.ts';
import { inlineSchema } from '../contract/json-schema.ts';
import {
  EMULATOR_OPTIONS,
  MAX_KEPT,
  type OptionKind,
  type OptionSpec,
  PATTERNS,
  START_OPTIONS,
} from './table.ts';

const SCHEMAS = { ...STRUCTURES, choices: ChosenValues, faults: FaultRules.shape.faults };

/** A value as the configuration file holds it, by the kind of its option. */
const KINDS = {
  text: () => ({ type: 'string', minLength: 1 }),
  secret: ({ max }) => ({ type: 'string', minLength: 1, maxLength: max, pattern: PATTERNS.secret }),
  integer: ({ max }) => ({ type: 'integer', minimum: 0, maximum: max }),
  boolean: () => ({ type: 'boolean' }),
  choice: ({ choices = [] }) => ({ enum: choices }),
  list: () => ({ type: 'array', items: { type: 'string', minLength: 1 } }),
  url: () => ({ type: 'string', format: 'uri', pattern: PATTERNS.url }),
  baseUrl: () => ({ type: 'string', format: 'uri', pattern: PATTERNS.baseUrl }),
  duration: () => ({
    anyOf: [
      { type: 'string', pattern: DURATION_PATTERN },
      { type: 'integer', minimum: 0, description: 'in milliseconds' },
    ],
  }),
  retention: () => ({
    anyOf: [
      { type: 'integer', minimum: 1, maximum: MAX_KEPT, description: 'so many settled payments' },
      { type: 'string', pattern: DURATION_PATTERN, description: 'those settled in this time' },
    ],
    examples: [1_000, '24h'],
  }),
  structure: (_, name) => inlineSchema(SCHEMAS[name as keyof typeof SCHEMAS]),
} as const satisfies Record<OptionKind, (spec: OptionSpec, name: string) => JsonSchema>;

function properties(
  describe: (spec: OptionSpec, name: string) => JsonSchema,
  names: readonly string[] = Object.keys(START_OPTIONS),
): Record<string, JsonSchema> {
  const specs = Object.entries<OptionSpec>(START_OPTIONS).filter(([name]) => names.includes(name));
  return Object.fromEntries(specs.map(([name, spec]) => [name, describe(spec, name)]));
}

/** One option as the configuration file and the library take it. */
function optionSchema(spec: OptionSpec, name: string): JsonSchema {
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
      ...properties(optionSchema),
    },
  };
}

/** What `status` shows of the options in force. */
export function optionsSchema(): JsonSchema {
  return {
    description:
      'Options of `start` in force, secrets masked; what is not set and has no default is left out.',
    type: 'object',
    properties: properties(({ kind, choices, description }, name) => {
      const type = SHOWN_TYPES[kind] ?? 'string';
      return {
        // Structures have a shape of their own.
        ...(kind !== 'structure' && {
          type: kind === 'secret' && name !== 'publicKey' ? [type, 'null'] : type,
        }),
        ...(kind === 'list' && { items: { type: 'string' } }),
        ...(choices && { enum: choices }),
        description,
      };
    }),
  };
}

/** Of what is not shown as text. Durations are shown in milliseconds. */
const SHOWN_TYPES: Partial<Record<OptionKind, string>> = {
  integer: 'integer',
  duration: 'integer',
  boolean: 'boolean',
  list: 'array',
};

/** The options of the library: those of an emulator wherever it runs. */
export function librarySchema(): JsonSchema {
  const describe = (spec: OptionSpec, name: string): JsonSchema => {
    const said = spec.default === undefined ? '' : ` Default: ${JSON.stringify(spec.default)}.`;
    const sentence = spec.description.replace(/^\w/, (letter) => letter.toUpperCase());
    return { ...optionSchema(spec, name), description: `${sentence}.${said}` };
  };
  return {
    description: 'The options of `gateway-sim start`. Environment and configuration file are not looked at.',
    properties: properties(describe, EMULATOR_OPTIONS),
  };
}
