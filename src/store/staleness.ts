import { COLLECTION_NAMES } from '../contract/state.ts';
import type { State } from '../domain/state.ts';
import type { StoredChange } from './snapshot.ts';

/** Less than this is never worth writing a large state once more. */
const LEAST_BYTES = 8 * 2 ** 20;

/**
 * How much of what is on disk is out of date: records that were replaced or removed since. A removed one counts as
 * many bytes as the others have. A journal that only holds new records
 * is as good as a snapshot of them, however long it is.
 */
export class Staleness {
  readonly #shadowed: { readonly state: State };
  readonly #file: { readonly size: number };
  #journalBytes = 0;
  #outdated = 0;

  constructor(shadowed: { readonly state: State }, file: { readonly size: number }) {
    this.#shadowed = shadowed;
    this.#file = file;
  }

  /** Whether half of what is on disk is out of date. */
  get isLarge(): boolean {
    return this.#outdated > Math.max(LEAST_BYTES, (this.#file.size + this.#journalBytes) / 2);
  }

  /** Applies a change. @param bytes of its line */
  measure<Result>(change: StoredChange, bytes: number, apply: () => Result): Result {
    const before = this.#shadowed.state.size;
    const total = this.#file.size + this.#journalBytes;
    const result = apply();
    const after = this.#shadowed.state.size;
    if (change.reset) this.#outdated = total;
    // The line itself holds nothing then that is of use.
    else if (change.removed) this.#outdated += bytes + (total * (before - after)) / Math.max(before, 1);
    else {
      let records = 0;
      for (const name of COLLECTION_NAMES) records += change[name]?.length ?? 0;
      const replaced = records - (after - before);
      if (replaced) this.#outdated += (bytes * replaced) / records;
    }
    this.#journalBytes += bytes;
    return result;
  }

  /** A snapshot is being made: whatever was out of date until now goes with it. */
  begin(): void {
    this.#outdated = 0;
    this.#journalBytes = 0;
  }
}
