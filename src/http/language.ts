/** The languages of the pages; the first one is for whoever asks for neither. */
export type Language = 'en' | 'fr';

/**
 * The language that a browser asks for, by the quality that it gives each (RFC 9110, 12.5.4).
 *
 * @param header the value of `Accept-Language`; what makes no sense in it is passed over
 * @returns `fr` when it is wanted more than English, or as much and named first, else `en`
 */
export function languageOf(header: string): Language {
  const ranges = header.split(',').map(readRange);
  const rank = (language: Language) => {
    const own = ranges.findIndex(({ primary }) => primary === language);
    const place = own < 0 ? ranges.findIndex(({ primary }) => primary === '*') : own;
    return { quality: qualityOf(language, ranges), place };
  };
  const [en, fr] = [rank('en'), rank('fr')];
  const isPreferred = fr.quality > en.quality || (fr.quality === en.quality && fr.place < en.place);
  return fr.quality > 0 && isPreferred ? 'fr' : 'en';
}

interface LanguageRange {
  /** `fr` of `fr-CA`; `*` for any that is not named. */
  primary: string;
  quality: number;
}

/** A language's own ranges decide; `*` only stands in where there are none. */
function qualityOf(language: Language, ranges: readonly LanguageRange[]): number {
  const named = ranges.filter(({ primary }) => primary === language);
  const meant = named.length > 0 ? named : ranges.filter(({ primary }) => primary === '*');
  return Math.max(0, ...meant.map(({ quality }) => quality));
}

function readRange(part: string): LanguageRange {
  const [tag = '', ...parameters] = part.toLowerCase().split(';');
  const weight = parameters.map((one) => /^\s*q\s*=\s*([01](?:\.\d*)?)\s*$/.exec(one)?.[1]).find(Boolean);
  return { primary: tag.trim().split('-')[0] ?? '', quality: Math.min(1, Number(weight ?? 1)) };
}
