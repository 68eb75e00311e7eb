import type { RouterRoute } from 'hono/types';
import { ControlError, ServiceError } from '../contract/error-body.ts';
import { SimEvent } from '../contract/event.ts';
import { type Field, type JsonSchema, MESSAGES, type Message, messageOf } from '../contract/field.ts';
import { componentSchemas, inlineSchema, ref } from '../contract/json-schema.ts';
import { FORM_TYPE, HTML_TYPE, JSON_TYPE } from '../contract/media-types.ts';
import { SOURCES } from '../contract/vocabulary.ts';
import { Ipn } from '../service/ipn.ts';
import { manifestLines } from '../system/manifest-lines.ts';
import { VERSION } from '../system/package-info.ts';
import type { AppDependencies } from './environment.ts';
import { type Answer, type Operation, operationOf, TAGS, type Tag } from './operation.ts';

const DESCRIPTION = `A local emulator of a hosted payment gateway and virtual-card service. No real money moves.

Each operation and each field of the service has a source, in its description and as x-source: documented (by the service interface), observed (in published clients or deployments), or chosen (by gateway-sim). x-fidelity lists the lines of fixtures/fidelity/manifest.jsonl that prove it, each with its own source. Everything under /_sim is chosen.`;

/**
 * The OpenAPI 3.1 document of the service and the control API, from the mounted routes and the schemas that validate
 * messages. This is slow: load this module only on request.
 */
export function openApiDocument(
  routes: readonly RouterRoute[],
  { runtime }: Pick<AppDependencies, 'runtime'>,
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
    webhooks: { ipn: { post: ipnOperation() } },
    components: {
      schemas: sourced(componentSchemas()),
      responses: ERROR_RESPONSES,
      headers: { Emulator: EMULATOR_HEADER },
      securitySchemes: {
        secretKey: { type: 'http', scheme: 'bearer', description: "The merchant's secret key." },
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
  const found = new Map<Message | Field | undefined, ReturnType<typeof manifestLines>>();
  for (const line of manifestLines()) {
    for (const place of line.proves ?? []) {
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
    const sources = SOURCES.filter((source) => lines.some(({ source: { kind } }) => kind === source));
    return {
      ...schema,
      description: `${schema.description} Source: ${sources.join(', ')}.`,
      'x-source': sources[0],
      'x-fidelity': lines.map(({ id }) => id),
    };
  };
  return mapValues(schemas, (schema, name) => {
    const message = MESSAGES.get(name);
    const properties =
      schema.properties &&
      mapValues(schema.properties, (one, field) => withSources(one, message?.fields?.[field]));
    return withSources({ ...schema, ...(properties && { properties }) }, message);
  });
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
function ipnOperation(): OperationObject {
  return {
    ...describeOperation('ipn', '', {
      tag: 'Service: payments',
      summary: 'Instant payment notification',
      description: 'Posted to the ipn_url of a payment when it succeeds. Other outcomes need --ipn-on.',
      source: 'documented',
      lines: 'ipn-*, signature*',
      body: { types: [FORM_TYPE, JSON_TYPE], schema: Ipn },
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
        description: 'Any other response, or none within 10 s: not accepted. Sent again only with retries.',
      },
    },
  };
}

type OperationObject = ReturnType<typeof describeOperation>;

type ContentObject = Readonly<Record<string, { schema: JsonSchema; examples?: object | undefined }>>;

interface ResponseObject {
  description: string;
  headers?: object;
  content?: ContentObject | undefined;
}

const TEXT: JsonSchema = { type: 'string' };

/** Part of every response. */
const EMULATOR_HEADER = {
  description: 'Always 1: marks responses of the emulator.',
  required: true,
  schema: { type: 'string', const: '1' },
};
const OURS = { 'X-Gateway-Sim': { $ref: '#/components/headers/Emulator' } };

/** The meaning of each error status. */
const MEANINGS: Readonly<Record<string, string>> = {
  400: 'The body cannot be read.',
  401: 'The key or token is missing or wrong.',
  403: 'Rejected: a page on another site, an unknown Host, or a forbidden IPN address.',
  404: 'Not found.',
  405: 'The path does not support this method. Allow lists the supported methods.',
  409: 'The current state of the record does not allow this.',
  410: 'The payment has expired.',
  413: 'The body is too large.',
  415: 'The Content-Type is not supported.',
  422: 'Fields are missing or invalid. Each is named.',
  504: 'The operation did not end within the time limit.',
  507: 'Any route: a change could not be stored and was not applied.',
  default: 'Any other error.',
};

/** The format of an error by side: pages for humans, JSON for programs. */
const SHAPES = {
  service: { [JSON_TYPE]: { schema: ref(ServiceError) } },
  checkout: { [HTML_TYPE]: { schema: TEXT }, [JSON_TYPE]: { schema: ref(ServiceError) } },
  control: { [JSON_TYPE]: { schema: ref(ControlError) } },
} satisfies Record<string, ContentObject>;

function sideOf(tag: Tag): keyof typeof SHAPES {
  if (tag === 'Service: checkout') return 'checkout';
  return tag.startsWith('Control') ? 'control' : 'service';
}

/** Every error in each format, as components. */
const ERROR_RESPONSES: Readonly<Record<string, ResponseObject>> = Object.fromEntries(
  Object.entries(SHAPES).flatMap(([side, content]) =>
    Object.entries(MEANINGS).map(([status, description]) => [
      `${side}-${status}`,
      { description, headers: OURS, content },
    ]),
  ),
);

const SECURITY: Readonly<Record<NonNullable<Operation['security']>, readonly object[]>> = {
  controlToken: [{}, { controlToken: [] }],
  secretKey: [{ secretKey: [] }],
};

function describeOperation(method: string, path: string, operation: Operation) {
  const { tag, summary, description, source, lines, security, body, answers } = operation;
  const parameters = parametersOf(path, operation);
  const errors = [...(security ? [401] : []), ...(body ? [400, 413, 415] : []), ...operation.errors, 507];
  return {
    // `post /_sim/ipns/{id}/resend` → `postSimIpnsIdResend`
    operationId: (method + path).replace(/[^a-zA-Z0-9]+(.)?/g, (_, next = '') => next.toUpperCase()),
    tags: [tag],
    summary,
    description: [description, `Source: ${source}.`].filter(Boolean).join(' '),
    'x-source': source,
    'x-fidelity': lines && linesMatching(lines),
    security: security && SECURITY[security],
    parameters: parameters.length ? parameters : undefined,
    requestBody: body && { required: !body.optional, content: contentOf(body) },
    responses: {
      ...Object.fromEntries(answers.map((answer) => [answer.status, response(answer, summary)])),
      ...Object.fromEntries(
        ['default', ...errors].map((status) => [
          status,
          { $ref: `#/components/responses/${sideOf(tag)}-${status}` },
        ]),
      ),
    },
  };
}

/** The ids of the manifest lines that match any of these patterns, in which `*` matches anything. */
export function linesMatching(patterns: string): string[] {
  const pattern = new RegExp(`^(?:${patterns.replaceAll(', ', '|').replaceAll('*', '.*')})$`);
  return manifestLines()
    .map(({ id }) => id)
    .filter((id) => pattern.test(id));
}

function contentOf({ types = [JSON_TYPE], schema }: NonNullable<Operation['body']>): ContentObject {
  const value = messageOf(schema)?.example;
  const examples = value === undefined ? undefined : { example: { value } };
  return Object.fromEntries(types.map((type) => [type, { schema: ref(schema), examples }]));
}

function mapValues<Value, Result>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Result,
) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}

function response(answer: Answer, summary: string): ResponseObject {
  const { status, type = JSON_TYPE, headers = {} } = answer;
  const named = (answer.schemas ?? []).filter((schema) => messageOf(schema));
  const [only, ...more] = named;
  const about = only && !more.length ? messageOf(only)?.description : undefined;
  const schema = more.length ? { anyOf: named.map(ref) } : only && ref(only);
  const body = { schema: schema ?? (type === JSON_TYPE ? { type: 'object' } : TEXT) };
  // OpenAPI 3.1 has no schema for the items of a stream.
  const eventData = type === 'text/event-stream' && { 'x-event-data': ref(SimEvent) };
  return {
    description: answer.description ?? about ?? `${summary}.`,
    headers: { ...OURS, ...mapValues(headers, (description) => ({ description, schema: TEXT })) },
    content: status < 300 ? { [type]: { ...body, ...eventData } } : undefined,
  };
}

function parameter(name: string, place: string, description: string, required = true, schema = TEXT) {
  return { name, in: place, required, description, schema };
}

function parametersOf(path: string, { params = {}, query, headers = {} }: Operation) {
  const { properties = {}, required = [] } = query ? inlineSchema(query) : {};
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
      parameter(name, 'path', params[name] ?? 'Id of the record.'),
    ),
    ...Object.entries(properties).map(([name, { description = '', ...schema }]) =>
      parameter(name, 'query', description, required.includes(name), schema),
    ),
    ...Object.entries(headers).map(([name, description]) => parameter(name, 'header', description, false)),
  ];
}
