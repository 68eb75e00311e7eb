import { randomBytes } from 'node:crypto';
import { parseAccept } from 'hono/utils/accept';
import type { CheckoutTheme } from '../../contract/vocabulary.ts';
import type { AppContext } from '../environment.ts';

/** The languages of the pages; the first one is the default. */
export type Language = 'en' | 'fr';

/** What every page is made with. */
export interface PageView {
  language: Language;
  /** `system` follows the browser's own choice. */
  theme: CheckoutTheme | 'system';
  /** The one-time value that the Content-Security-Policy allows what is inline with. */
  nonce: string;
}

/** What a page may do beside showing its own text and styles, as parts of a Content-Security-Policy. */
interface Allowances {
  images?: string;
  /** Where its forms may post to, and be redirected to. */
  forms?: string;
  /** Whose pages may frame it. */
  framedBy?: string;
  /** The emulator's own style sheet and script, which asks it for news, or a script in the page itself. */
  script?: 'own' | 'inline';
}

/** Sets the headers that keep a page to itself; returns the nonce of what is inline. */
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

/** What every page in the customer's language is given; sets its headers. */
export function pageView(c: AppContext, theme: PageView['theme'], allowed: Allowances = {}): PageView {
  return { language: languageOf(c.req.header('accept-language') ?? ''), theme, nonce: secure(c, allowed) };
}

/**
 * The language that a browser asks for, by the quality that it gives each (RFC 9110, 12.5.4).
 *
 * @param header the value of `Accept-Language`; what makes no sense in it is skipped
 * @returns `fr` when it is wanted more than English, or as much and named first, else `en`
 */
export function languageOf(header: string): Language {
  // Best first; those of the same quality in the order in which they are named.
  const ranges = parseAccept(header.toLowerCase());
  const rank = (language: Language) => {
    const named = ranges.findIndex(({ type }) => type.split('-')[0] === language);
    const at = named < 0 ? ranges.findIndex(({ type }) => type === '*') : named;
    return ranges[at]?.q ? at : Number.POSITIVE_INFINITY;
  };
  return rank('fr') < rank('en') ? 'fr' : 'en';
}
