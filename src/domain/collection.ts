/** A page of a list. `nextCursor` requests the next page. */
interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
}

export type ReadonlyCollection<Item extends { id: string }> = Pick<
  Collection<Item>,
  'size' | 'get' | 'values' | 'page' | 'find'
>;

/** Records by id, in the order of their first appearance. Records are immutable. */
export class Collection<Item extends { id: string }> {
  readonly #byId = new Map<string, Item>();
  /** Ids in the order of their first appearance. */
  readonly #order: string[] = [];
  readonly #groups = new Groups();
  readonly #keyOf: ((item: Item) => string) | undefined;

  /** @param keyOf returns the key of a record's group, which never changes */
  constructor(keyOf?: (item: Item) => string) {
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Item | undefined {
    return this.#byId.get(id);
  }

  /** The records of one group, oldest first. */
  group(key: string): Item[] {
    // A list asks for the groups of every record.
    const items: Item[] = [];
    for (const id of this.#groups.of(key)) {
      const item = this.get(id);
      if (item) items.push(item);
    }
    return items;
  }

  newestOf(key: string, matches: (item: Item) => boolean = () => true): Item | undefined {
    const ids = this.#groups.of(key);
    for (let index = ids.length - 1; index >= 0; index--) {
      const item = this.get(ids[index] ?? '');
      if (item && matches(item)) return item;
    }
    return undefined;
  }

  /** All records, oldest first. */
  values(): IterableIterator<Item> {
    return this.#byId.values();
  }

  /** Stores a record and returns the one it replaced, if any. */
  put(item: Item): Item | undefined {
    const previous = this.#byId.get(item.id);
    this.#byId.set(item.id, item);
    if (previous === undefined) {
      this.#order.push(item.id);
      if (this.#keyOf) this.#groups.add(this.#keyOf(item), item.id);
    }
    return previous;
  }

  /** Rolls back a `put`. All must be rolled back, newest first. */
  unput(id: string, previous: Item | undefined): void {
    const item = this.get(id);
    if (previous) this.put(previous);
    else if (item) {
      this.#byId.delete(id);
      this.#order.pop();
      if (this.#keyOf) this.#groups.dropNewest(this.#keyOf(item));
    }
  }

  /** The matching records from a cursor, newest first. The cost grows only with the records visited. */
  page(limit: number, cursor: string | undefined, matches: (item: Item) => boolean): Page<Item> {
    const data: Item[] = [];
    const before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
    for (let index = Math.min(before, this.#order.length) - 1; index >= 0; index--) {
      const item = this.#byId.get(this.#order[index] ?? '');
      if (!item) continue;
      if (data.length === limit) return { data, nextCursor: String(index + 1) };
      if (matches(item)) data.push(item);
    }
    return { data, nextCursor: null };
  }

  /** The oldest matching record. */
  find(matches: (item: Item) => boolean): Item | undefined {
    for (const item of this.values()) if (matches(item)) return item;
    return undefined;
  }
}

/** Ids by the key of their group, oldest first. */
class Groups {
  /** Most groups have one id. Storing it without a list saves a tenth of a payment's memory. */
  readonly #ids = new Map<string, string | string[]>();

  add(key: string, id: string): void {
    const ids = this.#ids.get(key);
    if (ids === undefined) this.#ids.set(key, id);
    else if (typeof ids === 'string') this.#ids.set(key, [ids, id]);
    else ids.push(id);
  }

  of(key: string): readonly string[] {
    const ids = this.#ids.get(key) ?? [];
    return typeof ids === 'string' ? [ids] : ids;
  }

  dropNewest(key: string): void {
    const ids = this.#ids.get(key);
    if (typeof ids === 'string' || ids?.length === 1) this.#ids.delete(key);
    else ids?.pop();
  }
}
