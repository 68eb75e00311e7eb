/** Maximum words that are looked for, of those that differ (chosen): each is sought in each record. */
const MAX_WORDS = 10;

/** Whether every word of a text is in one of some fields, in any case; undefined where there is no word. */
export function textMatcher<Item>(
  fields: readonly (keyof Item)[],
  text = '',
): ((item: Item) => boolean) | undefined {
  const words = [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, MAX_WORDS);
  if (words.length === 0) return undefined;
  return (item) => {
    // No word has a line feed in it, and so none is found across two fields.
    const texts = fields
      .map((name) => item[name] ?? '')
      .join('\n')
      .toLowerCase();
    return words.every((word) => texts.includes(word) || texts.includes(asAmount(word)));
  };
}

/** An amount as pages show it, as records hold it: `$1,250.00` is 1250.00. Any other word stays as it is. */
function asAmount(word: string): string {
  const [, digits] = /^[^\p{L}\d]?(\d[\d,]*(?:\.\d+)?)$/u.exec(word) ?? [];
  return digits?.replaceAll(',', '') ?? word;
}
