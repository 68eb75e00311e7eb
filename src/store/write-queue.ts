import { GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import type { Undo } from '../domain/state.ts';
import { reason } from './files.ts';
import type { Journal } from './journal.ts';

/** A change that is in memory and not on disk yet. */
interface Pending {
  line: string;
  undo: Undo;
  stored: () => void;
  reject: (error: Error) => void;
}

/** Group commit: all that comes in one turn of the event loop, or during one write, goes to the journal as one batch. */
export class WriteQueue {
  readonly #journal: Journal;
  readonly #onBatch: () => void;
  #pending: Pending[] = [];
  #turns: (() => Promise<void>)[] = [];
  #writing: Promise<void> | undefined;
  /** How many batches were rolled back. */
  failures = 0;

  /** @param onBatch called after each batch, and after each piece of work between two */
  constructor(journal: Journal, onBatch: () => void) {
    this.#journal = journal;
    this.#onBatch = onBatch;
  }

  /**
   * Appends the line of a change that is applied already. Resolves after `stored`, which runs once the line is written.
   *
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  append(line: string, undo: Undo, stored: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ line, undo, stored: () => [stored(), resolve()], reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Does something between two batches: nothing is appended meanwhile. */
  between<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#turns.push(() => (async () => work())().then(resolve, reject));
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves when nothing is pending. */
  async idle(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Between two batches there is a turn for whatever needs the journal to itself: steady load cannot keep it out. */
  async #writeAll(): Promise<void> {
    while (this.#pending.length || this.#turns.length) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const batch = this.#pending;
      this.#pending = [];
      if (batch.length) await this.#writeBatch(batch);
      await this.#turns.shift()?.();
      this.#onBatch();
    }
    this.#writing = undefined;
  }

  async #writeBatch(batch: readonly Pending[]): Promise<void> {
    try {
      await this.#journal.append(batch.map(({ line }) => line).join(''));
    } catch (error) {
      this.#rollBack(batch, error);
      return;
    }
    for (const { stored } of batch) stored();
  }

  /** Later changes were made on top of the failed ones, so all that is not on disk is rolled back, newest first. */
  #rollBack(batch: readonly Pending[], error: unknown): void {
    const lost = [...batch, ...this.#pending];
    this.#pending = [];
    this.failures++;
    for (const { undo } of lost.toReversed()) undo();
    const failure = new GatewayError('storage_failed', `the change could not be stored: ${reason(error)}`, {
      hint: hint`Nothing was changed. Make room in the data folder and try again.`,
      cause: error,
    });
    for (const { reject } of lost) reject(failure);
  }
}
