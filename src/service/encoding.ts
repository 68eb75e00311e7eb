import type { PostedFields } from './body.ts';

/** Fields as a form with PHP-style nested names (observed: ipn-nested-names). Undefined values are omitted. */
export function formOf(fields: object): URLSearchParams {
  const form = new URLSearchParams();
  appendNested(form, '', fields);
  return form;
}

/** A form as PHP's `http_build_query` encodes it. */
export function encodedForm(form: URLSearchParams): string {
  return form.toString().replaceAll('*', '%2A');
}

function appendNested(form: URLSearchParams, prefix: string, value: object): void {
  for (const [name, inner] of Object.entries(value)) {
    const key = prefix ? `${prefix}[${name}]` : name;
    if (Array.isArray(inner)) for (const item of inner) form.append(`${key}[]`, String(item));
    else if (typeof inner === 'object' && inner !== null) appendNested(form, key, inner);
    else if (inner !== undefined) form.append(key, String(inner));
  }
}

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
