import type { RowChange } from '../contract/row-change.ts';
import { changesBetween, type Rows } from '../database/changes.ts';
import { pause, performance, setTimeout } from '../system/real-time.ts';
import type { SeenRows } from './seen-rows.ts';

/** A database that is slower is left alone: every IPN would wait for it. */
const MAX_READ_MS = 1_000;
/** Workers write late. */
const LATER_MS = 1_000;
/** Maximum number of IPNs and returns whose changes are kept. */
const MAX_KEPT = 1_000;

/** Kept in memory only. A delivery never fails because of it. */
export class ShopRows implements SeenRows {
  readonly #read: () => Promise<Rows>;
  readonly #isWhole: () => boolean;
  readonly #notice: (text: string) => void;
  readonly #changes = new Map<string, RowChange[]>();
  /** Attempts and returns so far, and those that run now: what changes during two of them belongs to neither. */
  #begun = 0;
  #running = 0;
  #isOff = false;
  #isReported = false;

  /**
   * @param read reads the database
   * @param isWhole whether every table is read; if not, no change is seen where there may be one
   * @param notice tells the user that it is no longer read
   */
  constructor(read: () => Promise<Rows>, isWhole: () => boolean, notice: (text: string) => void) {
    this.#read = read;
    this.#isWhole = isWhole;
    this.#notice = notice;
  }

  of(id: string): RowChange[] | null {
    return this.#changes.get(id) ?? null;
  }

  forget(): void {
    this.#changes.clear();
    // What is being read now belongs to the past.
    this.#begun++;
  }

  async around<Result>(id: string, run: () => Promise<Result>): Promise<Result> {
    const seen = await this.#begin(id);
    try {
      return await run();
    } finally {
      // Only if nothing has changed yet may it change late.
      if (seen && (await seen.changes())?.length === 0) await pause(LATER_MS);
      await seen?.end();
    }
  }

  async aroundReturn<Result>(paymentId: string, run: () => Promise<Result>): Promise<Result> {
    const seen = await this.#begin(paymentId);
    try {
      return await run();
    } finally {
      // The customer does not wait.
      if (seen) setTimeout(seen.end, LATER_MS).unref();
    }
  }

  /** Reads the database before something happens. @returns undefined if what it changes cannot be known */
  async #begin(id: string) {
    this.#changes.delete(id);
    const turn = ++this.#begun;
    if (this.#running > 0 || this.#isOff) return undefined;
    this.#running++;
    const before = await this.#rows();
    const changes = async () => {
      const after = before && (await this.#rows());
      return before && after ? changesBetween(before, after) : null;
    };
    const end = async () => {
      const found = turn === this.#begun ? await changes() : null;
      this.#running--;
      const isKnown = found !== null && (found.length > 0 || this.#isWhole());
      if (isKnown && turn === this.#begun) this.#keep(id, found);
    };
    return { changes, end };
  }

  #keep(id: string, changes: RowChange[]): void {
    this.#changes.set(id, changes);
    const [oldest] = this.#changes.keys();
    if (this.#changes.size > MAX_KEPT && oldest !== undefined) this.#changes.delete(oldest);
  }

  async #rows(): Promise<Rows | undefined> {
    if (this.#isOff) return undefined;
    const began = performance.now();
    let problem: string | undefined;
    const rows = await this.#read().catch((error: unknown) => {
      problem = error instanceof Error ? error.message : String(error);
      return undefined;
    });
    const tookMs = Math.round(performance.now() - began);
    if (tookMs > MAX_READ_MS) {
      this.#isOff = true;
      problem ??= `reading the database took ${tookMs} ms`;
      problem = `${problem}. It is no longer read`;
    }
    if (problem !== undefined) this.#reportOnce(problem);
    return rows;
  }

  /** Reports why nothing is known. The database may be there later. */
  #reportOnce(why: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#notice(`What IPNs change in the shop is not known: ${why}`);
  }
}
