import { GatewayError, hint } from '../contract/error.ts';
import type { Undo } from '../domain/state.ts';
import { reason } from '../system/files.ts';
import type { Journal } from './journal.ts';

/** A change that is applied in memory but not yet on disk. */
interface Pending {
  text: string;
  undo: Undo;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Writes changes to the journal. All changes of one turn of the event loop, or during one sync, are one batch. Other work
 * on the journal takes turns with the batches. A batch that cannot be written is rolled back.
 */
export class Batches {
  readonly #journal: Journal;
  readonly #report: (text: string) => void;
  #pending: Pending[] = [];
  /** Work that waits for its turn between two batches. */
  #turns: (() => Promise<void>)[] = [];
  #isPlanned = false;
  /** Why the last batch that failed was rolled back. */
  failure: GatewayError | undefined;
  /** Called after each batch, or piece of work. */
  onFlush: () => void = () => {};

  /** @param report reports the failure of a batch */
  constructor(journal: Journal, report: (text: string) => void) {
    this.#journal = journal;
    this.#report = report;
  }

  /**
   * Adds a change to the next batch. Resolves after `stored`, which is called once the change is written.
   *
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  add(text: string, undo: Undo, stored: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        stored();
        resolve();
      };
      this.#pending.push({ text, undo, resolve: settle, reject });
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
    const { failure } = this;
    await this.between(() => {});
    if (this.failure !== failure) throw this.failure;
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#flush());
  }

  /** Writes a batch. Then runs one piece of work that needs exclusive access to the journal, even under constant load. */
  async #flush(): Promise<void> {
    const batch = this.#pending;
    this.#pending = [];
    // Work that is planned during the sync runs after the next batch, which has the changes before it.
    const turn = this.#turns.shift();
    // Waits only if necessary: each turn of the event loop would delay all changes of the batch.
    const syncing = batch.length ? this.#store(batch) : undefined;
    if (syncing) await syncing;
    if (turn) await turn();
    this.#isPlanned = false;
    this.onFlush();
    if (this.#pending.length || this.#turns.length) this.#plan();
  }

  /** Returns a promise if the caller must wait. */
  #store(batch: readonly Pending[]): Promise<void> | undefined {
    const before = this.#journal.end;
    try {
      this.#journal.append(batch.map(({ text }) => text));
    } catch (error) {
      this.#rollBack(batch, error);
      return undefined;
    }
    const settle = () => {
      for (const { resolve } of batch) resolve();
    };
    if (!this.#journal.fsync) {
      settle();
      return undefined;
    }
    // During a long sync, another process may have taken over the folder.
    const synced = this.#journal.sync().then(() => this.#journal.assertOurs());
    return synced.then(settle, (error) => {
      this.#journal.cut(before);
      this.#rollBack(batch, error);
    });
  }

  /** Rolls back all changes that are not on disk, newest first, since later ones build on the failed ones. */
  #rollBack(batch: readonly Pending[], error: unknown): void {
    const lost = [...batch, ...this.#pending];
    this.#pending = [];
    for (const { undo } of lost.toReversed()) undo();
    const failure =
      error instanceof GatewayError
        ? error
        : new GatewayError('storage_failed', `the change could not be stored: ${reason(error)}`, {
            hint: hint`Nothing was changed. Free disk space for the data folder and try again.`,
            cause: error,
          });
    this.failure = failure;
    this.#report(failure.message);
    for (const { reject } of lost) reject(failure);
  }
}
