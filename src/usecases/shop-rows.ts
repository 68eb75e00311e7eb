import type { RowChange } from '../contract/row-change.ts';
import { changesBetween, type Reading, shownChange } from '../database/changes.ts';
import { pause, performance, setTimeout } from '../system/real-time.ts';
import type { SeenRows } from './seen-rows.ts';

/** A database that is slower is left alone: every IPN would wait for it. */
const MAX_READ_MS = 1_000;
/** Workers write late. */
const LATER_MS = 1_000;
/** Maximum number of IPNs and returns whose changes are kept. */
const MAX_KEPT = 1_000;

/** What changed between two readings around something. Neither of its functions fails. */
interface Seen {
  /** The changes so far; null if they are not known. */
  changes: () => Promise<RowChange[] | null>;
  /** Keeps the changes. */
  end: () => Promise<void>;
}

/** Kept in memory only. Whatever goes wrong while a delivery is watched is a notice, and does not change the delivery. */
export class ShopRows implements SeenRows {
  readonly #readRows: () => Promise<Reading>;
  readonly #isWhole: () => boolean;
  readonly #notice: (text: string) => void;
  readonly #changes = new Map<string, RowChange[]>();
  /** The attempts around which the database is being read. */
  readonly #watched = new Map<string, Promise<void>>();
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
  constructor(read: () => Promise<Reading>, isWhole: () => boolean, notice: (text: string) => void) {
    this.#readRows = read;
    this.#isWhole = isWhole;
    this.#notice = notice;
  }

  of(id: string): RowChange[] | null {
    return this.#changes.get(id) ?? null;
  }

  whenKnown(id: string): Promise<void> | undefined {
    return this.#watched.get(id);
  }

  forget(): void {
    this.#changes.clear();
    // What is being read now belongs to the past.
    this.#begun++;
  }

  async around<Result>(id: string, run: () => Promise<Result>): Promise<Result> {
    const seen = await this.#begin(id);
    if (!seen) return run();
    let setKnown = () => {};
    const known = new Promise<void>((resolve) => {
      setKnown = resolve;
    });
    this.#watched.set(id, known);
    try {
      return await run();
    } finally {
      // Only if nothing has changed yet may it change late.
      if ((await seen.changes())?.length === 0) await pause(LATER_MS);
      await seen.end();
      this.#watched.delete(id);
      setKnown();
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
  async #begin(id: string): Promise<Seen | undefined> {
    this.#changes.delete(id);
    const turn = ++this.#begun;
    if (this.#running > 0 || this.#isOff) return undefined;
    this.#running++;
    const before = await this.#read();
    const changes = async () => {
      const after = before && (await this.#read());
      return before && after ? this.#changesBetween(before, after) : null;
    };
    const end = async () => {
      const found = turn === this.#begun ? await changes() : null;
      this.#running--;
      const isKnown = found !== null && (found.length > 0 || this.#isWhole());
      if (isKnown && turn === this.#begun) this.#keep(id, found);
    };
    return { changes, end };
  }

  #changesBetween(before: Reading, after: Reading): RowChange[] | null {
    try {
      return changesBetween(before.rows, after.rows).map((change) =>
        shownChange(change, after.keys.get(change.table) ?? before.keys.get(change.table)),
      );
    } catch (error) {
      this.#report(reasonOf(error));
      return null;
    }
  }

  #keep(id: string, changes: RowChange[]): void {
    this.#changes.set(id, changes);
    const [oldest] = this.#changes.keys();
    if (this.#changes.size > MAX_KEPT && oldest !== undefined) this.#changes.delete(oldest);
  }

  async #read(): Promise<Reading | undefined> {
    if (this.#isOff) return undefined;
    const began = performance.now();
    let reading: Reading | undefined;
    let problem: string | undefined;
    try {
      reading = await this.#readRows();
    } catch (error) {
      problem = reasonOf(error);
    }
    const tookMs = Math.round(performance.now() - began);
    if (tookMs > MAX_READ_MS) {
      this.#isOff = true;
      this.#isReported = false;
      problem ??= `reading the database took ${tookMs} ms`;
      problem = `${problem}. It is no longer read`;
    }
    if (problem !== undefined) this.#report(problem);
    return reading;
  }

  /** Reports once why nothing is known, and that it is no longer read. The database may be there later. */
  #report(why: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#notice(`What IPNs change in the shop is not known: ${why}`);
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
