import type { RouterRoute } from 'hono/types';
import type * as z from 'zod/mini';
import type { JsonSchema } from '../contract/field.ts';
import { componentSchemas } from '../contract/json-schema.ts';
import { idsFor, readMarks } from '../contract/mark.ts';
import { optionsSchema } from '../options/json-schema.ts';
import { MANIFEST_IDS } from '../system/manifest-ids.ts';
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

Each operation and each field of the service has a source, in its description and as x-source: documented (by the service interface), observed (in published clients or deployments), or chosen (by gateway-sim). x-fidelity lists the lines of fixtures/fidelity/manifest.jsonl that prove it. Everything under /_sim is chosen.`;

/**
 * The OpenAPI 3.1 document of the service and the control API, from the mounted routes and the schemas that validate
 * messages. This is slow: load this module only on request.
 */
export function openApiDocument(
  routes: readonly RouterRoute[],
  { runtime, dialect }: Pick<AppParts, 'runtime' | 'dialect'>,
) {
  // Cloned, because documents share parts and `nameLines` changes them.
  const document = structuredClone({
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
      schemas: { ...componentSchemas(), Options: optionsSchema() } as Record<string, JsonSchema>,
      responses: ERROR_RESPONSES,
      headers: { Emulator: EMULATOR_HEADER },
      securitySchemes: {
        secretKey: {
          type: 'http',
          scheme: 'bearer',
          description: "The merchant's secret key (documented: card-auth-*).",
        },
        controlToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The control token, required unless the emulator listens only on a loopback address. The dashboard keeps it in a cookie.',
        },
      },
    },
  });
  nameLines(document);
  return document;
}

/** Reduces each mark to its word and adds the ids of its manifest lines as `x-fidelity`. */
function nameLines(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  for (const inner of Object.values(part)) nameLines(inner);
  const description = 'description' in part && typeof part.description === 'string' ? part.description : '';
  const own = 'x-fidelity' in part && Array.isArray(part['x-fidelity']) ? part['x-fidelity'].map(String) : [];
  const { text, lines } = readMarks(description);
  if (lines.length) Object.assign(part, { description: text });
  const ids = idsFor([...own, ...lines], MANIFEST_IDS);
  if (ids.length) Object.assign(part, { 'x-fidelity': ids });
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
      parameter('User-Agent', 'header', 'gateway-sim/<version> (chosen: ipn-user-agent).'),
      parameter(
        'X-Gateway-Sim',
        'header',
        'Always 1: marks messages of the emulator (chosen: ipn-emulator-header).',
      ),
      parameter(
        'X-Gateway-Sim-Delivery',
        'header',
        'Id of the delivery: the same for every attempt (chosen: ipn-delivery-header).',
      ),
      parameter(
        'X-Gateway-Sim-Attempt',
        'header',
        'Number of the attempt, from 1 (chosen: ipn-attempt-header).',
      ),
      parameter(
        'X-Gateway-Sim-Original-Url',
        'header',
        'The ipn_url, with --forward-ipn (chosen: ipn-emulator-header).',
        false,
      ),
    ],
    responses: {
      '2XX': { description: 'Delivered (chosen: ipn-answer-ignored).' },
      default: {
        description:
          'Any other response, or none within 10 s: retried on schedule (chosen: ipn-retried, ipn-redirect-not-followed).',
      },
    },
  };
}
