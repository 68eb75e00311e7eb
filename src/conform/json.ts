/** No answer of this interface has as many arrays and objects in each other: what walks through it must come to an end. */
const MAX_DEPTH = 100;

/** A text as JSON; undefined where it is none, or nests too deep. */
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

/** What stands at a dotted path; undefined where there is nothing. */
export function at(value: unknown, path: string): unknown {
  let here: unknown = value;
  for (const step of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = Object.entries(here).find(([name]) => name === step)?.[1];
  }
  return here;
}
