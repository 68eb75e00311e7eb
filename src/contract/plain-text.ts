/**
 * A JSON value as text; undefined for a list or an object, which may be nested too deeply to convert or have its
 * own `toString`.
 */
export function plainText(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'object' && value !== null)) return undefined;
  return String(value);
}
