import type { ReadonlyCollection } from '../../domain/collection.ts';

/**
 * A page of a collection, newest first.
 *
 * @param wanted the required values by field; undefined matches any value
 * @param view converts a record for the response
 */
export function listPage<Item extends { id: string }, View>(
  collection: ReadonlyCollection<Item>,
  { limit = 50, cursor }: { limit?: number | undefined; cursor?: number | undefined },
  wanted: { [Name in keyof Item]?: Item[Name] | undefined },
  view: (item: Item) => View,
): { data: View[]; nextCursor: string | null } {
  const filters = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const fits = (item: Item) => filters.every(([name, value]) => item[name as keyof Item] === value);
  const page = collection.page(limit, cursor === undefined ? undefined : String(cursor), fits);
  return { ...page, data: page.data.map(view) };
}

/** A list without further pages. */
export function wholeList<View>(data: View[]): { data: View[]; nextCursor: null } {
  return { data, nextCursor: null };
}
