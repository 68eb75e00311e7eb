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
    const names = COLLECTION_NAMES.filter((name) => change[name]);
    const held = () => names.reduce((sum, name) => sum + this.#shadowed.state[name].size, 0);
    const before = held();
    const total = this.#file.size + this.#journalBytes;
    const size = change.removed ? this.#shadowed.state.size : 0;
    const result = apply();
    if (change.reset) this.#outdated = total;
    // The line itself holds nothing then that is of use.
    else if (change.removed)
      this.#outdated += bytes + (total * (size - this.#shadowed.state.size)) / Math.max(size, 1);
    else {
      const records = names.reduce((sum, name) => sum + (change[name]?.length ?? 0), 0);
      const replaced = records - (held() - before);
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
