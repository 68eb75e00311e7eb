/**
 * Lets requests to the shop and something that they would disturb take turns: readings of its database, because a reader
 * may lock it, and a shop that waits for it could fail because of us; and experiments from which the audit learns.
 */
export class Turns {
  #requests = 0;
  #idle: (() => void) | undefined;
  /** A reading that has not begun. Everyone who asks for one meanwhile shares it. */
  #next: Promise<unknown> | undefined;
  #reading: Promise<unknown> | undefined;

  /** Runs a request while nothing is read. Several run at the same time. */
  async request<Result>(run: () => Promise<Result>): Promise<Result> {
    while (this.#next ?? this.#reading) await (this.#next ?? this.#reading)?.catch(() => {});
    this.#requests++;
    try {
      return await run();
    } finally {
      this.#requests--;
      if (this.#requests === 0) this.#idle?.();
    }
  }

  /** Reads while no request runs. */
  read<Result>(run: () => Promise<Result>): Promise<Result> {
    this.#next ??= this.#read(run);
    return this.#next as Promise<Result>;
  }

  async #read<Result>(run: () => Promise<Result>): Promise<Result> {
    // Until read() has stored it.
    await Promise.resolve();
    while (this.#reading) await this.#reading.catch(() => {});
    while (this.#requests > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    this.#next = undefined;
    const reading = run();
    this.#reading = reading;
    try {
      return await reading;
    } finally {
      this.#reading = undefined;
    }
  }
}
