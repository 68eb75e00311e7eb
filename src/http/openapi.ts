import type { RouterRoute } from 'hono/types';
import type * as z from 'zod/mini';
import { type Field, type JsonSchema, MESSAGES, type Message } from '../contract/field.ts';
import { componentSchemas } from '../contract/json-schema.ts';
import { SOURCES } from '../contract/vocabulary.ts';
import { optionsSchema } from '../options/json-schema.ts';
import { MANIFEST_LINES } from '../system/manifest-lines.ts';
import { VERSION } from '../system/package-info.ts';
import type { AppParts } from './environment.ts';
import {
  describeOperation,
  EMULATOR_HEADER,
  ERROR_RESPONSES,
  type OperationObject,
  parameter,
} from './openapi-operation.ts';
import { FORM_TYPE, JSON_TYPE, operationOf, TAGS } from './operation.ts';

const DESCRIPTION = `A local emulator of a hosted payment gateway and virtual-card service. No real money moves.

Each operation and each field of the service has a source, in its description and as x-source: documented (by the service interface), observed (in published clients or deployments), or chosen (by gateway-sim). x-fidelity lists the lines of fixtures/fidelity/manifest.jsonl that prove it, each with its own source. Everything under /_sim is chosen.`;

/**
 * The OpenAPI 3.1 document of the service and the control API, from the mounted routes and the schemas that validate
 * messages. This is slow: load this module only on request.
 */
export function openApiDocument(
  routes: readonly RouterRoute[],
  { runtime, dialect }: Pick<AppParts, 'runtime' | 'dialect'>,
) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'gateway-sim',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: runtime.baseUrl() }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(routes),
    webhooks: { ipn: { post: ipnOperation(dialect.messages.Ipn) } },
    components: {
      schemas: { ...sourced(componentSchemas()), Options: optionsSchema() } as Record<string, JsonSchema>,
      responses: ERROR_RESPONSES,
      headers: { Emulator: EMULATOR_HEADER },
      securitySchemes: {
        secretKey: {
          type: 'http',
          scheme: 'bearer',
          description: "The merchant's secret key.",
        },
        controlToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The control token, required unless the emulator listens only on a loopback address. The dashboard keeps it in a cookie.',
        },
      },
    },
  };
}

/** Adds to messages and fields the manifest lines that prove them, and the sources of these lines. */
function sourced(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const found = new Map<Message | Field | undefined, typeof MANIFEST_LINES>();
  for (const line of MANIFEST_LINES) {
    for (const place of line.proves) {
      const [name = '', field] = place.split('.');
      const message = MESSAGES.get(name);
      const proven = field === undefined ? message : message?.fields?.[field];
      if (!proven) throw new Error(`the manifest line ${line.id} proves ${place}, which does not exist`);
      found.set(proven, [...(found.get(proven) ?? []), line]);
    }
  }
  const withSources = (schema: JsonSchema, proven: Message | Field | undefined): JsonSchema => {
    const lines = found.get(proven);
    if (!lines) return schema;
    const sources = SOURCES.filter((source) => lines.some((line) => line.source === source));
    return {
      ...schema,
      description: `${schema.description} Source: ${sources.join(', ')}.`,
      'x-source': sources[0],
      'x-fidelity': lines.map(({ id }) => id),
    };
  };
  const properties = ({ properties }: JsonSchema, message: Message | undefined) =>
    properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, withSources(one, message?.fields?.[name])]),
      ),
    };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const message = MESSAGES.get(name);
      return [name, withSources({ ...schema, ...properties(schema, message) }, message)];
    }),
  );
}

/** Sorted by group, then in the order of mounting. */
function pathsOf(routes: readonly RouterRoute[]): Record<string, Record<string, OperationObject>> {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const tag of Object.keys(TAGS)) {
    for (const { method, path: pattern, handler } of routes) {
      const operation = operationOf(handler);
      if (operation?.tag !== tag) continue;
      const path = pattern.replace(/:(\w+)/g, '{$1}');
      const verb = method.toLowerCase();
      paths[path] = { ...paths[path], [verb]: describeOperation(verb, path, operation) };
    }
  }
  return paths;
}

/** The IPN that the service posts to a merchant. */
function ipnOperation(schema: z.ZodMiniType): OperationObject {
  return {
    ...describeOperation('ipn', '', {
      tag: 'Service: payments',
      summary: 'Instant payment notification',
      description: 'Posted to the ipn_url of a payment when it succeeds. Other outcomes need --ipn-on.',
      source: 'documented',
      lines: 'ipn-*, signature*',
      body: { types: [FORM_TYPE, JSON_TYPE], schema },
      answers: [],
      errors: [],
    }),
    parameters: [
      parameter('User-Agent', 'header', 'gateway-sim/<version>.'),
      parameter('X-Gateway-Sim', 'header', 'Always 1: marks messages of the emulator.'),
      parameter('X-Gateway-Sim-Delivery', 'header', 'Id of the delivery: the same for every attempt.'),
      parameter('X-Gateway-Sim-Attempt', 'header', 'Number of the attempt, from 1.'),
      parameter('X-Gateway-Sim-Original-Url', 'header', 'The ipn_url, with --forward-ipn.', false),
    ],
    responses: {
      '2XX': { description: 'Delivered.' },
      default: {
        description: 'Any other response, or none within 10 s: retried on schedule.',
      },
    },
  };
}
