import type { Hono } from 'hono';
import { setCookie } from 'hono/cookie';
import { TokenForm } from '../../contract/emulator.ts';
import { command } from '../../contract/hint.ts';
import { readTextFields } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { hasToken, isToken, TOKEN_COOKIE } from '../guard.ts';
import { described, FORM_TYPE, HTML_TYPE, type Operation, seeOtherAnswer } from '../operation.ts';
import { pageView } from './page-view.ts';
import { LOGO_SVG, THANKS, thanksPage } from './thanks.tsx';
import { tokenPage } from './token.tsx';

/** Where the dashboard's form for the control token posts to. */
const TOKEN_PATH = '/_sim/ui/token';

/** A page that has a lasting address. */
export function page(summary: string, errors: readonly number[], type = HTML_TYPE): Operation {
  return {
    ...{ tag: 'Dashboard', side: 'page', summary, source: 'chosen', errors },
    answers: [{ status: 200, type }],
  };
}

const STAND_INS = {
  paid: 'Stands in for the success_url of a merchant that has none',
  canceled: 'Stands in for the cancel_url of a merchant that has none',
} as const satisfies Record<(typeof THANKS)[number], string>;

const TOKEN_OPERATION: Operation = {
  ...page('Takes the control token and keeps it in a cookie', [401, 403]),
  body: { types: [FORM_TYPE], schema: TokenForm },
  answers: [seeOtherAnswer('To the dashboard.')],
};

/**
 * Mounts the pages that need no token: those that tell nothing, and the one that takes it. A customer on another
 * machine ends on a thank-you page.
 */
export function mountOpenPages(app: Hono<AppEnvironment>, parts: AppParts): void {
  for (const which of THANKS) {
    app.get(
      `/_sim/ui/${which}`,
      described(page(STAND_INS[which], [403]), (c: AppContext) =>
        c.html(thanksPage(which, pageView(c, 'system'))),
      ),
    );
  }
  app.get(
    '/_sim/ui/logo.svg',
    described(
      page('Stands in for the site_logo of a merchant that has none', [403], 'image/svg+xml'),
      (c: AppContext) => {
        c.header('Content-Security-Policy', "default-src 'none'");
        c.header('Cache-Control', 'max-age=3600');
        return c.body(LOGO_SVG, 200, { 'Content-Type': 'image/svg+xml' });
      },
    ),
  );
  // A page asks for the token; what a form does and what the script fetches is rejected without it.
  for (const path of ['/_sim', '/_sim/ui/*']) {
    app.get(path, (c, next) => (hasToken(c, parts.runtime) ? next() : askForToken(c, parts, false)));
  }
  const takeToken = async (c: AppContext) => {
    const token = ((await readTextFields(c))['token'] ?? '').trim();
    if (!isToken(token, parts.runtime)) return askForToken(c, parts, true);
    setCookie(c, TOKEN_COOKIE, token, { path: '/_sim', httpOnly: true, sameSite: 'Strict' });
    return c.redirect('/_sim', 303);
  };
  app.post(TOKEN_PATH, described(TOKEN_OPERATION, takeToken));
}

function askForToken(c: AppContext, { runtime }: AppParts, wrong: boolean): Response {
  const start = runtime.style.command(command('start'));
  return c.html(tokenPage(pageView(c, 'system'), { action: TOKEN_PATH, wrong, command: start }), 401);
}
