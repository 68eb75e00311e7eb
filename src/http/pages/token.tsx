import { renderCard } from './checkout.tsx';
import { WORDING } from './messages.ts';
import { Command } from './tip.tsx';
import type { PageView } from './views.ts';

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
  const texts = WORDING[view.language].token;
  return renderCard(
    view,
    `${texts.title} · gateway-sim`,
    <>
      <h1>{texts.title}</h1>
      <p>
        {texts.text} <Command text={command} />.
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
                {texts.wrong} <Command text={command} />.
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
}
