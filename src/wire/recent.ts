/** Maximum number of pieces that are remembered, and characters of each. */
const MAX_PIECES = 32;
const MAX_LENGTH = 1_024;

/**
 * What the pieces of the last bodies were read as, by their place. A shop sends the same fields in the same order, most
 * of them with the same values: what is written the same is not read again, which saves most of the time of reading,
 * and is in memory once, however many payments have it.
 */
export class RecentPieces<Result> {
  readonly #pieces = new Array<{ written: string; result: Result } | undefined>(MAX_PIECES).fill(undefined);
  readonly #read: (written: string) => Result;

  /** @param read gives the same result for the same text */
  constructor(read: (written: string) => Result) {
    this.#read = read;
  }

  /** @param index counted from 0 in its body */
  read(index: number, written: string): Result {
    const recent = this.#pieces[index];
    if (recent?.written === written) return recent.result;
    const result = this.#read(written);
    if (index < MAX_PIECES && written.length <= MAX_LENGTH)
      this.#pieces[index] = { written: withoutRest(written), result };
    return result;
  }
}

/** A part of a text that does not keep the whole of it in memory, as a mere slice would. */
export function withoutRest(slice: string): string {
  return ` ${slice}`.slice(1);
}
