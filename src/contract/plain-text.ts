/**
 * A value of JSON as text; undefined for a list or an object: those of strangers may be nested so deep that they cannot
 * be written, or have a `toString` of their own.
 */
export function plainText(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'object' && value !== null)) return undefined;
  return String(value);
}
