import CHECKOUT_STYLES from './assets/checkout.css?text';
import { renderDocument } from './layout.tsx';
import { Command } from './tip.tsx';
import type { PageView } from './views.ts';

/** The two sentences end with the command that printed the token. */
const TEXTS = {
  en: {
    title: 'Control token',
    text: 'This emulator can be reached from other machines, so its dashboard asks once for the control token. It was printed by',
    label: 'Control token',
    open: 'Open the dashboard',
    wrong: 'Control token is not right. Copy the one that was printed by',
  },
  fr: {
    title: 'Jeton de contrôle',
    text: 'D’autres machines peuvent joindre cet émulateur\u00a0: son tableau de bord demande une fois le jeton de contrôle. Il a été affiché par',
    label: 'Jeton de contrôle',
    open: 'Ouvrir le tableau de bord',
    wrong: 'Jeton de contrôle incorrect. Copiez celui qui a été affiché par',
  },
} as const satisfies Record<PageView['language'], Record<string, string>>;

/** What the page that asks for the control token is told. */
interface TokenForm {
  /** Where the form posts to. */
  action: string;
  /** Another token was entered before. */
  wrong: boolean;
  /** The command that printed the token, as the user would type it. */
  command: string;
}

/** The page that asks for the control token, as a whole HTML document. */
export function tokenPage(view: PageView, { action, wrong, command }: TokenForm): string {
  const texts = TEXTS[view.language];
  return renderDocument({
    view,
    theme: 'system',
    title: `${texts.title} · gateway-sim`,
    styles: CHECKOUT_STYLES,
    children: (
      <main class="card closed">
        <h1>{texts.title}</h1>
        <p>
          {texts.text} <Command text={command} />.
        </p>
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
                <span>
                  {texts.wrong} <Command text={command} />.
                </span>
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
