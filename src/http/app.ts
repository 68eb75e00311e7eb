import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { dashboardView } from './control/dashboard.ts';
import { controlRoutes } from './control/routes.ts';
import { watch } from './control/watch.ts';
import type { AppContext, AppEnvironment, AppParts } from './environment.ts';
import { answerError, asGatewayError, unknownRoute } from './errors.ts';
import { controlGuard } from './guard.ts';
import { dashboardPage } from './pages/dashboard.tsx';
import { languageOf, mountCheckout } from './service/checkout.ts';
import { mountInitiate } from './service/initiate.ts';

/** The whole HTTP side: the only list of routes, in the order in which they are tried. */
export function createApp(parts: AppParts, report: (error: unknown) => void): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.use(watch(parts));
  mountInitiate(app, parts);
  mountCheckout(app, parts);
  app.get('/', (c) => c.redirect('/_sim'));
  app.get('/_sim/livez', (c) => c.json({ status: 'live' }));
  app.get('/_sim/readyz', (c) => c.json({ status: 'ready' }));
  app.use('/_sim', controlGuard(parts.facts));
  app.use('/_sim/*', controlGuard(parts.facts));
  app.get('/_sim', (c) => answerDashboard(c, parts));
  app.route('/_sim', controlRoutes(parts));
  app.notFound((c) => {
    const routes = app.routes.filter(({ method }) => method !== 'ALL');
    return explain(c, unknownRoute(c.req.method, c.req.path, routes));
  });
  app.onError((thrown, c) => {
    const error = asGatewayError(thrown);
    if (error.code === 'internal') report(error.cause);
    return explain(c, error);
  });
  return app;
}

function explain(c: AppContext, thrown: unknown): Response {
  const error = asGatewayError(thrown);
  const exchange = c.get('exchange');
  if (exchange) exchange.notes = [error.message];
  return answerError(c, error);
}

function answerDashboard(c: AppContext, parts: AppParts): Response {
  const nonce = randomBytes(16).toString('base64');
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
  c.header('Referrer-Policy', 'same-origin');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Cache-Control', 'no-store');
  const language = languageOf(c.req.header('accept-language') ?? '');
  return c.html(dashboardPage(dashboardView(parts, { language, theme: 'light', nonce })));
}
