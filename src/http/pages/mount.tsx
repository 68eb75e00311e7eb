import { setCookie } from 'hono/cookie';
import { command } from '../../contract/error.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import { readTextFields } from '../body.ts';
import {
  type App,
  type AppContext,
  type AppDependencies,
  basePath,
  type ServerRuntime,
} from '../environment.ts';
import { hasToken, isToken, TOKEN_COOKIE } from '../guard.ts';
import { targetOf } from '../record-requests.ts';
import { Command, renderCard, renderEnd } from './checkout.tsx';
import { WORDING } from './checkout-texts.ts';
import { ownPage, PLACES, UI } from './dashboard/paths.ts';
import { capitalized } from './dashboard/text.ts';
import { ICON_SVG, pageView } from './layout.tsx';

const TOKEN_PATH = '/_sim/ui/token';

/**
 * Mounts the pages that need no token: the token form, and pages that reveal nothing. A customer on another machine can
 * reach a thank-you page.
 */
export function mountOpenPages(app: App, parts: AppDependencies): void {
  const { runtime } = parts;
  const dashboard = runtime.options.panel ? PLACES.payments.path : null;
  // The default success_url and cancel_url of `payments create`.
  const thanks = { paid: 'succeeded', canceled: 'canceled' } as const;
  for (const which of namesOf(thanks)) {
    app.get(`/_sim/ui/${which}`, (c) => {
      const view = pageView(c, runtime, 'system');
      const { title, text } = WORDING[view.language].thanks[which];
      return c.html(renderEnd(view, { sign: thanks[which], title, text, dashboard }));
    });
  }
  // The default site_logo.
  app.get('/_sim/ui/logo.svg', (c) => {
    c.header('Content-Security-Policy', "default-src 'none'");
    c.header('Cache-Control', 'max-age=3600');
    return c.body(ICON_SVG, 200, { 'Content-Type': 'image/svg+xml' });
  });
  // Only pages ask for the token. Without it, forms and requests from the script are rejected.
  for (const path of ['/_sim', '/_sim/ui/*']) {
    app.get(path, (c, next) => (hasToken(c, runtime) ? next() : askForToken(c, runtime, targetOf(c))));
  }
  app.post(TOKEN_PATH, async (c) => {
    const token = ((await readTextFields(c))['token'] ?? '').trim();
    const to = ownPage(c.req.query('to'), PLACES.payments.path);
    if (!isToken(token, runtime)) return askForToken(c, runtime, to, true);
    const base = basePath(runtime);
    // The dashboard is also open without the path of --public-url.
    for (const path of new Set(['/_sim', `${base}/_sim`])) {
      setCookie(c, TOKEN_COOKIE, token, { path, httpOnly: true, sameSite: 'Strict' });
    }
    return c.redirect(base + to, 303);
  });
}

/** Mounts the dashboard. It is loaded on its first request, so that the emulator starts faster. */
export function mountDashboard(app: App, parts: AppDependencies): void {
  let loaded: Promise<App> | undefined;
  const answer = async (c: AppContext) => {
    loaded ??= import('./dashboard/routes.tsx').then(({ dashboard }) => dashboard(app, parts));
    return (await loaded).fetch(c.req.raw, c.env);
  };
  app.get(PLACES.payments.path, answer);
  app.all(`${UI}/*`, answer);
}

/** Renders the page for an address that does not exist, for people who follow a wrong link. @param message in English */
export function nowherePage(c: AppContext, runtime: ServerRuntime, message: string): string {
  const view = pageView(c, runtime, 'system');
  const { title, home } = WORDING[view.language].nowhere;
  const back = { url: view.base + PLACES.payments.path, label: home };
  return renderEnd(view, { sign: 'unknown', title, detail: `${capitalized(message)}.`, back });
}

/** @param to the page to open after a valid token; @param wrong whether a wrong one was entered */
function askForToken(c: AppContext, runtime: ServerRuntime, to: string, wrong = false): Response {
  const view = pageView(c, runtime, 'system');
  const texts = WORDING[view.language].token;
  const start = <Command text={runtime.style.command(command('start'))} />;
  const action = `${view.base}${TOKEN_PATH}?${new URLSearchParams({ to })}`;
  const html = renderCard(
    view,
    `${texts.title} · gateway-sim`,
    <>
      <h1>{texts.title}</h1>
      <p>
        {texts.text} {start}.
      </p>
      <section class="step">
        <form method="post" action={action} novalidate>
          <label for="token">{texts.title}</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="off"
            autofocus
            aria-invalid={wrong ? 'true' : undefined}
            aria-describedby={wrong ? 'problem' : undefined}
          />
          {wrong && (
            <p class="problem" role="alert" id="problem">
              <span>
                {texts.wrong} {start}.
              </span>
            </p>
          )}
          <button type="submit" class="button">
            {texts.open}
          </button>
        </form>
      </section>
    </>,
  );
  return c.html(html, 401);
}
