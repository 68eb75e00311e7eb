/** A text as JSON; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What stands at a dotted path; undefined where there is nothing. */
export function at(value: unknown, path: string): unknown {
  let here: unknown = value;
  for (const step of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = Object.entries(here).find(([name]) => name === step)?.[1];
  }
  return here;
}
