/** The values of a filter as they stand in a query; what is absent is left out. */
export function queryOf(filter: object): Record<string, string> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
