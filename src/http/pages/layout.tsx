import { randomBytes } from 'node:crypto';
import { type Child, createContext, type JSX, useContext } from 'hono/jsx';
import { parseAccept } from 'hono/utils/accept';
import { formatAmount } from '../../contract/amount.ts';
import type { CheckoutTheme } from '../../contract/vocabulary.ts';
import { type AppContext, type AppDependencies, basePath, type ServerRuntime } from '../environment.ts';
import { type Language, WORDING, type Wording } from './checkout-texts.ts';

/** The input that every page needs. */
export interface PageView {
  language: Language;
  /** `system` follows the browser's preference. */
  theme: CheckoutTheme | 'system';
  /** The one-time value with which the Content-Security-Policy allows inline styles and scripts. */
  nonce: string;
  /** The base path of its links. */
  base: string;
}

/** What a page may do besides showing its own text and styles, as parts of a Content-Security-Policy. */
interface Allowances {
  images?: string;
  /** Where its forms may post, and where the response may redirect. */
  forms?: string;
  framedBy?: string;
  /** `own`: the emulator's style sheet and script, which may call the emulator. `inline`: a script in the page. */
  script?: 'own' | 'inline';
}

/** Sets the security headers of a page; returns the nonce for inline styles and scripts. */
export function secure(c: AppContext, allowed: Allowances = {}): string {
  const { images = 'data:', forms = "'self'", framedBy = "'none'", script } = allowed;
  const nonce = randomBytes(16).toString('base64');
  const styles = script === 'own' ? "'self'" : `'nonce-${nonce}'`;
  const scripts = { own: " script-src 'self'; connect-src 'self';", inline: ` script-src 'nonce-${nonce}';` };
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src ${styles};${script ? scripts[script] : ''} img-src ${images}; form-action ${forms}; base-uri 'none'; frame-ancestors ${framedBy}`,
  );
  c.header('Referrer-Policy', 'same-origin');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Cache-Control', 'no-store');
  return nonce;
}

/** Picks the customer's language and sets the security headers of a page. */
export function pageView(
  c: AppContext,
  runtime: ServerRuntime,
  theme: PageView['theme'],
  allowed: Allowances = {},
): PageView {
  const language = languageOf(c.req.header('accept-language') ?? '');
  return { language, theme, nonce: secure(c, allowed), base: basePath(runtime) };
}

/**
 * Returns the language that a browser prefers, by quality (RFC 9110, 12.5.4).
 *
 * @param header the value of `Accept-Language`; invalid parts are ignored
 * @returns `fr` if French has a higher quality than English, or the same quality and comes first; otherwise `en`
 */
export function languageOf(header: string): Language {
  // Best first. Languages with the same quality keep their order.
  const ranges = parseAccept(header.toLowerCase());
  const rank = (language: Language) => {
    const named = ranges.findIndex(({ type }) => type.split('-')[0] === language);
    const at = named < 0 ? ranges.findIndex(({ type }) => type === '*') : named;
    return ranges[at]?.q ? at : Number.POSITIVE_INFINITY;
  };
  return rank('fr') < rank('en') ? 'fr' : 'en';
}

export const ICON_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="6" width="28" height="20" rx="5" fill="#0b6b53"/><path d="M2 12h28" stroke="#fff" stroke-width="3"/><path d="M7 20h6" stroke="#fff" stroke-width="2" stroke-dasharray="2 1"/></svg>';
/** Inline, so that browsers do not request an icon and log a 404. */
const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`;

/**
 * Renders a whole HTML document.
 *
 * @param head the style sheet and the script: inline, so that the page needs no second request, or as links
 */
export function renderDocument(view: PageView, title: string, head: Child, children: Child): string {
  const html = (
    <html lang={view.language} class={view.theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={view.theme === 'system' ? 'light dark' : view.theme} />
        <meta name="robots" content="noindex" />
        {/* Otherwise phones turn amounts and references into links. */}
        <meta name="format-detection" content="telephone=no" />
        <title>{title}</title>
        <link rel="icon" href={ICON} />
        {head}
      </head>
      <body>
        <header class="mark">
          <strong>gateway-sim</strong>
          {WORDING[view.language].mark}
        </header>
        <View.Provider value={view}>{children}</View.Provider>
      </body>
    </html>
  );
  return `<!doctype html>${html.toString()}`;
}

/** What every component of a page can read. */
const View = createContext<Pick<PageView, 'language' | 'base'>>({ language: 'en', base: '' });

/** The texts in the language of the page. For components only. */
export const useWording = (): Wording => WORDING[useContext(View).language];

/** Puts the base path before a path of the emulator. For components only. */
export const below = (path: string): string => useContext(View).base + path;

/** A link to a path of the emulator. */
export function Link(props: JSX.IntrinsicElements['a'] & { href: string }) {
  return <a {...props} href={below(props.href)} />;
}

/** Formats an amount for a page. An imported state may have currencies that are not configured. */
export function shownAmount(
  { runtime }: AppDependencies,
  amount: string,
  code: string,
  language?: Language,
): string {
  const unknown = { code, name: code, symbol: code, decimals: 2 };
  return formatAmount(amount, runtime.settings.currencies.get(code) ?? unknown, language);
}

/** Lets an amount break only between groups of digits. */
export function inGroups(text: string) {
  const groups = text.split(/(?<=\u202f)|(?<=,)(?=\d{3}(?!\d))/);
  return groups.flatMap((group, index) => [index > 0 && <wbr />, group]);
}

/** Makes a command wrap between words, not at hyphens. */
export function wordByWord(text: string) {
  return text.split(' ').flatMap((word, index) => [index > 0 && ' ', <span>{word}</span>]);
}
