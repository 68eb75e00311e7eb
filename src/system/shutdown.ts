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

  /** Runs every step, also after one that fails, and throws what one of them failed with. */
  async close(): Promise<void> {
    const step = this.#steps.pop();
    if (!step) return;
    try {
      await step();
    } finally {
      await this.close();
    }
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
