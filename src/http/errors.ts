import type { RouterRoute } from 'hono/types';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { hostName, isLoopback } from '../contract/address.ts';
import { command, ERRORS, GatewayError, hint, nearestName } from '../contract/error.ts';
import { INITIATE_PATHS, missingPath } from '../service/names.ts';
import type { AppContext } from './environment.ts';
import { isControl } from './guard.ts';

/** Converts anything thrown to an error. An unexpected error is `internal`, and its details appear only in the log. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal', 'gateway-sim failed on this request; this is a bug in gateway-sim', {
    hint: hint`The log of ${command('start')} shows the error. Please report it.`,
    cause: thrown,
  });
}

export function statusOf({ code }: GatewayError): ContentfulStatusCode {
  return ERRORS[code].status;
}

type KnownRoute = Pick<RouterRoute, 'method' | 'path'>;

export const requestLine = ({ req }: AppContext) => ({
  method: req.method,
  path: req.path,
  host: req.header('host') ?? '',
});

/**
 * The error for an unknown path or method: 405 for a known path, otherwise 404 with the nearest route (chosen:
 * route-unknown*, card-route-*).
 */
export function unknownRoute(
  { method, path, host }: ReturnType<typeof requestLine>,
  routes: readonly KnownRoute[],
): GatewayError {
  const literal = routes.filter((route) => route.path === path);
  // A path without its last part is incomplete, not a parameter of another route.
  const incomplete = routes.find((route) => route.path.startsWith(`${path}/:`));
  const fitting =
    literal.length || incomplete ? literal : routes.filter((route) => matches(route.path, path));
  if (fitting.length) {
    const isInitiate = path === '/' && method === 'POST';
    const fix = isInitiate
      ? `to initiate a payment, use POST ${INITIATE_PATHS.sandbox}`
      : `use ${methodsOf(fitting).sort().join(' or ')}`;
    const allow = [...new Set(fitting.map((route) => route.method))].sort();
    return new GatewayError('method_not_allowed', `${path} does not support ${method}: ${fix}`, {
      allow,
    });
  }
  const missing = missingPath(path);
  if (missing !== undefined) return new GatewayError('not_found', missing);
  const notFound = (nearest: string | undefined, more = '') => {
    const allowed = methodsOf(routes.filter((route) => route.path === nearest)).join('/');
    const fix = nearest ? `; the nearest route is ${allowed} ${nearest}${more}` : '';
    return new GatewayError('not_found', `there is no route ${method} ${path.slice(0, 200)}${fix}`);
  };
  const clean = `/${path.split('/').filter(Boolean).join('/')}`;
  const ends = routes.map((route) => route.path).filter((one) => one.length > 1 && clean.endsWith(one));
  const end = ends.sort((one, other) => other.length - one.length)[0];
  // Only routes of the same mode: a route of the other mode would move real money, or none.
  const prefix = firstPart(INITIATE_PATHS.sandbox);
  const isSandbox = nearestName(firstPart(path), [prefix]) === prefix;
  if (end !== undefined && (!isSandbox || firstPart(end) === prefix))
    return notFound(end, basePathFix(clean.slice(0, -end.length), host));
  const known = routes.map((route) => route.path).filter((one) => (firstPart(one) === prefix) === isSandbox);
  return notFound(incomplete?.path ?? nearestRoute(path, new Set(known)));
}

/** The nearest route. Those of the emulator have one word after the same beginning, so at most half of it may differ. */
function nearestRoute(path: string, known: Iterable<string>): string | undefined {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return isControl(path) ? nearestName(path, known, Math.floor(last.length / 2)) : nearestName(path, known);
}

/** How to serve the routes below a base path, which some clients have in the address of their gateway. */
function basePathFix(base: string, host: string): string {
  if (base === '' || !/^[\w./~-]{1,80}$/.test(base)) return '';
  const name = hostName(host.replace(/:\d*$/, ''));
  const alias = `--host-alias ${name && !isLoopback(name) ? name : 'pay.example.com'}${base}`;
  return name && !isLoopback(name)
    ? `. To serve all routes below ${base}, start with ${alias}`
    : `. To serve all routes below ${base}, start with --public-url http://${host}${base}, or for another host with ${alias}`;
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
