import type { ParamKeys } from 'hono/types';
import * as z from 'zod/mini';
import { parseInput } from '../../contract/input.ts';
import { readFields } from '../body.ts';
import type { App, AppContext } from '../environment.ts';
import type { Mask } from '../mask.ts';
import { described, type Operation, type Tag } from '../operation.ts';

type Schema = z.ZodMiniType;
type Awaitable<Value> = Value | Promise<Value>;
/** Masks the secrets of a response. */
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Method and path below `/_sim`, such as `POST /payments/:ref/settle`. */
type RouteKey = `${Method} /${string}`;

type ParamsOf<Path extends string> = [ParamKeys<Path>] extends [never]
  ? unknown
  : Record<ParamKeys<Path>, string>;

type OutputOf<One> = One extends readonly (infer Each)[]
  ? OutputOf<Each>
  : One extends Schema
    ? z.output<One>
    : never;

/** The validated input of a handler. */
interface Input<Key extends string, Query, Body> {
  c: AppContext;
  params: ParamsOf<Key>;
  query: OutputOf<Query>;
  body: OutputOf<Body>;
}

type AnswerSchemas = Schema | readonly Schema[] | null;

/** The description of a control route. */
export interface About<Query, Body, Answer>
  extends Pick<Operation, 'summary' | 'description' | 'params' | 'headers'> {
  query?: Query;
  body?: Body;
  /** Whether the handler reads the body itself, because it may be large. */
  readsBody?: true;
  /** Whether a request without a body means an empty object. */
  optionalBody?: true;
  /** The messages of the response; null if it is not JSON. */
  answer: Answer;
  status?: 200 | 201 | 202;
  type?: string;
  /** Error statuses, except those that follow from path, query and body. */
  errors?: readonly number[];
  /** Whether the response is not masked, because it has no secrets or shows keys on purpose. */
  verbatim?: true;
  /** Whether the route is not guarded, because clients that wait for the emulator need it. */
  open?: true;
}

/** Exported so that the declarations of the routes can name it: without the export, the build fails. */
export interface ControlRoute<
  Key extends RouteKey = RouteKey,
  Query = Schema | undefined,
  Body = Schema | undefined,
  Answer = AnswerSchemas,
> {
  key: Key;
  about: About<Query, Body, Answer>;
  handle: (c: AppContext, mask: Mask) => Promise<Response>;
}

/** Declares a route of the control API. The schemas type the handler. */
export function control<
  const Key extends RouteKey,
  Answer extends AnswerSchemas,
  Query extends Schema | undefined = undefined,
  Body extends Schema | undefined = undefined,
>(
  key: Key,
  about: About<Query, Body, Answer> & {
    run: (input: Input<Key, Query, Body>) => Awaitable<OutputOf<Answer> | Response>;
  },
): ControlRoute<Key, Query, Body, Answer> {
  const handle = async (c: AppContext, mask: Mask) => {
    const input = {
      c,
      params: c.req.param(),
      query: about.open ? undefined : parseInput(about.query ?? NOTHING, queryOf(c)),
      body: about.readsBody ? undefined : await bodyOf(c, about),
    } as unknown as Input<Key, Query, Body>;
    const answer = await about.run(input);
    if (answer instanceof Response) return answer;
    return c.json(about.verbatim ? (answer as object) : mask(answer as object), about.status ?? 200);
  };
  return { key, about, handle };
}

/** The last value of a repeated parameter counts. */
function queryOf(c: AppContext): Record<string, unknown> {
  return Object.fromEntries(Object.entries(c.req.queries()).map(([name, list]) => [name, list.at(-1)]));
}

/** The input of a route that takes none. */
const NOTHING = z.strictObject({});

async function bodyOf(
  c: AppContext,
  { body, optionalBody }: Pick<About<unknown, Schema | undefined, unknown>, 'body' | 'optionalBody'>,
): Promise<unknown> {
  const { 'content-type': type, 'content-length': length, 'transfer-encoding': coding } = c.req.header();
  const read = async (schema: Schema) => parseInput(schema, (await readFields(c, { jsonOnly: true })).fields);
  if (body) {
    const hasBody = length !== '0' && [type, length, coding].some((value) => value !== undefined);
    return optionalBody && !hasBody ? parseInput(body, {}) : read(body);
  }
  // curl labels everything as a form, so only JSON is certainly meant as fields.
  const hasJson = type?.includes('json') && (Number(length) > 0 || coding !== undefined);
  return hasJson ? read(NOTHING) : undefined;
}

export function mountControl(
  app: App,
  groups: Readonly<Partial<Record<Tag, readonly ControlRoute[]>>>,
  mask: Mask,
): void {
  for (const [tag, routes] of Object.entries(groups)) {
    for (const { key, about, handle } of routes) {
      const [method = '', path = ''] = key.split(' ');
      app.on(
        method,
        `/_sim${path}`,
        described(operationFor(path, tag as Tag, about), (c: AppContext) => handle(c, mask)),
      );
    }
  }
}

function operationFor(path: string, tag: Tag, about: ControlRoute['about']): Operation {
  const { query, body, optionalBody, answer, status = 200, type, open, errors = [], ...rest } = about;
  return {
    ...rest,
    tag,
    source: 'chosen',
    security: open ? undefined : 'controlToken',
    query,
    body: body && { schema: body, optional: optionalBody },
    answers: [{ status, type, schemas: [answer ?? []].flat() }],
    errors: open ? [] : [403, ...(path.includes(':') ? [404] : []), 422, ...errors],
  };
}

/** Types of requests and responses by route key, for the client that the CLI and the library share. */
export type ApiOf<Route> = {
  [One in Route as KeyOf<One>]: One extends {
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
