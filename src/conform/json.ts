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
  let here: unknown = value;
  for (const step of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = Object.entries(here).find(([name]) => name === step)?.[1];
  }
  return here;
}
