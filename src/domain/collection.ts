/** A part of a list; `nextCursor` gets the next one. */
export interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** Records by id, in the order of their first appearance. Records are never changed in place. */
export class Collection<Item extends { id: string }> {
  readonly #byId = new Map<string, Item>();
  readonly #order: string[] = [];
  readonly #onPut: (item: Item, previous: Item | undefined) => void;

  /** @param onPut keeps an index: called with each record that is put, and with the one that it replaced */
  constructor(onPut: (item: Item, previous: Item | undefined) => void = () => {}) {
    this.#onPut = onPut;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Item | undefined {
    return this.#byId.get(id);
  }

  /** The records with these ids that there are. */
  some(ids: readonly string[]): Item[] {
    return ids.map((id) => this.get(id)).filter((item) => item !== undefined);
  }

  /** All records, oldest first. */
  values(): IterableIterator<Item> {
    return this.#byId.values();
  }

  /** Stores a record and returns the one it replaced, if any. */
  put(item: Item): Item | undefined {
    const previous = this.#byId.get(item.id);
    this.#byId.set(item.id, item);
    if (previous === undefined) this.#order.push(item.id);
    this.#onPut(item, previous);
    return previous;
  }

  /** Rolls a `put` back. The newest one comes first, and none may be left out. */
  unput(id: string, previous: Item | undefined): void {
    if (previous) this.put(previous);
    else {
      this.#byId.delete(id);
      this.#order.pop();
    }
  }

  /** Records for which `wanted` holds, newest first, from a cursor on. The cost grows with what is looked at only. */
  page(limit: number, cursor: string | undefined, wanted: (item: Item) => boolean): Page<Item> {
    const data: Item[] = [];
    let index = cursor === undefined ? this.#order.length : Math.min(Number(cursor), this.#order.length);
    while (index > 0 && data.length < limit) {
      index--;
      const item = this.#byId.get(this.#order[index] ?? '');
      if (item && wanted(item)) data.push(item);
    }
    return { data, nextCursor: index > 0 && data.length === limit ? String(index) : null };
  }

  /** The oldest record for which `wanted` holds. */
  find(wanted: (item: Item) => boolean): Item | undefined {
    for (const item of this.values()) if (wanted(item)) return item;
    return undefined;
  }

  /** The newest record for which `wanted` holds. */
  newest(wanted: (item: Item) => boolean): Item | undefined {
    return this.page(1, undefined, wanted).data[0];
  }
}

/** Ids by what their records have in common, oldest first. */
export class Groups {
  readonly #ids = new Map<string, string[]>();

  add(key: string, id: string): void {
    const ids = this.#ids.get(key);
    if (ids) ids.push(id);
    else this.#ids.set(key, [id]);
  }

  /** Those of one group. The caller may drop the last ones where they are out of date. */
  of(key: string): string[] {
    return this.#ids.get(key) ?? [];
  }

  clear(): void {
    this.#ids.clear();
  }
}
