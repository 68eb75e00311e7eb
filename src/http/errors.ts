import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorCode, GatewayError, nearestName } from '../contract/error.ts';
import { command, type Hint, hint } from '../contract/hint.ts';
import { REFUSALS, type ServiceError, serviceError } from '../wire/errors.ts';

/** HTTP status of each error. Refused initiates are answered 200 unless `--error-status http` (observed). */
export const STATUS = {
  invalid_fields: 422,
  unsupported_currency: 422,
  invalid_api_key: 401,
  unparseable_body: 400,
  unsupported_media_type: 415,
  body_too_large: 413,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  wrong_state: 409,
  expired: 410,
  insufficient_funds: 409,
  storage_failed: 507,
  state_damaged: 500,
  folder_in_use: 500,
  port_in_use: 500,
  no_server: 500,
  timed_out: 504,
  usage: 422,
  check_failed: 422,
  internal: 500,
} as const satisfies Record<ErrorCode, ContentfulStatusCode>;

/** The shape of the service's errors; the rest, under /_sim only: chosen. */
export interface ErrorBody extends ServiceError {
  code?: ErrorCode;
  /** What to do about it, as the documentation would write it. */
  remedy?: string;
  /** The same as data, for programs that write commands and options in their own way. */
  hint?: Hint;
}

/** The error that anything thrown stands for: a fault of ours is `internal`, and its details stay in the log. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal', 'gateway-sim failed on this request; that is a bug of gateway-sim', {
    hint: hint`The log of ${command('start')} shows where. Please report it.`,
    cause: thrown,
  });
}

/** So many problems of one request are told in the log. */
const NOTED = 5;

/** What the log tells of a refusal: its problems, and what to do. */
export function notesOf({ problems, remedy }: GatewayError): string[] {
  const more = problems.length - NOTED;
  return [
    ...problems.slice(0, NOTED),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(remedy === undefined ? [] : [remedy]),
  ];
}

/** The body of an error. The service's own routes get the documented keys only, `/_sim` also code and remedy. */
export function errorBody(error: GatewayError, forControl: boolean): ErrorBody {
  const body = serviceError(error);
  if (!forControl) return body;
  const { code, remedy, hint: advice } = error;
  return { ...body, code, ...(remedy !== undefined && { remedy }), ...(advice && { hint: advice }) };
}

/** The status of an error; `refusalStatus: 'ok'` is for initiate. */
export function statusOf(error: GatewayError, refusalStatus: 'ok' | 'http' = 'http'): ContentfulStatusCode {
  return refusalStatus === 'ok' && REFUSALS.has(error.code) ? 200 : STATUS[error.code];
}

/** Answers with an error: the only place where one is made. */
export function answerError(c: Context, thrown: unknown, refusalStatus: 'ok' | 'http' = 'http'): Response {
  const error = asGatewayError(thrown);
  const { path } = c.req;
  const forControl = path === '/_sim' || path.startsWith('/_sim/');
  if (error.allow) c.header('Allow', error.allow.join(', '));
  if (error.code === 'unauthorized') c.header('WWW-Authenticate', 'Bearer realm="gateway-sim"');
  return c.json(errorBody(error, forControl), statusOf(error, refusalStatus));
}

/** A route as hono lists it. */
interface KnownRoute {
  method: string;
  path: string;
}

/** The error for a path or method that no route answers: 405 where the path is known, else 404 naming the nearest. */
export function unknownRoute(method: string, path: string, routes: readonly KnownRoute[]): GatewayError {
  const literal = routes.filter((route) => route.path === path);
  // A path that only lacks its last part is no value of another route's parameter.
  const incomplete = routes.find((route) => route.path.startsWith(`${path}/:`));
  const fitting =
    literal.length || incomplete ? literal : routes.filter((route) => matches(route.path, path));
  const methods = new Set(fitting.map((route) => route.method));
  if (methods.size) {
    const allow = [...methods].sort();
    return new GatewayError(
      'method_not_allowed',
      `${path} does not answer ${method}: use ${allow.filter((name) => name !== 'OPTIONS').join(' or ')}`,
      { allow },
    );
  }
  if (/^\/sandbox\/api\/cards(\/|$)/.test(path)) {
    return new GatewayError(
      'not_found',
      `${path} does not exist: cards exist in live mode only, under /api/cards`,
    );
  }
  const nearest = incomplete?.path ?? nearestName(path, new Set(routes.map((route) => route.path)));
  const hint = nearest ? `; the nearest route is ${methodsOf(nearest, routes)} ${nearest}` : '';
  return new GatewayError('not_found', `there is no route ${method} ${path.slice(0, 200)}${hint}`);
}

function methodsOf(path: string, routes: readonly KnownRoute[]): string {
  return [
    ...new Set(
      routes.filter((route) => route.path === path && route.method !== 'OPTIONS').map(({ method }) => method),
    ),
  ].join('/');
}

function matches(pattern: string, path: string): boolean {
  const want = pattern.split('/');
  const have = path.split('/');
  return (
    want.length === have.length &&
    want.every((part, index) => part === have[index] || (part.startsWith(':') && have[index] !== ''))
  );
}
