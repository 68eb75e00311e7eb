import { CHECKOUT_STYLES } from './checkout-styles.ts';
import { renderDocument } from './layout.tsx';
import type { PageView } from './views.ts';

const TEXTS = {
  en: {
    title: 'Control token',
    text: 'This emulator can be reached from other machines, so its dashboard asks once for the control token. gateway-sim start printed it.',
    label: 'Control token',
    open: 'Open the dashboard',
    wrong: 'Control token is not right. Copy it from what gateway-sim start printed.',
  },
  fr: {
    title: 'Jeton de contrôle',
    text: "D'autres machines peuvent joindre cet émulateur : son tableau de bord demande une fois le jeton de contrôle, que gateway-sim start a affiché.",
    label: 'Jeton de contrôle',
    open: 'Ouvrir le tableau de bord',
    wrong: "Jeton de contrôle incorrect. Copiez celui qu'a affiché gateway-sim start.",
  },
} as const satisfies Record<PageView['language'], Record<string, string>>;

/** The page that asks for the control token, as a whole HTML document. */
export function tokenPage(view: PageView, { action, wrong }: { action: string; wrong: boolean }): string {
  const texts = TEXTS[view.language];
  return renderDocument({
    view,
    theme: 'system',
    title: `${texts.title} · gateway-sim`,
    styles: CHECKOUT_STYLES,
    children: (
      <main class="card closed">
        <h1>{texts.title}</h1>
        <p>{texts.text}</p>
        <section class="step">
          <form method="post" action={action} novalidate>
            <label for="token">{texts.label}</label>
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
                {texts.wrong}
              </p>
            )}
            <button type="submit" class="button">
              {texts.open}
            </button>
          </form>
        </section>
      </main>
    ),
  });
}
