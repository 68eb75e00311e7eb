import { EndIcon, renderCard } from './checkout.tsx';
import { WORDING } from './messages.ts';
import type { PageView } from './views.ts';

/** The pages that stand in for a merchant's own when `payments create` is given no addresses. */
export const THANKS = ['paid', 'canceled'] as const;
export type Thanks = (typeof THANKS)[number];

/** A thank-you page, as a whole HTML document. It tells nothing about any payment: anybody may open it. */
export function thanksPage(which: Thanks, view: PageView): string {
  const { title, text, note } = WORDING[view.language].thanks[which];
  return renderCard(
    view,
    title,
    <>
      <EndIcon end={which === 'paid' ? 'succeeded' : 'canceled'} />
      <h1>{title}</h1>
      <p>{text}</p>
      <p class="detail">{note}</p>
    </>,
  );
}

/** The logo of a merchant that has none of its own. */
export const LOGO_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#0b6b53"/><path d="M18 25h28l-3 22H21z" fill="#fff"/><path d="M25 29v-7a7 7 0 0 1 14 0v7" fill="none" stroke="#fff" stroke-width="3"/></svg>';
