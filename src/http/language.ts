import { parseAccept } from 'hono/utils/accept';

/** The languages of the pages; the first one is the default. */
export type Language = 'en' | 'fr';

/**
 * The language that a browser asks for, by the quality that it gives each (RFC 9110, 12.5.4).
 *
 * @param header the value of `Accept-Language`; what makes no sense in it is skipped
 * @returns `fr` when it is wanted more than English, or as much and named first, else `en`
 */
export function languageOf(header: string): Language {
  // Best first; those of the same quality in the order in which they are named.
  const ranges = parseAccept(header.toLowerCase()).map(({ type, q }) => ({
    language: type.split('-')[0],
    q,
  }));
  const rank = (language: Language) => {
    const named = ranges.findIndex((range) => range.language === language);
    const at = named < 0 ? ranges.findIndex((range) => range.language === '*') : named;
    return ranges[at]?.q ? at : Number.POSITIVE_INFINITY;
  };
  const [en, fr] = [rank('en'), rank('fr')];
  return fr < en ? 'fr' : 'en';
}
