/** Minimum number of items kept, unless their text exceeds the limit (chosen). */
const KEPT_ITEMS = 1_000;
/** Maximum number of characters in all items (chosen). Each uses one or two bytes of memory. */
const MAX_CHARACTERS = 8 * 2 ** 20;

/** The newest items of a log, in memory. */
export class Newest<Item> {
  /** Oldest first. */
  readonly items: Item[] = [];
  readonly #characters: number[] = [];
  #sum = 0;

  /**
   * Appends an item. Drops the oldest items in batches, which is cheaper than moving all others each time.
   *
   * @param characters the length of the item's text
   */
  add(item: Item, characters: number): void {
    this.items.push(item);
    this.#characters.push(characters);
    this.#sum += characters;
    if (this.#sum > MAX_CHARACTERS) this.#dropTo(KEPT_ITEMS, MAX_CHARACTERS / 2);
    else if (this.items.length >= 2 * KEPT_ITEMS) this.#dropTo(KEPT_ITEMS, MAX_CHARACTERS);
  }

  clear(): void {
    this.#dropTo(0, 0);
  }

  #dropTo(count: number, characters: number): void {
    let dropped = 0;
    for (const length of this.#characters) {
      if (this.items.length - dropped <= count && this.#sum <= characters) break;
      this.#sum -= length;
      dropped++;
    }
    this.items.splice(0, dropped);
    this.#characters.splice(0, dropped);
  }
}
