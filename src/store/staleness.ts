import { COLLECTION_NAMES } from '../contract/state.ts';
import type { State } from '../domain/state.ts';
import type { StoredChange } from './snapshot.ts';

/** Below this, a new snapshot of a large state is not worthwhile. */
const MIN_BYTES = 8 * 2 ** 20;

/**
 * Measures how much data on disk is out of date because its records were replaced or removed. A removed record counts
 * as a record of average size. A journal with only new records is as good as a snapshot, however long it is.
 */
export class Staleness {
  readonly #target: { readonly state: State };
  readonly #file: { readonly size: number };
  #journalBytes = 0;
  #outdated = 0;

  constructor(target: { readonly state: State }, file: { readonly size: number }) {
    this.#target = target;
    this.#file = file;
  }

  /** Whether half of the data on disk is out of date. */
  get isLarge(): boolean {
    return this.#outdated > Math.max(MIN_BYTES, (this.#file.size + this.#journalBytes) / 2);
  }

  /** Applies a change. @param bytes the length of its line */
  measure<Result>(change: StoredChange, bytes: number, apply: () => Result): Result {
    const names = COLLECTION_NAMES.filter((name) => change[name]);
    const count = () => names.reduce((sum, name) => sum + this.#target.state[name].size, 0);
    const before = count();
    const total = this.#file.size + this.#journalBytes;
    const size = change.removed ? this.#target.state.size : 0;
    const result = apply();
    if (change.reset) this.#outdated = total;
    // The line of a removal itself is out of date, too.
    else if (change.removed)
      this.#outdated += bytes + (total * (size - this.#target.state.size)) / Math.max(size, 1);
    else {
      const records = names.reduce((sum, name) => sum + (change[name]?.length ?? 0), 0);
      const replaced = records - (count() - before);
      if (replaced) this.#outdated += (bytes * replaced) / records;
    }
    this.#journalBytes += bytes;
    return result;
  }

  /** A new snapshot was started, which has no outdated data. */
  begin(): void {
    this.#outdated = 0;
    this.#journalBytes = 0;
  }
}
