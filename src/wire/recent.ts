/** Maximum number of cached pieces, and of characters in each. */
const MAX_PIECES = 32;
const MAX_LENGTH = 1_024;

/**
 * A cache of parsed pieces of the last bodies, by their position. A shop sends the same fields in the same order, most
 * with the same values. The cache saves most of the parsing time, and payments share equal values in memory.
 */
export class RecentPieces<Result> {
  readonly #pieces = new Array<{ written: string; result: Result } | undefined>(MAX_PIECES).fill(undefined);
  readonly #read: (written: string) => Result;

  /** @param read must return the same result for the same text */
  constructor(read: (written: string) => Result) {
    this.#read = read;
  }

  /** @param index the position in its body, counted from 0 */
  read(index: number, written: string): Result {
    const recent = this.#pieces[index];
    if (recent?.written === written) return recent.result;
    const result = this.#read(written);
    if (index < MAX_PIECES && written.length <= MAX_LENGTH)
      this.#pieces[index] = { written: withoutRest(written), result };
    return result;
  }
}

/** Copies a slice. A plain slice would keep the whole text in memory. */
export function withoutRest(slice: string): string {
  return ` ${slice}`.slice(1);
}
