import type { ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

/** The parts of an OpenAPI document that the tests use. */
export interface Document {
  openapi: string;
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: { ipn: { post: Operation } };
  components: Record<string, Record<string, Schema>>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  'x-source': string;
  parameters?: { name: string; in: string; description?: string }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { $ref?: string; content?: Content }>;
}

type Content = Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }>;

export interface Schema {
  [keyword: string]: unknown;
}

/** A request to an operation, and its expected response. */
export interface Call {
  status?: number;
  params?: Record<string, string>;
  query?: Record<string, string>;
  json?: object;
  form?: Record<string, string>;
  headers?: Record<string, string>;
}

/** A schema whose objects must not have unknown fields. The document itself allows these. */
function tightened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tightened);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, part]) => [name, tightened(part)]);
  const isClosed = 'properties' in value && 'type' in value && !('additionalProperties' in value);
  return Object.fromEntries(isClosed ? [...entries, ['additionalProperties', false]] : entries);
}

const pointer = (...parts: string[]) =>
  `doc#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

/** Calls emulators, and checks their responses against the document of one of them. */
export class Contract {
  readonly #document: Document;
  readonly #ajv: Ajv2020.default;
  readonly #compiled = new Map<string, ValidateFunction>();
  /** Every operation and status that occurred, such as `GET /_sim/payments 200`. */
  readonly seen = new Set<string>();

  constructor(document: Document) {
    this.#document = document;
    this.#ajv = new Ajv2020.default({ strict: false, validateSchema: false, allErrors: true });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(tightened(document) as object, 'doc');
  }

  /** How a value violates the schema at this place in the document. */
  problems(value: unknown, ...place: string[]): string[] {
    const $ref = pointer(...place);
    const validate = this.#compiled.get($ref) ?? this.#ajv.compile({ $ref });
    this.#compiled.set($ref, validate);
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
    );
  }

  /** Makes a call, checks the response's status, headers and body, and returns the body. */
  async call<Body>(url: string, operation: string, { status = 200, ...call }: Call = {}): Promise<Body> {
    const [method = '', path = ''] = operation.split(' ');
    const answer = await this.#fetch(url, method, path, call);
    const text = await answer.text();
    expect(`${operation} ${answer.status}`, text).toBe(`${operation} ${status}`);
    expect(answer.headers.get('X-Gateway-Sim')).toBe('1');
    this.seen.add(`${operation} ${status}`);
    const type = answer.headers.get('Content-Type') ?? '';
    expect([operation, this.answerProblems(operation, status, type, text)]).toEqual([operation, []]);
    return type.includes('json') ? JSON.parse(text) : (text as Body);
  }

  /** Whether the document lists this status for an operation. `default` does not count. */
  isNamed(operation: string, status: number): boolean {
    const [method = '', path = ''] = operation.split(' ');
    return status in (this.#document.paths[path]?.[method.toLowerCase()]?.responses ?? {});
  }

  /** How a response violates the document. @param type its Content-Type; empty if missing */
  answerProblems(operation: string, status: number, type: string, text: string): string[] {
    const [method = '', path = ''] = operation.split(' ');
    const place = this.#place(method.toLowerCase(), path, status);
    if (!place) return [`the status ${status} is not described`];
    const content = this.#at(place)['content'] as Content | undefined;
    if (!content) return text === '' ? [] : ['has a body where none is described'];
    const [bare = ''] = type.split(';', 1);
    if (!Object.hasOwn(content, bare)) return [`the type "${bare}" is not described`];
    const body = bare.includes('json') ? JSON.parse(text) : text;
    return this.problems(body, ...place, 'content', bare, 'schema');
  }

  /** The place of a response in the document. `default` applies to errors only. */
  #place(method: string, path: string, status: number): string[] | undefined {
    const responses: Operation['responses'] = this.#document.paths[path]?.[method]?.responses ?? {};
    const key = status in responses || status < 400 ? String(status) : 'default';
    const described = responses[key];
    if (!described) return undefined;
    const to = described.$ref;
    return to === undefined ? ['paths', path, method, 'responses', key] : to.slice(2).split('/');
  }

  #at(place: string[]): Schema {
    return place.reduce((here, part) => here[part] as Schema, this.#document as unknown as Schema);
  }

  #fetch(url: string, method: string, path: string, call: Omit<Call, 'status'>): Promise<Response> {
    const { params = {}, query = {}, json, form, headers = {} } = call;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const search = new URLSearchParams(query).toString();
    const body = json ? JSON.stringify(json) : form ? new URLSearchParams(form) : undefined;
    return fetch(url + filled + (search && `?${search}`), {
      method,
      redirect: 'manual',
      headers: { ...(json && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
    });
  }
}
