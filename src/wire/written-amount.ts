import type { PostedFields } from './body.ts';

/** Every number that stands behind `"amount":` in JSON text, as it was written. */
export function writtenAmounts(json: string): string[] {
  return [...json.matchAll(/"amount"\s*:\s*(-?[0-9][0-9.eE+-]*)/g)].map(([, written = '']) => written);
}

/** How an amount that came as a JSON number was written: parsing forgets an exponent and trailing digits. */
export function amountSource({ fields, text }: PostedFields): string | undefined {
  if (typeof fields['amount'] !== 'number') return undefined;
  const [only, ...more] = writtenAmounts(text);
  return more.length ? undefined : only;
}
