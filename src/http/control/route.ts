import type { Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type * as z from 'zod/mini';
import { messageOf } from '../../contract/field.ts';
import { parseInput } from '../../contract/input.ts';
import { readJsonBody, readStateBody } from '../body.ts';
import type { AppContext, AppEnvironment } from '../environment.ts';
import { described, JSON_TYPE, type Operation, type Tag } from '../operation.ts';

type Schema = z.ZodMiniType;
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Method and path below `/_sim`, such as `POST /payments/:ref/settle`. */
export type RouteKey = `${Method} /${string}`;

/** The parameters in the path of a route. */
export type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [Key in Name]: string } & ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { [Key in Name]: string }
    : unknown;

type OutputOf<One> = One extends readonly (infer Each)[]
  ? OutputOf<Each>
  : One extends Schema
    ? z.output<One>
    : never;

/** What a handler gets: everything that came in, checked. */
export interface Input<Key extends string, Query, Body> {
  c: AppContext;
  params: ParamsOf<Key>;
  query: Query extends Schema ? z.output<Query> : undefined;
  body: Body extends Schema ? z.output<Body> : undefined;
}

/** What is said of a control route; all of them are chosen. */
export interface About<Query, Body, Answer> {
  tag: Tag;
  summary: string;
  description?: string;
  query?: Query;
  body?: Body;
  /** A whole state: up to 256 MiB, checked by the rules of a state. */
  isState?: true;
  /** A request without any body is for an empty object. */
  optionalBody?: true;
  /** Its messages; null for what is no JSON message of ours. */
  answer: Answer;
  status?: 200 | 201;
  type?: string;
  params?: Operation['params'];
  headers?: Operation['headers'];
  /** Statuses of errors beside those that follow from path, query and body. */
  errors?: readonly number[];
  /** Asked by whatever waits for the emulator: guarded by nothing. */
  open?: true;
}

/** A route of the control API with its schemas, its operation and its handler. */
export interface ControlRoute<
  Key extends RouteKey = RouteKey,
  Query = unknown,
  Body = unknown,
  Answer = unknown,
> {
  key: Key;
  about: About<Query, Body, Answer>;
  handle: (c: AppContext) => Promise<Response>;
}

/** Declares a route of the control API. */
export function control<
  const Key extends RouteKey,
  Answer extends Schema | readonly Schema[] | null,
  Query extends Schema | undefined = undefined,
  Body extends Schema | undefined = undefined,
>(
  key: Key,
  about: About<Query, Body, Answer>,
  answer: (
    input: Input<Key, Query, Body>,
  ) => OutputOf<Answer> | Response | Promise<OutputOf<Answer> | Response>,
): ControlRoute<Key, Query, Body, Answer> {
  const handle = async (c: AppContext) => {
    const input = {
      c,
      params: c.req.param(),
      query: about.query && parseInput(about.query, queryOf(c)),
      body: about.isState
        ? await readStateBody(c)
        : about.body && parseInput(about.body, await bodyOf(c, about.optionalBody)),
    } as unknown as Input<Key, Query, Body>;
    const answered = await answer(input);
    return answered instanceof Response
      ? answered
      : c.json(answered as object, (about.status ?? 200) as ContentfulStatusCode);
  };
  return { key, about, handle };
}

/** Of a repeated parameter the last counts. */
function queryOf(c: Context): Record<string, unknown> {
  return Object.fromEntries(Object.entries(c.req.queries()).map(([name, list]) => [name, list.at(-1)]));
}

async function bodyOf(c: AppContext, isOptional: true | undefined): Promise<object> {
  const signs = ['content-type', 'content-length', 'transfer-encoding'].map((name) => c.req.header(name));
  const hasBody = c.req.header('content-length') !== '0' && signs.some((value) => value !== undefined);
  return isOptional && !hasBody ? {} : (await readJsonBody(c)).fields;
}

/** Mounts routes of the control API below a path. */
export function mountControl(
  app: Hono<AppEnvironment>,
  base: string,
  routes: readonly { key: RouteKey; about: object; handle: ControlRoute['handle'] }[],
): void {
  for (const { key, about, handle } of routes as readonly ControlRoute[]) {
    const [method = '', path = ''] = key.split(' ');
    app.on(method, base + path, described(operationFor(path, about), handle));
  }
}

function operationFor(path: string, about: ControlRoute['about']): Operation {
  const { tag, summary, description, status = 200, type, params, headers, errors = [], open } = about;
  const query = about.query as Schema | undefined;
  const body = about.body as Schema | undefined;
  const schemas = [about.answer].flat().filter((schema) => schema !== null) as Schema[];
  const [only, ...more] = schemas;
  const example = body && messageOf(body)?.example;
  const refusals = body ? [400, 413, 415, 422] : query ? [422] : [];
  return {
    ...{ tag, side: 'control', summary, source: 'chosen' },
    ...(description !== undefined && { description }),
    ...(open ? {} : { security: 'controlToken' }),
    ...(query && { query }),
    ...(params && { params }),
    ...(headers && { headers }),
    ...(body && {
      body: {
        types: [JSON_TYPE],
        schema: body,
        ...(about.optionalBody && { optional: true }),
        ...(example !== undefined && { examples: { example } }),
      },
    }),
    answers: [
      {
        status,
        description: (!more.length && only && messageOf(only)?.description) || `${summary}.`,
        ...(type !== undefined && { type }),
        ...(only && { schemas }),
      },
    ],
    errors: open ? [] : [401, 403, ...(path.includes(':') ? [404] : []), ...refusals, ...errors],
  } satisfies Operation as Operation;
}

/** What requests and responses of routes are, by key: what the client of CLI and library is typed with. */
export type ApiOf<Routes extends readonly unknown[]> = {
  [One in Routes[number] as KeyOf<One>]: One extends {
    about: { query?: infer Query; body?: infer Body; answer: infer Answer };
  }
    ? {
        param: ParamsOf<KeyOf<One>>;
        query: InputOf<Query>;
        json: InputOf<Body>;
        answer: OutputOf<Answer>;
      }
    : never;
};

type KeyOf<One> = One extends { key: infer Key extends RouteKey } ? Key : never;
type InputOf<One> = Extract<One, Schema> extends never ? undefined : z.input<Extract<One, Schema>>;
