/** Keeps the newest entries only, so that no number of visitors fills the memory. */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: string, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const [oldest = ''] = this.keys();
    if (this.size > this.#limit) this.delete(oldest);
    return this;
  }
}
