import type { MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { bareHost, isLoopback } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { sameSecret } from '../contract/secret.ts';
import type { AppContext, AppEnvironment, ServerRuntime } from './environment.ts';

/** Where the dashboard keeps the control token once it was asked for. */
export const TOKEN_COOKIE = 'gateway_sim_token';

/**
 * Guards `/_sim`: the Host header must be one of ours (or a page on a rebound name could read the keys), and no other
 * site's page may ask in a browser's name, but for a link that opens a page.
 */
export function siteGuard(facts: ServerRuntime): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    const name = bareHost(addressOf(c).hostname);
    const known = [facts.options.host, new URL(facts.baseUrl()).hostname, ...facts.options.allowHost];
    if (!isLoopback(name) && !known.some((host) => bareHost(host) === name)) {
      throw new GatewayError('forbidden', `/_sim does not answer to the host name "${name}"`, {
        hint: hint`If it is yours, start with ${option('allowHost')} ${name}.`,
      });
    }
    if (!opensPage(c)) refuseCrossSite(c, facts);
    await next();
  };
}

/** Guards what tells or changes something: where the emulator can be reached from outside, the token is needed. */
export function tokenGuard(facts: ServerRuntime): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    if (!hasToken(c, facts)) {
      throw new GatewayError('unauthorized', 'the control token is missing or wrong', {
        hint: hint`Give it with ${option('controlToken')} or GATEWAY_SIM_CONTROL_TOKEN, or send Authorization: Bearer <control token>; it is in the ready event and in server.json of the data folder.`,
      });
    }
    await next();
  };
}

/** @throws GatewayError `forbidden` for what a page of another site makes a browser send */
export function refuseCrossSite(c: AppContext, facts: ServerRuntime): void {
  const site = c.req.header('sec-fetch-site');
  const origin = c.req.header('origin');
  const looksForeign = site === undefined ? origin !== undefined : !['same-origin', 'none'].includes(site);
  if (looksForeign && !isOwnOrigin(origin, c, facts)) {
    throw new GatewayError('forbidden', `${c.req.path} takes no requests from pages of other sites`);
  }
}

/** Whether a browser goes to a page. */
function opensPage({ req }: AppContext): boolean {
  const isNavigation =
    req.header('sec-fetch-mode') === 'navigate' && req.header('sec-fetch-dest') === 'document';
  return req.method === 'GET' && isNavigation && (req.path === '/_sim' || req.path.startsWith('/_sim/ui'));
}

/** The address that a request was sent to. @throws GatewayError `unparseable_body` for a Host that cannot be one */
function addressOf({ req }: AppContext): URL {
  if (URL.canParse(req.url)) return new URL(req.url);
  const host = req.header('host')?.slice(0, 80);
  throw new GatewayError('unparseable_body', `the request is malformed: "${host}" is no host`);
}

function isOwnOrigin(origin: string | undefined, c: AppContext, facts: ServerRuntime): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host === addressOf(c).host || host === new URL(facts.baseUrl()).host;
}

/** Whether a request may see what `/_sim` tells: no token is asked for, or it came as a bearer or in the cookie. */
export function hasToken(c: AppContext, facts: ServerRuntime): boolean {
  const given = bearer(c) ?? getCookie(c, TOKEN_COOKIE);
  return facts.controlToken === null || (given !== undefined && isToken(given, facts));
}

export function isToken(given: string, { controlToken }: ServerRuntime): boolean {
  return controlToken !== null && sameSecret(given, controlToken);
}

/** The token of an `Authorization: Bearer` header (the scheme in any case), or undefined. */
export function bearer(c: AppContext): string | undefined {
  return /^bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1];
}
