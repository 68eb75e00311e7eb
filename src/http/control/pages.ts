import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { command } from '../../contract/hint.ts';
import { readTextFields } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { hasToken, isToken, TOKEN_COOKIE } from '../guard.ts';
import { languageOf } from '../language.ts';
import { LOGO_SVG, THANKS, thanksPage } from '../pages/thanks.tsx';
import { tokenPage } from '../pages/token.tsx';
import type { PageView } from '../pages/views.ts';

/** Where the dashboard's form for the control token posts to. */
const TOKEN_PATH = '/_sim/ui/token';

/**
 * Mounts the pages that ask for no token: those that tell nothing, and the one that takes it. A customer on another
 * machine ends on a thank-you page.
 */
export function mountOpenPages(app: Hono<AppEnvironment>, parts: AppParts): void {
  for (const which of THANKS) app.get(`/_sim/ui/${which}`, (c) => c.html(thanksPage(which, pageView(c))));
  app.get('/_sim/ui/logo.svg', (c) => {
    c.header('Content-Security-Policy', "default-src 'none'");
    c.header('Cache-Control', 'max-age=3600');
    return c.body(LOGO_SVG, 200, { 'Content-Type': 'image/svg+xml' });
  });
  // A page asks for the token; what a form does and what the script fetches is refused without it.
  for (const path of ['/_sim', '/_sim/ui/*']) {
    app.get(path, (c, next) => (hasToken(c, parts.facts) ? next() : askForToken(c, parts, false)));
  }
  app.post(TOKEN_PATH, async (c) => {
    const token = ((await readTextFields(c))['token'] ?? '').trim();
    if (!isToken(token, parts.facts)) return askForToken(c, parts, true);
    c.header(
      'Set-Cookie',
      `${TOKEN_COOKIE}=${encodeURIComponent(token)}; Path=/_sim; HttpOnly; SameSite=Strict`,
    );
    return c.redirect('/_sim', 303);
  });
}

function askForToken(c: AppContext, { facts }: AppParts, wrong: boolean): Response {
  const command = facts.command('gateway-sim start');
  return c.html(tokenPage(pageView(c), { action: TOKEN_PATH, wrong, command }), 401);
}

/** What every page is told, and the headers that keep it to itself. */
function pageView(c: AppContext): PageView {
  const nonce = randomBytes(16).toString('base64');
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
  c.header('Referrer-Policy', 'same-origin');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Cache-Control', 'no-store');
  return { language: languageOf(c.req.header('accept-language') ?? ''), theme: 'light', nonce };
}
