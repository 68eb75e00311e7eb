/** Maximum nesting: no response of this interface is deeper, and recursion must end. */
const MAX_DEPTH = 100;

/** Parses JSON; undefined if it is invalid or too deep. */
export function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeper(value, MAX_DEPTH) ? undefined : value;
  } catch {
    return undefined;
  }
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** The value at a dotted path; undefined if there is none. */
export function at(value: unknown, path: string): unknown {
  let here = value;
  for (const step of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = Reflect.get(here, step);
  }
  return here;
}

/** The id of an initiated payment: a parameter of its checkout's address. */
export function paymentIdIn(json: unknown): string | null {
  const url = at(json, 'url');
  if (typeof url !== 'string') return null;
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]).get('payment_id');
}
