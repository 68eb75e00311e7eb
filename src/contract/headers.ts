/** The value of the first header with this name, which is in lower case. */
export function headerIn(headers: readonly (readonly [string, string])[], name: string): string | undefined {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1];
}
