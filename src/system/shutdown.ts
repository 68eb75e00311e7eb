/** Closes what was opened, newest first. */
export class Shutdown {
  readonly #steps: (() => unknown)[] = [];
  #stopped: Promise<void> | undefined;
  #announce: (end: Promise<void>) => void = () => {};
  /** Aborted when `stop` is called. */
  readonly stopping = new AbortController();
  /** Settles as `stop` does, once that was called. */
  readonly ended = new Promise<void>((resolve) => {
    this.#announce = resolve;
  });

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Runs every step even when a step fails, and throws what failed first. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length) throw failures[0];
  }

  /** Closes everything, once. */
  readonly stop = (): Promise<void> => {
    if (!this.#stopped) {
      this.stopping.abort();
      this.#stopped = this.close();
      this.#announce(this.#stopped);
    }
    return this.#stopped;
  };
}
