import { randomBytes } from 'node:crypto';
import { parseAccept } from 'hono/utils/accept';
import type { CheckoutTheme } from '../../contract/vocabulary.ts';
import type { AppContext } from '../environment.ts';

/** English is the default. */
export type Language = 'en' | 'fr';

/** The input that every page needs. */
export interface PageView {
  language: Language;
  /** `system` follows the browser's preference. */
  theme: CheckoutTheme | 'system';
  /** The one-time value with which the Content-Security-Policy allows inline styles and scripts. */
  nonce: string;
}

/** What a page may do besides showing its own text and styles, as parts of a Content-Security-Policy. */
interface Allowances {
  images?: string;
  /** Where its forms may post, and where the response may redirect. */
  forms?: string;
  /** Which pages may frame it. */
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
export function pageView(c: AppContext, theme: PageView['theme'], allowed: Allowances = {}): PageView {
  return { language: languageOf(c.req.header('accept-language') ?? ''), theme, nonce: secure(c, allowed) };
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
