import type { Hono } from 'hono';
import { setCookie } from 'hono/cookie';
import { command } from '../../contract/hint.ts';
import { readTextFields } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { hasToken, isToken, TOKEN_COOKIE } from '../guard.ts';
import { pageView } from '../pages/page-view.ts';
import { LOGO_SVG, THANKS, thanksPage } from '../pages/thanks.tsx';
import { tokenPage } from '../pages/token.tsx';

/** Where the dashboard's form for the control token posts to. */
const TOKEN_PATH = '/_sim/ui/token';

/**
 * Mounts the pages that need no token: those that tell nothing, and the one that takes it. A customer on another
 * machine ends on a thank-you page.
 */
export function mountOpenPages(app: Hono<AppEnvironment>, parts: AppParts): void {
  for (const which of THANKS) {
    app.get(`/_sim/ui/${which}`, (c) => c.html(thanksPage(which, pageView(c, 'system'))));
  }
  app.get('/_sim/ui/logo.svg', (c) => {
    c.header('Content-Security-Policy', "default-src 'none'");
    c.header('Cache-Control', 'max-age=3600');
    return c.body(LOGO_SVG, 200, { 'Content-Type': 'image/svg+xml' });
  });
  // A page asks for the token; what a form does and what the script fetches is rejected without it.
  for (const path of ['/_sim', '/_sim/ui/*']) {
    app.get(path, (c, next) => (hasToken(c, parts.facts) ? next() : askForToken(c, parts, false)));
  }
  app.post(TOKEN_PATH, async (c) => {
    const token = ((await readTextFields(c))['token'] ?? '').trim();
    if (!isToken(token, parts.facts)) return askForToken(c, parts, true);
    setCookie(c, TOKEN_COOKIE, token, { path: '/_sim', httpOnly: true, sameSite: 'Strict' });
    return c.redirect('/_sim', 303);
  });
}

function askForToken(c: AppContext, { facts }: AppParts, wrong: boolean): Response {
  const start = facts.style.command(command('start'));
  return c.html(tokenPage(pageView(c, 'system'), { action: TOKEN_PATH, wrong, command: start }), 401);
}
