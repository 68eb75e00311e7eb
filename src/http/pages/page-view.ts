import { randomBytes } from 'node:crypto';
import type { AppContext } from '../environment.ts';
import { languageOf } from '../language.ts';
import type { PageView } from './views.ts';

/** What a page may do beside showing its own text and styles, as parts of a Content-Security-Policy. */
interface Allowances {
  images?: string;
  /** Where its forms may post to, and be redirected to. */
  forms?: string;
  /** Whose pages may frame it. */
  framedBy?: string;
  /** The emulator's own script, which asks the emulator for news. */
  script?: boolean;
}

/** Sets the headers that keep a page to itself; returns the nonce of its styles. */
export function secure(c: AppContext, allowed: Allowances = {}): string {
  const { images = 'data:', forms = "'self'", framedBy = "'none'", script = false } = allowed;
  const nonce = randomBytes(16).toString('base64');
  const scripts = script ? " script-src 'self'; connect-src 'self';" : '';
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}';${scripts} img-src ${images}; form-action ${forms}; base-uri 'none'; frame-ancestors ${framedBy}`,
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
