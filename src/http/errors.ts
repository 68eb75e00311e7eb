import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { command, GatewayError, hint, nearestName, STATUS } from '../contract/error.ts';
import type { Dialect } from '../wire/dialect.ts';

/** Converts anything thrown to an error. An unexpected error is `internal`, and its details appear only in the log. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal', 'gateway-sim failed on this request; this is a bug in gateway-sim', {
    hint: hint`The log of ${command('start')} shows the error. Please report it.`,
    cause: thrown,
  });
}

export function statusOf({ code }: GatewayError): ContentfulStatusCode {
  return STATUS[code];
}

/** A route as Hono lists it. */
interface KnownRoute {
  method: string;
  path: string;
}

/**
 * The error for an unknown path or method: 405 for a known path, otherwise 404 with the nearest route (chosen:
 * route-unknown*, card-route-*).
 */
export function unknownRoute(
  method: string,
  path: string,
  routes: readonly KnownRoute[],
  { missingPath, paths }: Pick<Dialect, 'missingPath' | 'paths'>,
): GatewayError {
  const literal = routes.filter((route) => route.path === path);
  // A path without its last part is incomplete, not a parameter of another route.
  const incomplete = routes.find((route) => route.path.startsWith(`${path}/:`));
  const fitting =
    literal.length || incomplete ? literal : routes.filter((route) => matches(route.path, path));
  if (fitting.length) {
    // A verb instead of an id: `POST …/ipns/fire`.
    const above = path.slice(0, path.lastIndexOf('/'));
    const isMeant =
      !literal.length && routes.some((route) => route.method === method && route.path === above);
    const meant = isMeant ? `${method} ${above}` : methodsOf(fitting).sort().join(' or ');
    const allow = [...new Set(fitting.map((route) => route.method))].sort();
    return new GatewayError('method_not_allowed', `${path} does not support ${method}: use ${meant}`, {
      allow,
    });
  }
  const missing = missingPath(path);
  if (missing !== undefined) return new GatewayError('not_found', missing);
  // Only routes of the same mode: a route of the other mode would move real money, or none.
  const prefix = firstPart(paths.initiate.sandbox);
  const isSandbox = nearestName(firstPart(path), [prefix]) === prefix;
  const known = routes.map((route) => route.path).filter((one) => (firstPart(one) === prefix) === isSandbox);
  const nearest = incomplete?.path ?? nearestName(path, new Set(known));
  const allowed = methodsOf(routes.filter((route) => route.path === nearest)).join('/');
  const fix = nearest ? `; the nearest route is ${allowed} ${nearest}` : '';
  return new GatewayError('not_found', `there is no route ${method} ${path.slice(0, 200)}${fix}`);
}

const firstPart = (path: string): string => path.split('/', 2)[1] ?? '';

/** The methods of routes for humans, each once. */
function methodsOf(routes: readonly KnownRoute[]): string[] {
  return [...new Set(routes.map(({ method }) => method))].filter((method) => method !== 'OPTIONS');
}

function matches(pattern: string, path: string): boolean {
  const want = pattern.split('/');
  const have = path.split('/');
  return (
    want.length === have.length &&
    want.every((part, index) => part === have[index] || (part.startsWith(':') && have[index] !== ''))
  );
}
