/** Fields as a form with PHP-style nested names (observed: ipn-nested-names). Undefined values are omitted. */
export function formOf(fields: object): URLSearchParams {
  const form = new URLSearchParams();
  appendNested(form, '', fields);
  return form;
}

function appendNested(form: URLSearchParams, prefix: string, value: object): void {
  for (const [name, inner] of Object.entries(value)) {
    const key = prefix ? `${prefix}[${name}]` : name;
    if (Array.isArray(inner)) for (const item of inner) form.append(`${key}[]`, String(item));
    else if (typeof inner === 'object' && inner !== null) appendNested(form, key, inner);
    else if (inner !== undefined) form.append(key, String(inner));
  }
}
