import type { IncomingMessage } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import { GatewayError } from '../contract/error.ts';
import type { AppEnvironment } from './environment.ts';

const proxied = new WeakSet<IncomingMessage>();

/** Remembers that a request came through the proxy. */
export function markProxied(incoming: IncomingMessage): void {
  proxied.add(incoming);
}

export function isProxied(incoming: IncomingMessage): boolean {
  return proxied.has(incoming);
}

/** Restricts clients of the proxy to the routes of the service, however they write the URL. */
export function proxiedGuard(): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    const { path } = c.req;
    const isOurs = path === '/' || path === '/_sim' || path.startsWith('/_sim/');
    if (isOurs && c.env?.incoming && isProxied(c.env.incoming)) {
      throw new GatewayError(
        'forbidden',
        `${path} is not served through the proxy: use the address of the emulator`,
      );
    }
    await next();
  };
}
