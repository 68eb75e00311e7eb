/**
 * Ids in the order of their first appearance. Each has a place, which it keeps when others are dropped: a cursor that
 * somebody holds stays good.
 */
export class Order {
  #ids: string[] = [];
  /** Of each id; absent as long as it is the index. */
  #places: number[] | undefined;
  #end = 0;

  get length(): number {
    return this.#ids.length;
  }

  /** The place behind the newest one. */
  get end(): number {
    return this.#end;
  }

  push(id: string): void {
    this.#ids.push(id);
    this.#places?.push(this.#end);
    this.#end++;
  }

  /** Rolls the newest `push` back. */
  pop(): void {
    this.#ids.pop();
    this.#places?.pop();
    this.#end--;
  }

  values(): Iterable<string> {
    return this.#ids;
  }

  /** Goes from a place to the oldest one. `visit` gets each id before that place, and its place, until it returns false. */
  backwards(place: number, visit: (id: string, place: number) => boolean): void {
    for (let index = this.#indexOf(place) - 1; index >= 0; index--) {
      if (!visit(this.#ids[index] ?? '', this.#placeAt(index))) return;
    }
  }

  /** Drops every id that is not wanted. */
  keep(isWanted: (id: string) => boolean): void {
    const ids: string[] = [];
    const places: number[] = [];
    for (const [index, id] of this.#ids.entries()) {
      if (!isWanted(id)) continue;
      ids.push(id);
      places.push(this.#placeAt(index));
    }
    this.#ids = ids;
    this.#places = places;
  }

  #placeAt(index: number): number {
    return this.#places?.[index] ?? index;
  }

  /** How many ids are before a place. */
  #indexOf(place: number): number {
    let from = 0;
    let to = this.#ids.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#placeAt(middle) < place) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
