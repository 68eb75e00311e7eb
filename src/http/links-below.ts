import type { MiddlewareHandler } from 'hono';
import type { AppEnvironment, ServerRuntime } from './environment.ts';
import { HTML_TYPE } from './operation.ts';

/** The path of --public-url, which browsers see before all our paths; empty if it has none. */
export function basePath({ options: { publicUrl } }: Pick<ServerRuntime, 'options'>): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}

/** The attributes of our pages that contain paths of the dashboard. Their values are escaped. */
const DASHBOARD_LINK = /\b(href|src|action|formaction|data-events|data-page)="(?=\/_sim\b)/g;

/**
 * Puts a base path before all links to the dashboard, also in redirects: a proxy may forward only that path.
 *
 * @param base such as `/gateway`
 */
export function linksBelow(base: string): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    c.set('isRewritten', true);
    await next();
    const { headers } = c.res;
    const location = headers.get('Location');
    if (location?.startsWith('/_sim')) headers.set('Location', base + location);
    if (!headers.get('Content-Type')?.startsWith(HTML_TYPE)) return;
    const html = await c.res.text();
    c.res = new Response(html.replace(DASHBOARD_LINK, `$1="${base}`), c.res);
  };
}
