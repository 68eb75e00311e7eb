import type { Low } from 'lowdb';
import type { State } from '../domain/state.ts';
import type { Journal } from './journal.ts';
import type { SnapshotFile } from './snapshot-file.ts';

/** A state with at most this many records gets a snapshot a second after its last change: people open the file. */
const SMALL_STATE = 5_000;
const SNAPSHOT_DELAY_MS = 1_000;
/** A larger state gets one when its journal has outgrown db.json and this size, so that the cost of a change stays the same. */
const MIN_BYTES = 8 * 2 ** 20;

interface Parts {
  file: Pick<SnapshotFile, 'size'>;
  journal: Pick<Journal, 'end'>;
  /** Called after each planned snapshot. */
  onWritten: () => void;
  onFailed: (error: Error) => void;
}

/** Decides when db.json is written again. */
export class SnapshotPlan {
  readonly #db: Low<State>;
  readonly #parts: Parts;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #stopped = false;

  constructor(db: Low<State>, parts: Parts) {
    this.#db = db;
    this.#parts = parts;
  }

  /** Plans a snapshot if the journal has changes. */
  consider(): void {
    const { file, journal } = this.#parts;
    if (this.#stopped || this.#writing || !journal.end.changes) return;
    const isOutgrown = journal.end.bytes > Math.max(MIN_BYTES, file.size);
    if (!isOutgrown && this.#db.data.size <= SMALL_STATE) {
      if (this.#timer) this.#timer.refresh();
      else this.#timer = setTimeout(() => this.#start(), SNAPSHOT_DELAY_MS).unref();
      return;
    }
    this.#clearTimer();
    // No timer here: each batch would restart it, so it would never fire under load.
    if (isOutgrown) this.#start();
  }

  /** Writes a snapshot now, after the current one. Its failure is only reported. */
  async renew(): Promise<void> {
    await this.#writing;
    if (!this.#stopped) this.#start();
    await this.#writing;
  }

  /** Plans no more snapshots. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#clearTimer();
    await this.#writing;
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#clearTimer();
    this.#writing ??= this.#db.write().then(
      () => {
        this.#writing = undefined;
        this.#parts.onWritten();
        this.consider();
      },
      (error: Error) => {
        // The journal still has all changes. The next change triggers another snapshot.
        this.#writing = undefined;
        this.#parts.onFailed(error);
      },
    );
  }
}
