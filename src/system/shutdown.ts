/** Closes resources, the newest first. */
export class Shutdown {
  readonly #steps: (() => unknown)[] = [];
  #stopped: Promise<void> | undefined;
  #announce: (end: Promise<void>) => void = () => {};
  /** Aborted when `stop` is called. */
  readonly stopping = new AbortController();
  /** Settles like the promise of `stop`, after it is called. */
  readonly ended = new Promise<void>((resolve) => {
    this.#announce = resolve;
  });

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Runs every step, even if one fails, and throws the error of a failed step. */
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
