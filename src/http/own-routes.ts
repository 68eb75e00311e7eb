import { mountControl, mountProbes } from './control/route.ts';
import { controlRoutes } from './control/routes.ts';
import type { App, AppDependencies } from './environment.ts';
import { siteGuard, tokenGuard } from './guard.ts';
import { mountDashboard, mountOpenPages } from './pages/mount.tsx';

/** Mounts everything below /_sim: the emulator's own routes, in order of precedence. */
export function mountOwnRoutes(app: App, parts: AppDependencies): void {
  mountProbes(app);
  app.use('/_sim/*', siteGuard(parts.runtime));
  mountOpenPages(app, parts);
  app.use('/_sim/*', tokenGuard(parts.runtime));
  // Loaded on request, because the schemas of all messages load slowly.
  const document = async () => (await import('./openapi.ts')).openApiDocument(app.routes, parts);
  mountDashboard(app, parts);
  mountControl(app, controlRoutes(parts, document), parts.secrets);
}
