import { ControlError, ServiceError } from '../contract/error-body.ts';
import { SimEvent } from '../contract/event.ts';
import { type JsonSchema, messageOf } from '../contract/field.ts';
import { inlineSchema, ref } from '../contract/json-schema.ts';
import type { Source } from '../contract/vocabulary.ts';
import { type Answer, type Examples, HTML_TYPE, JSON_TYPE, type Operation, type Side } from './operation.ts';

/** A header, without its name. */
export interface HeaderObject {
  description: string;
  required?: boolean;
  schema: JsonSchema;
}

/** A parameter of a request. */
export interface ParameterObject {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: JsonSchema;
}

/** The bodies that go with media types. */
export type ContentObject = Readonly<
  Record<string, { schema: JsonSchema; examples?: Readonly<Record<string, { value: unknown }>> }>
>;

/** An answer, or where it is described. */
export type ResponseObject =
  | { $ref: string }
  | {
      description: string;
      headers?: Readonly<Record<string, HeaderObject | { $ref: string }>>;
      content?: ContentObject;
    };

/** An operation as it stands in the document. */
export interface OperationObject {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  'x-source': Source;
  security?: readonly Readonly<Record<string, readonly string[]>>[];
  parameters?: readonly ParameterObject[];
  requestBody?: { required: boolean; content: ContentObject };
  responses: Readonly<Record<string, ResponseObject>>;
}

/** On every answer. */
export const EMULATOR_HEADER: HeaderObject = {
  description: 'Always 1: nothing here may be mistaken for a real gateway (chosen).',
  required: true,
  schema: { type: 'string', const: '1' },
};
const OURS = { 'X-Gateway-Sim': { $ref: '#/components/headers/Emulator' } };

/** What each status of an error means. */
const MEANINGS: Readonly<Record<string, string>> = {
  400: 'The body cannot be read.',
  401: 'The key or token is missing or wrong.',
  403: 'Refused: another site, an unknown Host, or an address that IPNs are not let out to.',
  404: 'Not found.',
  405: 'The path does not answer this method; Allow names those that it does.',
  409: 'The record is in a state in which this is refused.',
  410: 'The payment has expired.',
  413: 'The body is too large.',
  415: 'The Content-Type is none of those that are read.',
  422: 'Fields are missing or wrong; each is named.',
  504: 'It took too long, and got only so far.',
  default: 'Any other error.',
};

/** What an error looks like from each side: people get pages, programs JSON. */
const SHAPES: Readonly<Record<Side, ContentObject>> = {
  service: { [JSON_TYPE]: { schema: ref(ServiceError) } },
  checkout: { [HTML_TYPE]: { schema: { type: 'string' } }, [JSON_TYPE]: { schema: ref(ServiceError) } },
  control: { [JSON_TYPE]: { schema: ref(ControlError) } },
  page: { [HTML_TYPE]: { schema: { type: 'string' } }, [JSON_TYPE]: { schema: ref(ControlError) } },
};

const errorName = (side: Side, status: string) => `${side}-${status}`;

/** Every error of every side, to be referred to. */
export const ERROR_RESPONSES: Readonly<Record<string, ResponseObject>> = Object.fromEntries(
  Object.entries(SHAPES).flatMap(([side, content]) =>
    Object.entries(MEANINGS).map(([status, description]) => [
      errorName(side as Side, status),
      { description, headers: OURS, content },
    ]),
  ),
);

/** An operation as it stands in the document. */
export function describeOperation(method: string, path: string, operation: Operation): OperationObject {
  const { tag, side, summary, description, source, security, body } = operation;
  const parameters = parametersOf(path, operation);
  return {
    operationId: operationId(method, path),
    tags: [tag],
    summary,
    description: [description, `Source: ${source}.`].filter(Boolean).join(' '),
    'x-source': source,
    ...(security && {
      security: security === 'controlToken' ? [{}, { controlToken: [] }] : [{ secretKey: [] }],
    }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: Object.fromEntries(
          body.types.map((type) => [type, { schema: ref(body.schema), ...examplesOf(body.examples) }]),
        ),
      },
    }),
    responses: {
      ...Object.fromEntries(operation.answers.map((answer) => [answer.status, response(answer)])),
      ...Object.fromEntries(
        ['default', ...operation.errors].map((status) => [
          status,
          { $ref: `#/components/responses/${errorName(side, String(status))}` },
        ]),
      ),
    },
  };
}

/** `post /_sim/ipns/{id}/resend` → `postSimIpnsIdResend`. */
function operationId(method: string, path: string): string {
  return (
    method + path.replace(/[^a-zA-Z0-9]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '')
  );
}

function examplesOf(examples: Examples | undefined) {
  if (!examples) return {};
  return {
    examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
  };
}

function response({
  description,
  type = JSON_TYPE,
  schemas,
  headers,
  examples,
  status,
}: Answer): ResponseObject {
  return {
    description: description ?? aboutOf(schemas) ?? 'Done.',
    headers: {
      ...OURS,
      ...Object.fromEntries(
        Object.entries(headers ?? {}).map(([name, { description: about, ...schema }]) => [
          name,
          { description: about, schema },
        ]),
      ),
    },
    ...(status < 300 && {
      content: { [type]: { schema: bodySchema(type, schemas), ...eventData(type), ...examplesOf(examples) } },
    }),
  };
}

/** OpenAPI 3.1 knows no schema for the items of a stream. */
function eventData(type: string): JsonSchema {
  return type === 'text/event-stream' ? { 'x-event-data': ref(SimEvent) } : {};
}

/** What the response is, where one message says so. */
function aboutOf(schemas: Answer['schemas'] = []): string | undefined {
  const [only, ...more] = schemas;
  return only && !more.length ? messageOf(only)?.description : undefined;
}

function bodySchema(type: string, schemas: Answer['schemas']): JsonSchema {
  const [first, ...more] = schemas ?? [];
  if (first === undefined) return { type: type === JSON_TYPE ? 'object' : 'string' };
  if (messageOf(first) === undefined) return { type: 'object' };
  return more.length ? { anyOf: [first, ...more].map(ref) } : ref(first);
}

/** What is said of a parameter in a path, unless its operation says more. */
const PATH_PARAMETERS: Readonly<Record<string, string>> = { id: 'Id of the record.' };

function parametersOf(path: string, { params, query, headers }: Operation): ParameterObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: params?.[name] ?? PATH_PARAMETERS[name] ?? '',
    schema: { type: 'string' },
  }));
  const inHeader = Object.entries(headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
  return [...inPath, ...(query ? queryParameters(query) : []), ...inHeader];
}

function queryParameters(query: NonNullable<Operation['query']>): ParameterObject[] {
  const { properties = {}, required = [] } = inlineSchema(query);
  return Object.entries(properties).map(([name, { description = '', 'x-source': _, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description,
    schema,
  }));
}
