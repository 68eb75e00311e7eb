import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { WORDING } from './messages.ts';
import type { PageView } from './page-view.ts';

export const ICON_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="6" width="28" height="20" rx="5" fill="#0b6b53"/><path d="M2 12h28" stroke="#fff" stroke-width="3"/><path d="M7 20h6" stroke="#fff" stroke-width="2" stroke-dasharray="2 1"/></svg>';
/** Inline, so that browsers do not request an icon and log a 404. */
const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`;

/**
 * Renders a whole HTML document. With inline styles it needs no second request.
 *
 * @param parts `sheet` and `script`: URLs of the style sheet and of the script; `styles` and `inline`: styles and a
 *   script in the page itself, which works without a script
 */
export function renderDocument(parts: {
  view: Pick<PageView, 'language' | 'nonce'>;
  theme: PageView['theme'];
  title: string;
  styles?: string;
  sheet?: string;
  script?: string;
  inline?: string;
  children: Child;
}): string {
  const { view, theme, title, styles, sheet, script, inline, children } = parts;
  const html = (
    <html lang={view.language} class={theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme === 'system' ? 'light dark' : theme} />
        <meta name="robots" content="noindex" />
        {/* Otherwise phones turn amounts and references into links. */}
        <meta name="format-detection" content="telephone=no" />
        <title>{title}</title>
        <link rel="icon" href={ICON} />
        {styles !== undefined && <style nonce={view.nonce}>{raw(styles)}</style>}
        {sheet !== undefined && <link rel="stylesheet" href={sheet} />}
        {script !== undefined && <script src={script} defer />}
        {inline !== undefined && <script nonce={view.nonce}>{raw(inline)}</script>}
      </head>
      <body>
        <header class="mark">
          <strong>gateway-sim</strong>
          {WORDING[view.language].mark}
        </header>
        {children}
      </body>
    </html>
  );
  return `<!doctype html>${html.toString()}`;
}
