/** Ids in the order of their first appearance. Their positions never change, so that cursors stay valid. */
export class Order {
  #ids: string[] = [];
  /** The position of each id; undefined while it equals the index. */
  #positions: number[] | undefined;
  #end = 0;

  get length(): number {
    return this.#ids.length;
  }

  /** The position after the newest id. */
  get end(): number {
    return this.#end;
  }

  push(id: string): void {
    this.#ids.push(id);
    this.#positions?.push(this.#end);
    this.#end++;
  }

  /** Rolls back the newest `push`. */
  pop(): void {
    this.#ids.pop();
    this.#positions?.pop();
    this.#end--;
  }

  values(): Iterable<string> {
    return this.#ids;
  }

  /** Visits the ids before a position with their positions, newest first, until `visit` returns false. */
  backwards(position: number, visit: (id: string, position: number) => boolean): void {
    for (let index = this.#indexOf(position) - 1; index >= 0; index--) {
      if (!visit(this.#ids[index] ?? '', this.#positionAt(index))) return;
    }
  }

  /** Removes all other ids. */
  keep(isKept: (id: string) => boolean): void {
    const ids: string[] = [];
    const positions: number[] = [];
    for (const [index, id] of this.#ids.entries()) {
      if (!isKept(id)) continue;
      ids.push(id);
      positions.push(this.#positionAt(index));
    }
    this.#ids = ids;
    this.#positions = positions;
  }

  #positionAt(index: number): number {
    return this.#positions?.[index] ?? index;
  }

  /** The number of ids before a position. */
  #indexOf(position: number): number {
    let from = 0;
    let to = this.#ids.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#positionAt(middle) < position) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
