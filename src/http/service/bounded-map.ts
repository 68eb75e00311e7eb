/** Keeps the newest entries only, so that no number of visitors fills the memory. */
export class BoundedMap<Value> {
  readonly #limit: number;
  readonly #values = new Map<string, Value>();

  /** @param limit how many are remembered; the oldest goes first */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#limit) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
