import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { HonoBase } from 'hono/hono-base';
import { TrieRouter } from 'hono/router/trie-router';
import { GatewayError } from '../contract/error.ts';
import { serviceError } from '../service/errors.ts';
import { CARD_PATHS, CHECKOUT_PATHS } from '../service/names.ts';
import {
  type App,
  type AppContext,
  type AppDependencies,
  type AppEnvironment,
  basePath,
} from './environment.ts';
import { asGatewayError, requestLine, statusOf, unknownRoute } from './errors.ts';
import { crossSiteGuard, hostGuard, isControl, proxiedGuard } from './guard.ts';
import { injectFaults, serviceRoute } from './inject-faults.ts';
import type { RequestListener } from './listener.ts';
import { noteError, notesOf, recordRequests } from './record-requests.ts';
import { mountCards } from './service/cards.ts';
import { isBrowser, mountCheckout } from './service/checkout.ts';
import { mountInitiate } from './service/initiate.ts';

/** Creates a listener that answers requests with the routes of the app. */
export function requestListener(parts: AppDependencies): RequestListener {
  const app = createApp(parts);
  const answer = async (request: Request, env: HttpBindings) => {
    const response = await app.fetch(request, env);
    if (!env.incoming.complete) await discardRest(env.incoming);
    return response;
  };
  return getRequestListener((request, env) => answer(request, env as HttpBindings), {
    hostname: parts.runtime.options.host,
    errorHandler: (thrown) => {
      // The URL or the Host header is invalid.
      const isMalformed = thrown instanceof Error && thrown.name === 'RequestError';
      const error = isMalformed
        ? new GatewayError('unparseable_body', `the request is malformed: ${thrown.message}`)
        : asGatewayError(thrown);
      if (!isMalformed) parts.report(thrown);
      return Response.json(serviceError(error), { status: statusOf(error) });
    },
  });
}

/** Creates the app: the routes of the service, in order of precedence, and then the emulator's own. */
export function createApp(parts: AppDependencies): App {
  // Hono's own choice of a router compiles all routes for the first request, which costs more than it saves.
  const app = new HonoBase<AppEnvironment>({ router: new TrieRouter() });
  // Before the log, because browsers request it for pages without an icon and for JSON.
  app.all('/favicon.ico', async (c) => {
    const { ICON_SVG } = await import('./pages/layout.tsx');
    return c.body(ICON_SVG, 200, { 'Content-Type': 'image/svg+xml' });
  });
  // A response must not show a change before the change is on disk.
  app.use(async (c, next) => {
    // Timers may be late, for example after the machine was suspended.
    parts.clock.runDue();
    await next();
    const stored = parts.state.stored();
    // The route has waited for its own change, which is on disk. Only later changes can still be rolled back.
    const hasChanged = !['GET', 'HEAD'].includes(c.req.method) && c.res.status < 400;
    await (hasChanged ? stored.catch(() => {}) : stored);
  });
  app.use(recordRequests(parts));
  if (parts.runtime.options.proxy) app.use(proxiedGuard());
  app.use(injectFaults(parts));
  for (const path of [CARD_PATHS.list, ...Object.values(CHECKOUT_PATHS)])
    app.use(`${path}/*`, hostGuard(parts.runtime));
  app.use(`${CARD_PATHS.list}/*`, crossSiteGuard(parts.runtime));
  mountInitiate(app, parts);
  mountCheckout(app, parts);
  mountCards(app, parts);
  // The base URL leads users to the dashboard (chosen: route-root).
  app.get('/', (c) => c.redirect(`${basePath(parts.runtime)}/_sim`));
  // Mounted when they are needed, because their schemas and pages take as long to load as everything else together.
  let mounting: Promise<void> | undefined;
  let areMounted = false;
  const mountOwn = () => {
    mounting ??= import('./own-routes.ts').then(({ mountOwnRoutes }) => {
      mountOwnRoutes(app, parts);
      areMounted = true;
    });
    return mounting;
  };
  app.use('/_sim/*', async (c, next) => {
    if (areMounted) return next();
    await mountOwn();
    return app.fetch(c.req.raw, c.env);
  });
  app.notFound(async (c) => {
    // Their names are suggested, too.
    await mountOwn();
    const routes = app.routes.filter(({ method }) => method !== 'ALL');
    return explain(c, unknownRoute(requestLine(c), routes));
  });
  app.onError((thrown, c) => {
    const error = asGatewayError(thrown);
    if (error.code === 'internal') parts.report(error.cause);
    return explain(c, error);
  });
  return app;

  /** Creates every error response except for initiate, which uses different statuses. */
  async function explain(c: AppContext, error: GatewayError): Promise<Response> {
    const { path } = c.req;
    const { runtime } = parts;
    if (
      error.code === 'not_found' &&
      c.req.method === 'GET' &&
      isBrowser(c) &&
      !isControl(path) &&
      serviceRoute(path) === null
    ) {
      c.get('requestLog').notes = notesOf(error, runtime);
      const { nowherePage } = await import('./pages/mount.tsx');
      return c.html(nowherePage(c, runtime, error.message), statusOf(error));
    }
    noteError(c.get('requestLog'), error, parts);
    if (error.allow) c.header('Allow', error.allow.join(', '));
    if (error.code === 'unauthorized') c.header('WWW-Authenticate', 'Bearer realm="gateway-sim"');
    return c.json(isControl(path) ? error.toJSON() : serviceError(error), statusOf(error));
  }
}

/** Maximum time for which an unread body is read before the response is sent (real time). */
const MAX_DISCARD_MS = 2_000;

/**
 * Reads and discards the rest of a body. Closing a connection while the client still sends resets it. A blocking client,
 * which reads only after it has sent everything, would never see the response.
 */
async function discardRest(incoming: IncomingMessage): Promise<void> {
  const signal = AbortSignal.timeout(MAX_DISCARD_MS);
  // It also ends if the client disconnects.
  await finished(incoming.resume(), { signal, cleanup: true }).catch(() => {});
}
