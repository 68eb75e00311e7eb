import { GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import type { Undo } from '../domain/state.ts';
import { reason } from './files.ts';
import type { Journal } from './journal.ts';

/** A change that is applied in memory but not yet on disk. */
interface Pending {
  change: string;
  undo: Undo;
  stored: () => void;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Group commit: writes all changes of one turn of the event loop, or during one sync, to the journal as one batch. */
export class WriteQueue {
  readonly #journal: Journal;
  readonly #onBatch: () => void;
  readonly #warn: (text: string) => void;
  #isFailing = false;
  /** The last failure. */
  #failure: GatewayError | undefined;
  #pending: Pending[] = [];
  #turns: (() => Promise<void>)[] = [];
  #isPlanned = false;
  /** Number of batches that were rolled back. */
  failures = 0;

  /**
   * @param onBatch called after each batch, and after each call of `between`
   * @param warn called on the first failure, and on the first one after a success
   */
  constructor(journal: Journal, onBatch: () => void, warn: (text: string) => void = () => {}) {
    this.#journal = journal;
    this.#onBatch = onBatch;
    this.#warn = warn;
  }

  /**
   * Appends a change that is already applied. Resolves after `stored`, which is called once its line is written.
   *
   * @param change the text from `changeText`
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  append(change: string, undo: Undo, stored: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ change, undo, stored, resolve, reject });
      this.#plan();
    });
  }

  /** Runs work between two batches, while nothing is appended. */
  between<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#turns.push(() => (async () => work())().then(resolve, reject));
      this.#plan();
    });
  }

  /**
   * Resolves when all changes so far are stored, immediately if none is pending.
   *
   * @throws GatewayError `storage_failed` if some were rolled back
   */
  async stored(): Promise<void> {
    if (!this.#isPlanned) return;
    const { failures } = this;
    await this.between(() => {});
    if (this.failures !== failures) throw this.#failure;
  }

  /** Resolves when nothing is pending. */
  async idle(): Promise<void> {
    do await this.between(() => {});
    while (this.#pending.length);
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#flush());
  }

  /** After each batch, runs one piece of work that needs exclusive access to the journal, even under constant load. */
  #flush(): void {
    const batch = this.#pending;
    this.#pending = [];
    const storing = batch.length ? this.#store(batch) : undefined;
    const turn = this.#turns.shift();
    if (!storing && !turn) this.#next();
    else
      void Promise.resolve(storing)
        .then(turn)
        .then(() => this.#next());
  }

  #next(): void {
    this.#isPlanned = false;
    this.#onBatch();
    if (this.#pending.length || this.#turns.length) this.#plan();
  }

  /** Returns a promise if the caller must wait. */
  #store(batch: readonly Pending[]): Promise<void> | undefined {
    const before = this.#journal.end;
    try {
      this.#journal.append(batch.map(({ change }) => change));
    } catch (error) {
      this.#rollBack(batch, error);
      return undefined;
    }
    if (!this.#journal.fsync) return this.#settle(batch);
    return this.#journal.sync(before).then(
      () => this.#settle(batch),
      (error) => this.#rollBack(batch, error),
    );
  }

  /** Rolls back all changes that are not on disk, newest first, since later ones build on the failed ones. */
  #rollBack(batch: readonly Pending[], error: unknown): void {
    const lost = [...batch, ...this.#pending];
    this.#pending = [];
    this.failures++;
    for (const { undo } of lost.toReversed()) undo();
    const failure =
      error instanceof GatewayError
        ? error
        : new GatewayError('storage_failed', `the change could not be stored: ${reason(error)}`, {
            hint: hint`Nothing was changed. Free disk space for the data folder and try again.`,
            cause: error,
          });
    this.#failure = failure;
    if (!this.#isFailing) this.#warn(failure.message);
    this.#isFailing = true;
    for (const { reject } of lost) reject(failure);
  }

  #settle(batch: readonly Pending[]): undefined {
    this.#isFailing = false;
    for (const { stored, resolve } of batch) {
      stored();
      resolve();
    }
  }
}
