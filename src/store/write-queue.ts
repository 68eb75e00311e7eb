import { GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import type { Undo } from '../domain/state.ts';
import { reason } from './files.ts';
import type { Journal } from './journal.ts';

/** A change that is in memory and not on disk yet. */
interface Pending {
  change: string;
  undo: Undo;
  stored: () => void;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Group commit: all that comes in one turn of the event loop, or during one sync, goes to the journal as one batch. */
export class WriteQueue {
  readonly #journal: Journal;
  readonly #onBatch: () => void;
  readonly #warn: (text: string) => void;
  #isFailing = false;
  /** The last one. */
  #failure: GatewayError | undefined;
  #pending: Pending[] = [];
  #turns: (() => Promise<void>)[] = [];
  #isPlanned = false;
  /** How many batches were rolled back. */
  failures = 0;

  /**
   * @param onBatch called after each batch, and after each piece of work between two
   * @param warn gets told of the first failure, and of the first one after a success
   */
  constructor(journal: Journal, onBatch: () => void, warn: (text: string) => void = () => {}) {
    this.#journal = journal;
    this.#onBatch = onBatch;
    this.#warn = warn;
  }

  /**
   * Appends a change that is applied already. Resolves after `stored`, which runs once its line is written.
   *
   * @param change as `changeText` gave it
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  append(change: string, undo: Undo, stored: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ change, undo, stored, resolve, reject });
      this.#plan();
    });
  }

  /** Does something between two batches: nothing is appended meanwhile. */
  between<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#turns.push(() => (async () => work())().then(resolve, reject));
      this.#plan();
    });
  }

  /**
   * Resolves when all that was appended until now is stored: at once when nothing waits.
   *
   * @throws GatewayError `storage_failed` when some of it was rolled back
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

  /** Behind a batch there is a turn for whatever needs the journal to itself: steady load cannot keep it out. */
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

  /** Returns what must be waited for, if anything. */
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

  /** Later changes were made on top of the failed ones, so all that is not on disk is rolled back, newest first. */
  #rollBack(batch: readonly Pending[], error: unknown): void {
    const lost = [...batch, ...this.#pending];
    this.#pending = [];
    this.failures++;
    for (const { undo } of lost.toReversed()) undo();
    const failure =
      error instanceof GatewayError
        ? error
        : new GatewayError('storage_failed', `the change could not be stored: ${reason(error)}`, {
            hint: hint`Nothing was changed. Make room in the data folder and try again.`,
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
