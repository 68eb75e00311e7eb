import type { ParamKeys } from 'hono/types';
import * as z from 'zod/mini';
import { Live, Ready } from '../../contract/emulator.ts';
import { parseInput } from '../../contract/input.ts';
import { JSON_TYPE } from '../../contract/media-types.ts';
import { maskedIn, type Secrets } from '../../contract/secrets.ts';
import { headersOf, readFields } from '../body.ts';
import type { App, AppContext } from '../environment.ts';
import { PROBES } from '../listener.ts';
import { described, type Operation, type Tag } from '../operation.ts';

type Schema = z.ZodMiniType;
type Awaitable<Value> = Value | Promise<Value>;
/** Method and path below `/_sim`, such as `POST /payments/:ref/settle`. */
type RouteKey = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`;

type ParamsOf<Path extends string> = [ParamKeys<Path>] extends [never]
  ? unknown
  : Record<ParamKeys<Path>, string>;

type OutputOf<One> = One extends readonly (infer Each)[]
  ? OutputOf<Each>
  : One extends Schema
    ? z.output<One>
    : never;

type AnswerSchemas = Schema | readonly Schema[] | null;

/**
 * A route of the control API. Exported so that the declarations of the routes can name it: without the export, the build
 * fails.
 */
export interface ControlRoute<
  Key extends RouteKey = RouteKey,
  Query = Schema | undefined,
  Body = Schema | undefined,
  Answer = AnswerSchemas,
> extends Pick<Operation, 'summary' | 'description' | 'params' | 'headers'> {
  key: Key;
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
  /** Gets the validated input. */
  run(input: {
    c: AppContext;
    params: ParamsOf<Key>;
    query: OutputOf<Query>;
    body: OutputOf<Body>;
  }): Awaitable<OutputOf<Answer> | Response>;
}

/** Declares a route of the control API. The schemas type the handler. */
export function control<
  const Key extends RouteKey,
  Answer extends AnswerSchemas,
  Query extends Schema | undefined = undefined,
  Body extends Schema | undefined = undefined,
>(
  key: Key,
  route: Omit<ControlRoute<Key, Query, Body, Answer>, 'key'>,
): ControlRoute<Key, Query, Body, Answer> {
  return { key, ...route };
}

/** Mounts groups of routes, and masks the keys in their responses. Addresses are as sent. */
export function mountControl(
  app: App,
  groups: Readonly<Partial<Record<Tag, readonly ControlRoute[]>>>,
  secrets: Secrets,
): void {
  for (const [tag, routes] of Object.entries(groups)) {
    for (const route of routes) {
      const [method = '', path = ''] = route.key.split(' ');
      const { body, answer, status = 200, type, errors = [] } = route;
      const describe = (): Operation => ({
        ...route,
        tag: tag as Tag,
        source: 'chosen',
        security: 'controlToken',
        body: body && { schema: body, optional: route.optionalBody },
        answers: [{ status, type, schemas: [answer ?? []].flat() }],
        errors: [403, ...(path.includes(':') ? [404] : []), 422, ...errors],
      });
      const handle = async (c: AppContext) => {
        const result = await route.run({
          c,
          params: c.req.param(),
          query: parseInput(route.query ?? NOTHING, queryOf(c)),
          body: route.readsBody ? undefined : await bodyOf(c, route),
        });
        if (result instanceof Response) return result;
        const text = JSON.stringify(result);
        // Nearly no response has a secret.
        const hasSecret = !route.verbatim && secrets.maskKeys(text) !== text;
        const shown = hasSecret ? JSON.stringify(maskedIn(result, secrets.maskKeys)) : text;
        return c.body(shown, status, { 'Content-Type': JSON_TYPE });
      };
      app.on(method, `/_sim${path}`, described(describe, handle));
    }
  }
}

/** Mounts the probes, with their descriptions. The listener answers nearly all of them before the app. */
export function mountProbes(app: App): void {
  const probes = [
    ['/_sim/livez', 'Check that the process responds', Live],
    ['/_sim/readyz', 'Check that the state is loaded and requests are accepted', Ready],
  ] as const;
  for (const [path, summary, schema] of probes) {
    const describe = (): Operation => ({
      tag: 'Control: emulator',
      summary,
      source: 'chosen',
      answers: [{ status: 200, schemas: [schema] }],
      errors: [],
    });
    app.get(
      path,
      described(describe, (c: AppContext) => c.json(PROBES[path])),
    );
  }
}

/** The last value of a repeated parameter counts. */
function queryOf(c: AppContext): Record<string, unknown> {
  return Object.fromEntries(Object.entries(c.req.queries()).map(([name, list]) => [name, list.at(-1)]));
}

/** The input of a route that takes none. */
const NOTHING = z.strictObject({});

async function bodyOf(
  c: AppContext,
  { body, optionalBody }: Pick<ControlRoute, 'body' | 'optionalBody'>,
): Promise<unknown> {
  const { 'content-type': type, 'content-length': length, 'transfer-encoding': coding } = headersOf(c);
  const read = async (schema: Schema) => parseInput(schema, (await readFields(c, { jsonOnly: true })).fields);
  if (body) {
    const hasBody = length !== '0' && [type, length, coding].some((value) => value !== undefined);
    return optionalBody && !hasBody ? parseInput(body, {}) : read(body);
  }
  // curl labels everything as a form, so only JSON is certainly meant as fields.
  const hasJson = type?.includes('json') && (Number(length) > 0 || coding !== undefined);
  return hasJson ? read(NOTHING) : undefined;
}

/** Types of requests and responses by route key, for the client that the CLI and the library share. */
export type ApiOf<Route> = {
  [One in Route as KeyOf<One>]: One extends { query?: infer Query; body?: infer Body; answer: infer Answer }
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
