import { once } from 'node:events';

/** Closes resources, the newest first. */
export class Shutdown {
  readonly #steps: (() => unknown)[] = [];
  readonly stopping = new AbortController();
  /** Settles when everything is closed after a `stop`. */
  readonly ended = once(this.stopping.signal, 'abort').then(() => this.close());

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
    this.stopping.abort();
    return this.ended;
  };
}
