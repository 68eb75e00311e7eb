/** Visits records newest first, starting from the newest or just before a place, until `visit` returns false. */
export type Backwards<Item> = (visit: (item: Item, place: number) => boolean, before?: number) => void;

/** A part of a list, and its position. */
export interface Slice<Item> {
  data: Item[];
  /** The number of records before it. */
  before: number;
  /** The number of records in the whole list. */
  total: number;
  /** Whether `total` is exact; otherwise there are more. */
  isCounted: boolean;
  /** The cursor of the previous part: '' for the first part, null if there is none. */
  newer: string | null;
  /** The cursor of the next part; null if there is none. */
  older: string | null;
}

/** Counting stops this many records after the part, because a page can be rendered twice a second. */
const COUNTED = 20_000;

/**
 * Returns the part of a list that begins at a cursor. A cursor is a place, so new records do not shift the part. The
 * cost grows with the number of records up to the end of the part.
 *
 * @param wanted selects records; undefined for all
 * @param size the number of records, matching or not
 */
export function sliceOf<Item>(
  backwards: Backwards<Item>,
  query: { limit: number; cursor: string | undefined; wanted?: ((item: Item) => boolean) | undefined },
  size: number,
): Slice<Item> {
  const { limit, cursor, wanted } = query;
  const start = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
  // The places of the last matching records before this part. The previous part begins at the oldest of them.
  const starts: number[] = [];
  const data: Item[] = [];
  let before = 0;
  let after = 0;
  let older: string | null = null;
  let checked = 0;
  backwards((item, place) => {
    if (older !== null && ++checked > COUNTED) return false;
    if (wanted && !wanted(item)) return true;
    if (place >= start) starts[before++ % limit] = place;
    else if (data.length < limit) data.push(item);
    else {
      older ??= String(place + 1);
      after++;
      // Without a filter there is nothing to count.
      return wanted !== undefined;
    }
    return true;
  });
  const newest = starts[before % limit];
  const newer = before > limit && newest !== undefined ? String(newest + 1) : '';
  return {
    data,
    before,
    total: wanted ? before + data.length + after : size,
    isCounted: checked <= COUNTED,
    newer: before === 0 ? null : newer,
    older,
  };
}
