import { STRUCTURES } from '../contract/configuration.ts';
import type { JsonSchema } from '../contract/field.ts';
import { inlineSchema } from '../contract/json-schema.ts';
import { DURATION_PATTERN } from '../contract/time.ts';
import { type OptionKind, type OptionSpec, PATTERNS, START_OPTIONS } from './start-options.ts';

/** The schema of a configuration value, by the kind of its option. */
const KINDS = {
  text: () => ({ type: 'string', minLength: 1 }),
  secret: ({ max }) => ({ type: 'string', minLength: 1, maxLength: max, pattern: PATTERNS.secret }),
  integer: ({ max }) => ({ type: 'integer', minimum: 0, maximum: max }),
  boolean: () => ({ type: 'boolean' }),
  choice: ({ choices = [] }) => ({ enum: choices }),
  list: () => ({ type: 'array', items: { type: 'string', minLength: 1 } }),
  baseUrl: () => ({ type: 'string', format: 'uri', pattern: PATTERNS.baseUrl }),
  duration: () => ({
    anyOf: [
      { type: 'string', pattern: DURATION_PATTERN },
      { type: 'integer', minimum: 0, description: 'in milliseconds' },
    ],
  }),
  structure: (_, name) => inlineSchema(STRUCTURES[name as keyof typeof STRUCTURES]),
} as const satisfies Record<OptionKind, (spec: OptionSpec, name: string) => JsonSchema>;

function optionSchema(name: string, spec: OptionSpec): JsonSchema {
  return {
    ...KINDS[spec.kind](spec, name),
    ...spec.json,
    description: spec.description,
    ...(spec.default !== undefined && { default: spec.default }),
  };
}

/**
 * The JSON schema of gateway-sim.config.json, for completion and checks in editors. It is stricter than the emulator,
 * which also accepts values as text, as in variables ("3000", "true", "a,b"). Rules that a schema cannot express, such
 * as two effects that exclude each other, are left to the emulator.
 */
export function configurationSchema() {
  const options = Object.entries<OptionSpec>(START_OPTIONS);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of gateway-sim',
    description:
      'gateway-sim.config.json: options of "gateway-sim start". Flags and environment variables override them.',
    // For Visual Studio Code; other editors ignore these.
    allowComments: true,
    allowTrailingCommas: true,
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: { type: 'string', description: 'location of this schema' },
      ...Object.fromEntries(options.map(([name, spec]) => [name, optionSchema(name, spec)])),
    },
  };
}
