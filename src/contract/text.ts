/** The number of characters (code points), not of bytes or UTF-16 units. */
export function characters(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;
}

/** The beginning of a text, for quoting in a message. @param most the maximum number of characters */
export function shorten(text: string, most = 60): string {
  // Counts code points, because half of a surrogate pair is not text.
  return text.length > most ? `${new RegExp(`^.{0,${most}}`, 'su').exec(text)}…` : text;
}

/** A value for an error message, as JSON. Lists and objects, which can have any size and depth, are only named. */
export function shortJson(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? JSON.stringify(shorten(value)) : String(JSON.stringify(value));
}

/**
 * A JSON value as text; undefined for a list or an object, which may be nested too deeply to convert or have its
 * own `toString`.
 */
export function plainText(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'object' && value !== null)) return undefined;
  return String(value);
}

/** A number and its noun, such as `1 payment` or `2 payments`. */
export const pluralize = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
