import type { JsonSchema } from '../contract/field.ts';
import { componentSchemas } from '../contract/json-schema.ts';
import { optionsSchema } from '../options/json-schema.ts';
import type { AppParts } from './environment.ts';
import {
  describeOperation,
  EMULATOR_HEADER,
  ERROR_RESPONSES,
  type OperationObject,
} from './openapi-operation.ts';
import { operationOf, TAGS } from './operation.ts';
import { ipnOperation } from './service/ipn-operation.ts';

const DESCRIPTION = `A local emulator of a hosted payment gateway and virtual-card service. No real money moves.

Each operation, and each field of the service, tells where it comes from, in words and as x-source: documented (the service interface says so), observed (published clients or deployments of it show it), or chosen (ours). Everything under /_sim is chosen.`;

/** A route as hono lists it. */
interface MountedRoute {
  method: string;
  path: string;
  handler: object;
}

/**
 * The OpenAPI 3.1 document of the service and the control API: the routes that are mounted, and the messages that
 * validate. It is not cheap: load this module only when somebody asks.
 */
export function openApiDocument(
  routes: readonly MountedRoute[],
  { runtime: facts, dialect }: Pick<AppParts, 'runtime' | 'dialect'>,
) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'gateway-sim',
      version: facts.version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: facts.baseUrl() }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(routes),
    webhooks: { ipn: { post: ipnOperation(dialect) } },
    components: {
      schemas: { ...componentSchemas(), Options: optionsSchema() } as Record<string, JsonSchema>,
      responses: ERROR_RESPONSES,
      headers: { Emulator: EMULATOR_HEADER },
      securitySchemes: {
        secretKey: { type: 'http', scheme: 'bearer', description: "The merchant's secret key (documented)." },
        controlToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The control token, asked for when the emulator listens on more than a loopback address; the dashboard keeps it in a cookie.',
        },
      },
    },
  };
}

/** The OpenAPI document. */
export type OpenApiDocument = ReturnType<typeof openApiDocument>;

/** In the order of the groups, and inside each in the order in which they are mounted. */
function pathsOf(routes: readonly MountedRoute[]): Record<string, Record<string, OperationObject>> {
  const listed = routes.flatMap(({ method, path, handler }) => {
    const operation = operationOf(handler);
    return operation
      ? [{ method: method.toLowerCase(), path: path.replace(/:(\w+)/g, '{$1}'), operation }]
      : [];
  });
  const order = Object.keys(TAGS);
  listed.sort((a, b) => order.indexOf(a.operation.tag) - order.indexOf(b.operation.tag));
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const { method, path, operation } of listed) {
    paths[path] = { ...paths[path], [method]: describeOperation(method, path, operation) };
  }
  return paths;
}
