/** Maximum distinct words to search for (chosen), because each is searched in every record. */
const MAX_WORDS = 10;

/** Matches items that have every word of a text in some field, ignoring case; undefined for no words. */
export function textMatcher<Item>(
  fields: readonly (keyof Item)[],
  text = '',
): ((item: Item) => boolean) | undefined {
  const words = [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, MAX_WORDS);
  if (words.length === 0) return undefined;
  return (item) => {
    // Words contain no line feeds, so no match spans two fields.
    const texts = fields
      .map((name) => item[name] ?? '')
      .join('\n')
      .toLowerCase();
    return words.every((word) => texts.includes(word) || texts.includes(asAmount(word)));
  };
}

/** Converts an amount from the format of pages to the format of records: `$1,250.00` to 1250.00. */
function asAmount(word: string): string {
  const [, digits] = /^[^\p{L}\d]?(\d[\d,]*(?:\.\d+)?)$/u.exec(word) ?? [];
  return digits?.replaceAll(',', '') ?? word;
}
