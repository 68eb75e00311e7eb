/** Items that are kept at least, unless they hold too much text (chosen). */
const KEPT_ITEMS = 1_000;
/** Maximum characters of text in all of them (chosen); each takes one or two bytes of memory. */
const MOST_CHARACTERS = 8 * 2 ** 20;

/** The newest items of a log, in memory. */
export class Newest<Item> {
  /** Oldest first. */
  readonly items: Item[] = [];
  readonly #characters: number[] = [];
  #sum = 0;

  /**
   * Appends. It drops many of the oldest at once, which is cheaper than moving all others each time.
   *
   * @param characters of text that the item holds
   */
  add(item: Item, characters: number): void {
    this.items.push(item);
    this.#characters.push(characters);
    this.#sum += characters;
    if (this.#sum > MOST_CHARACTERS) this.#dropTo(KEPT_ITEMS, MOST_CHARACTERS / 2);
    else if (this.items.length >= 2 * KEPT_ITEMS) this.#dropTo(KEPT_ITEMS, MOST_CHARACTERS);
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
