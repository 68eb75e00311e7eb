import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { firstProblems, GatewayError, nearestName, STATUS } from '../contract/error.ts';
import { command, type HintStyle, hint, renderHint } from '../contract/hint.ts';
import type { Mode } from '../contract/vocabulary.ts';
import type { Dialect } from '../wire/dialect.ts';

/** The error that anything thrown stands for: a fault of ours is `internal`, and its details stay in the log. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal', 'gateway-sim failed on this request; that is a bug of gateway-sim', {
    hint: hint`The log of ${command('start')} shows where. Please report it.`,
    cause: thrown,
  });
}

/** Maximum problems of one request in the log. */
const NOTED = 6;

/** What the log tells of a refusal: its problems, and what to do. */
export function notesOf({ problems, problemCount, hint: advice }: GatewayError, style: HintStyle): string[] {
  const noted = firstProblems(problems, problemCount, NOTED);
  return advice ? [...noted, renderHint(advice, style)] : [...noted];
}

/** The status of an error. */
export function statusOf({ code }: GatewayError): ContentfulStatusCode {
  return STATUS[code];
}

/** Answers with an error: the only place where one is made, but for initiate, which has a status of its own. */
export function answerError(
  c: Context,
  error: GatewayError,
  dialect: Pick<Dialect, 'serviceError'>,
): Response {
  const { path } = c.req;
  if (error.allow) c.header('Allow', error.allow.join(', '));
  if (error.code === 'unauthorized') c.header('WWW-Authenticate', 'Bearer realm="gateway-sim"');
  const isControl = path === '/_sim' || path.startsWith('/_sim/');
  return c.json(isControl ? error.toJSON() : dialect.serviceError(error), statusOf(error));
}

/** A route as hono lists it. */
interface KnownRoute {
  method: string;
  path: string;
}

/**
 * The error for a path or method that no route answers: 405 where the path is known, else 404 naming the nearest
 * (chosen: route-unknown*, card-route-*).
 */
export function unknownRoute(
  method: string,
  path: string,
  routes: readonly KnownRoute[],
  dialect: Pick<Dialect, 'missingPath' | 'paths'>,
): GatewayError {
  const literal = routes.filter((route) => route.path === path);
  // A path that only lacks its last part is no value of another route's parameter.
  const incomplete = routes.find((route) => route.path.startsWith(`${path}/:`));
  const fitting =
    literal.length || incomplete ? literal : routes.filter((route) => matches(route.path, path));
  const methods = new Set(fitting.map((route) => route.method));
  if (methods.size) {
    const allow = [...methods].sort();
    const names = allow.filter((name) => name !== 'OPTIONS').join(' or ');
    // A word for what is to be done, in the place of a value: `POST …/ipns/fire`.
    const above = path.slice(0, path.lastIndexOf('/'));
    const isMeant = routes.some((route) => route.method === method && route.path === above);
    const meant = isMeant ? `${method} ${above}` : names;
    return new GatewayError('method_not_allowed', `${path} does not answer ${method}: use ${meant}`, {
      allow,
    });
  }
  const missing = dialect.missingPath(path);
  if (missing !== undefined) return new GatewayError('not_found', missing);
  const nearest = incomplete?.path ?? nearestName(path, sameMode(path, routes, dialect.paths.initiate));
  const hint = nearest ? `; the nearest route is ${methodsOf(nearest, routes)} ${nearest}` : '';
  return new GatewayError('not_found', `there is no route ${method} ${path.slice(0, 200)}${hint}`);
}

/** Routes of the mode that a path is meant for: a nearer one of the other mode would move real money, or none. */
function sameMode(
  path: string,
  routes: readonly KnownRoute[],
  { sandbox }: Record<Mode, string>,
): Set<string> {
  const prefix = firstPart(sandbox);
  const isSandbox = (one: string) => firstPart(one) === prefix;
  const wanted = nearestName(firstPart(path), [prefix]) === prefix;
  return new Set(routes.map((route) => route.path).filter((one) => isSandbox(one) === wanted));
}

const firstPart = (path: string): string => path.split('/', 2)[1] ?? '';

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
