import { timingSafeEqual } from 'node:crypto';

/** Compares two secrets in constant time. */
export function sameSecret(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** A masked secret: enough to recognize it, but not to use it. */
export function masked(secret: string): string {
  return secret.length > 12 ? `${secret.slice(0, 8)}…${secret.slice(-2)}` : '…';
}

/** Shorter secrets, such as `test`, are common words. Masking them would garble every record. */
const SHORTEST_MASKED = 6;

/**
 * Masks secrets in texts, plain and percent-encoded as in addresses and forms. A text without secrets is returned
 * unchanged.
 */
export function textMask(secrets: readonly string[]): (text: string) => string {
  // The longest first, because one may be the beginning of another.
  const sought = [...new Set(secrets)]
    .filter(({ length }) => length >= SHORTEST_MASKED)
    .toSorted((one, other) => other.length - one.length);
  const replacements = sought.flatMap((secret) => {
    const inForm = String(new URLSearchParams({ '': secret })).slice(1);
    const spellings = new Set([secret, encodeURIComponent(secret), inForm]);
    return [...spellings].map((spelling) => [spelling, masked(secret)] as const);
  });
  return (text) =>
    replacements.reduce((shown, [spelling, instead]) => shown.replaceAll(spelling, () => instead), text);
}

/** A value with all of its texts masked, names of properties included. */
export function maskedIn<Value>(value: Value, maskText: (text: string) => string): Value;
export function maskedIn(value: unknown, maskText: (text: string) => string): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map((item) => maskedIn(item, maskText));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [maskText(name), maskedIn(inner, maskText)]);
  return Object.fromEntries(entries);
}
