import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { bareHost, isLoopback } from '../contract/address.ts';
import { GatewayError, hint, option } from '../contract/error.ts';
import { sameSecret } from '../system/secret.ts';
import type { AppContext, AppEnvironment, ServerRuntime } from './environment.ts';
import { proxied } from './listener.ts';

/** The cookie in which the dashboard keeps the control token. */
export const TOKEN_COOKIE = 'gateway_sim_token';

/** Whether a path belongs to the emulator itself, not to the service. */
export const isControl = (path: string): boolean => path === '/_sim' || path.startsWith('/_sim/');

/** Restricts clients of the proxy to the routes of the service, however they write the URL. */
export function proxiedGuard(): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    const { path } = c.req;
    const isOurs = path === '/' || isControl(path);
    if (isOurs && c.env?.incoming && proxied.has(c.env.incoming)) {
      throw new GatewayError(
        'forbidden',
        `${path} is not served through the proxy: use the address of the emulator`,
      );
    }
    await next();
  };
}

/**
 * Guards `/_sim`. The Host header must be known, or a page could read the keys through DNS rebinding. Pages on other
 * sites may only link to the dashboard.
 */
export function siteGuard(runtime: ServerRuntime): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    const name = bareHost(addressOf(c).hostname);
    const known = [runtime.options.host, new URL(runtime.baseUrl()).hostname, ...runtime.options.allowHost];
    if (!isLoopback(name) && !known.some((host) => bareHost(host) === name)) {
      throw new GatewayError('forbidden', `/_sim is not served for the host name "${name}"`, {
        hint: hint`If this is your host, start with ${option('allowHost')} ${name}.`,
      });
    }
    if (!opensPage(c)) rejectCrossSite(c, runtime);
    await next();
  };
}

/** Names that no public DNS has: a single label, or reserved for private use. */
const PRIVATE_NAME = /^[^.]+$|\.(local|test|localhost|internal)$/;

/**
 * Guards the checkout and the cards: a page could otherwise read and change them through DNS rebinding, if its name
 * resolves to this machine. Only names that a stranger could own are rejected, because shops call the service by many.
 */
export function hostGuard(runtime: ServerRuntime): MiddlewareHandler<AppEnvironment> {
  const { options, settings } = runtime;
  return async (c, next) => {
    const name = bareHost(addressOf(c).hostname).replace(/\.$/, '');
    const known = [new URL(runtime.baseUrl()).hostname, ...options.allowHost, ...settings.pages.hosts];
    const isSafe = isIP(name) !== 0 || isLoopback(name) || PRIVATE_NAME.test(name);
    if (!isSafe && !known.some((host) => bareHost(host) === name)) {
      throw new GatewayError(
        'forbidden',
        `${c.req.path} is not served for the host name "${name}": if it is yours, start with --allow-host ${name}`,
      );
    }
    await next();
  };
}

/** Rejects browser requests from pages on other sites. */
export function crossSiteGuard(runtime: ServerRuntime): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    rejectCrossSite(c, runtime);
    await next();
  };
}

/** Requires the control token if other machines can reach the emulator. */
export function tokenGuard(runtime: ServerRuntime): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    if (!hasToken(c, runtime)) {
      throw new GatewayError('unauthorized', 'the control token is missing or wrong', {
        hint: hint`Specify it with ${option('controlToken')} or GATEWAY_SIM_CONTROL_TOKEN, or send Authorization: Bearer <control token>. It is in the ready event and in server.json of the data folder.`,
      });
    }
    await next();
  };
}

/** @throws GatewayError `forbidden` for a browser request from a page on another site */
export function rejectCrossSite(c: AppContext, runtime: ServerRuntime): void {
  const site = c.req.header('sec-fetch-site');
  const origin = c.req.header('origin');
  const looksForeign = site === undefined ? origin !== undefined : !['same-origin', 'none'].includes(site);
  if (looksForeign && !isOwnOrigin(origin, c, runtime)) {
    const isPage = origin !== undefined && URL.canParse(origin);
    const fix = isPage
      ? `. If it is your own page, behind a proxy that changes the Host header, start with --public-url ${new URL(origin).origin}`
      : '';
    throw new GatewayError(
      'forbidden',
      `${c.req.path} does not accept requests from pages on other sites${fix}`,
    );
  }
}

function opensPage({ req }: AppContext): boolean {
  const isNavigation =
    req.header('sec-fetch-mode') === 'navigate' && req.header('sec-fetch-dest') === 'document';
  return req.method === 'GET' && isNavigation && (req.path === '/_sim' || req.path.startsWith('/_sim/ui'));
}

/** The URL that a request was sent to. @throws GatewayError `unparseable_body` for an invalid Host */
function addressOf({ req }: AppContext): URL {
  if (URL.canParse(req.url)) return new URL(req.url);
  const host = req.header('host')?.slice(0, 80);
  throw new GatewayError('unparseable_body', `the request is malformed: invalid host "${host}"`);
}

function isOwnOrigin(origin: string | undefined, c: AppContext, runtime: ServerRuntime): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host === addressOf(c).host || host === new URL(runtime.baseUrl()).host;
}

/** Whether a request may use `/_sim`: no token is required, or the header or cookie has it. */
export function hasToken(c: AppContext, runtime: ServerRuntime): boolean {
  if (runtime.controlToken === null) return true;
  const given = bearer(c) ?? getCookie(c, TOKEN_COOKIE);
  return given !== undefined && isToken(given, runtime);
}

export function isToken(given: string, { controlToken }: ServerRuntime): boolean {
  return controlToken !== null && sameSecret(given, controlToken);
}

/** The token of an `Authorization: Bearer` header (the scheme in any case), or undefined. */
export function bearer(c: AppContext): string | undefined {
  return /^bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1];
}
