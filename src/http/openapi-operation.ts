import { ControlError, ServiceError } from '../contract/error-body.ts';
import { SimEvent } from '../contract/event.ts';
import { type JsonSchema, messageOf } from '../contract/field.ts';
import { inlineSchema, ref } from '../contract/json-schema.ts';
import { MANIFEST_LINES } from '../system/manifest-lines.ts';
import { type Answer, type Examples, HTML_TYPE, JSON_TYPE, type Operation, type Tag } from './operation.ts';

/** An operation of the document. */
export type OperationObject = ReturnType<typeof describeOperation>;

type ContentObject = Readonly<Record<string, ReturnType<typeof media>>>;

/** Exported so that the declaration of the document can name it: without the export, the build fails. */
export interface ResponseObject {
  description: string;
  headers?: object;
  content?: ContentObject | undefined;
}

const TEXT: JsonSchema = { type: 'string' };

/** Part of every response. */
export const EMULATOR_HEADER = {
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
  service: { [JSON_TYPE]: media(ref(ServiceError)) },
  checkout: { [HTML_TYPE]: media(TEXT), [JSON_TYPE]: media(ref(ServiceError)) },
  control: { [JSON_TYPE]: media(ref(ControlError)) },
  page: { [HTML_TYPE]: media(TEXT), [JSON_TYPE]: media(ref(ControlError)) },
} satisfies Record<string, ContentObject>;

function sideOf(tag: Tag): keyof typeof SHAPES {
  if (tag === 'Service: checkout') return 'checkout';
  if (tag === 'Dashboard') return 'page';
  return tag.startsWith('Control') ? 'control' : 'service';
}

/** Every error in each format, as components. */
export const ERROR_RESPONSES: Readonly<Record<string, ResponseObject>> = Object.fromEntries(
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

export function describeOperation(method: string, path: string, operation: Operation) {
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
  return MANIFEST_LINES.map(({ id }) => id).filter((id) => pattern.test(id));
}

function contentOf({ types = [JSON_TYPE], schema, examples }: NonNullable<Operation['body']>): ContentObject {
  const example = messageOf(schema)?.example;
  const mediaExamples = examples ?? (example === undefined ? undefined : { example });
  return Object.fromEntries(types.map((type) => [type, media(ref(schema), mediaExamples)]));
}

function media(schema: JsonSchema, examples?: Examples) {
  return { schema, examples: examples && mapValues(examples, (value) => ({ value })) };
}

function mapValues<Value, Result>(values: Readonly<Record<string, Value>>, change: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

function response(answer: Answer, summary: string): ResponseObject {
  const { status, type = JSON_TYPE, headers = {}, examples } = answer;
  const named = (answer.schemas ?? []).filter((schema) => messageOf(schema));
  const [only, ...more] = named;
  const about = only && !more.length ? messageOf(only)?.description : undefined;
  const schema = more.length ? { anyOf: named.map(ref) } : only && ref(only);
  const body = media(schema ?? (type === JSON_TYPE ? { type: 'object' } : TEXT), examples);
  // OpenAPI 3.1 has no schema for the items of a stream.
  const eventData = type === 'text/event-stream' && { 'x-event-data': ref(SimEvent) };
  return {
    description: answer.description ?? about ?? `${summary}.`,
    headers: { ...OURS, ...mapValues(headers, (description) => ({ description, schema: TEXT })) },
    content: status < 300 ? { [type]: { ...body, ...eventData } } : undefined,
  };
}

export function parameter(name: string, place: string, description: string, required = true, schema = TEXT) {
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
