import type { PostedFields } from './body.ts';

/** Every number after `"amount":` in JSON text, as written. */
export function writtenAmounts(json: string): string[] {
  return [...json.matchAll(/"amount"\s*:\s*(-?[0-9][0-9.eE+-]*)/g)].map(([, written = '']) => written);
}

/** The source text of an amount that was sent as a JSON number. Parsing loses an exponent and trailing digits. */
export function amountSource({ fields, text }: PostedFields): string | undefined {
  if (typeof fields['amount'] !== 'number') return undefined;
  const [only, ...more] = writtenAmounts(text);
  return more.length ? undefined : only;
}
