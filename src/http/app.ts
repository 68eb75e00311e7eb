import { Hono } from 'hono';
import type { GatewayError } from '../contract/error.ts';
import { probeRoutes } from './control/emulator.ts';
import { mountControl } from './control/route.ts';
import { controlRoutes } from './control/routes.ts';
import type { App, AppContext, AppEnvironment, AppParts } from './environment.ts';
import { answerError, asGatewayError, unknownRoute } from './errors.ts';
import { siteGuard, tokenGuard } from './guard.ts';
import { injectFaults } from './inject-faults.ts';
import { basePath, ICON_SVG } from './pages/layout.tsx';
import { mountDashboard, mountOpenPages } from './pages/mount.tsx';
import { proxiedGuard } from './proxied.ts';
import { noteError, recordRequests } from './record-requests.ts';
import { mountCards } from './service/cards.ts';
import { mountCheckout } from './service/checkout.ts';
import { mountInitiate } from './service/initiate.ts';

/** Creates the app: the only list of routes, in order of precedence. */
export function createApp(parts: AppParts, report: (error: unknown) => void): App {
  const app = new Hono<AppEnvironment>();
  // Before the log, because browsers request it for pages without an icon and for JSON.
  app.all('/favicon.ico', (c) => c.body(ICON_SVG, 200, { 'Content-Type': 'image/svg+xml' }));
  // A response must not show a change before the change is on disk.
  app.use(async (_, next) => {
    await next();
    await parts.state.stored();
  });
  app.use(recordRequests(parts));
  if (parts.runtime.options.proxy) app.use(proxiedGuard());
  app.use(injectFaults(parts));
  mountInitiate(app, parts, report);
  mountCheckout(app, parts);
  mountCards(app, parts);
  // The base URL leads users to the dashboard (chosen: route-root).
  app.get('/', (c) => c.redirect(`${basePath(parts.runtime)}/_sim`));
  mountControl(app, { 'Control: emulator': probeRoutes() }, parts.mask);
  app.use('/_sim/*', siteGuard(parts.runtime));
  mountOpenPages(app, parts);
  app.use('/_sim/*', tokenGuard(parts.runtime));
  // Loaded on request, because the schemas of all messages would slow down the start.
  const document = async () => (await import('./openapi.ts')).openApiDocument(app.routes, parts);
  mountDashboard(app, parts);
  mountControl(app, controlRoutes(parts, document), parts.mask);
  const explain = (c: AppContext, error: GatewayError) => {
    noteError(c.get('requestLog'), error, parts);
    return answerError(c, error, parts.dialect);
  };
  app.notFound((c) => {
    const routes = app.routes.filter(({ method }) => method !== 'ALL');
    return explain(c, unknownRoute(c.req.method, c.req.path, routes, parts.dialect));
  });
  app.onError((thrown, c) => {
    const error = asGatewayError(thrown);
    if (error.code === 'internal') report(error.cause);
    return explain(c, error);
  });
  return app;
}
