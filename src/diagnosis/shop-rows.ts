import { setTimeout as pause } from 'node:timers/promises';
import type { ShopDatabase } from '../contract/emulator.ts';
import type { RowChange } from '../contract/row-change.ts';
import { changesBetween, type Reading, shownChange } from '../database/changes.ts';
import { sortByRelevance } from '../database/relevance.ts';

/** Maximum time that an IPN waits for the moment of a reading, not for its rows: far longer than a client takes. */
const MAX_WAIT_MS = 1_000;
/** A slower reading is reported. */
const SLOW_MS = 1_000;
/** Workers write late. */
const LATER_MS = 1_000;
/** Maximum number of IPNs and returns whose changes are kept. */
const MAX_KEPT = 1_000;

/** The changes that are kept, or why they are not known. */
type Known = RowChange[] | string;

interface ShopRowsParts {
  /** Reads the database. Calls `onMoment` as soon as later changes are not in the reading. */
  read: (onMoment: () => void) => Promise<Reading>;
  /** The number of tables, and those that are not read: no change may be seen where there is one. */
  tables: () => { count: number; leftOut: string | undefined };
  /** What identifies the payment of an IPN, or of a return: its identifier and its transaction id. */
  tiesOf: (id: string) => readonly string[];
  /** Tells the user why something is not known. */
  notice: (text: string) => void;
}

/** Kept in memory only. Whatever goes wrong while a delivery is watched is a notice, and does not change the delivery. */
export class ShopRows {
  readonly #parts: ShopRowsParts;
  readonly #known = new Map<string, Known>();
  /** The attempts around which the database is being read. */
  readonly #watched = new Map<string, Promise<void>>();
  /** Attempts and returns so far, and those that run now: what changes during two of them belongs to neither. */
  #begun = 0;
  #running = 0;
  /** Whether a reading is under way that did not begin in time. Nothing waits for it. */
  #isLate = false;
  /** Why the last reading failed. */
  #problem: string | null = null;
  #reported: string | undefined;
  #lastMs: number | null = null;
  #isSlowReported = false;

  constructor(parts: ShopRowsParts) {
    this.#parts = parts;
  }

  /** What changed around the last attempt of a delivery, or the return of a payment's customer; null if it is not known. */
  of(id: string): RowChange[] | null {
    const known = this.#known.get(id);
    return Array.isArray(known) ? known : null;
  }

  /** Why `of` is null; null if it is not, and without a database. */
  whyUnknown(id: string): string | null {
    const known =
      this.#known.get(id) ?? 'the emulator was started or reset since, and keeps changes in memory only';
    return Array.isArray(known) ? null : known;
  }

  /** Null without a database. */
  get state(): ShopDatabase | null {
    return { tables: this.#parts.tables().count, lastMs: this.#lastMs, problem: this.#problem };
  }

  /** Resolves when it is known what changed around an attempt; undefined if that is not being found out. */
  whenKnown(id: string): Promise<void> | undefined {
    return this.#watched.get(id);
  }

  /** Forgets everything: ids may be used again. */
  forget(): void {
    this.#known.clear();
    // What is being read now belongs to the past.
    this.#begun++;
  }

  /**
   * Reads the database before and after an attempt, which only waits for the moment of the first reading, not for its rows;
   * and once more a second later, for what workers write late, which is waited for if nothing has changed yet. Another
   * attempt or return meanwhile leaves the changes unknown. Never fails unless `run` does.
   */
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
      const changes = await seen.changes();
      // If nothing has changed yet, what changes late is waited for.
      if (Array.isArray(changes) && changes.every(({ noise }) => noise)) await pause(LATER_MS);
      else setTimeout(seen.later, LATER_MS).unref();
      await seen.end();
      this.#watched.delete(id);
      setKnown();
    }
  }

  /** The same for the return of a customer, who does not wait for the second reading. */
  async aroundReturn<Result>(paymentId: string, run: () => Promise<Result>): Promise<Result> {
    const seen = await this.#begin(paymentId);
    try {
      return await run();
    } finally {
      // The customer does not wait.
      if (seen) setTimeout(seen.end, LATER_MS).unref();
    }
  }

  /**
   * Watches the database apart from attempts. @returns the columns and new rows that have changed since the last call, as
   * `table.column` and `table.*`, without noise; undefined without a database
   */
  async watch(id: string): Promise<(() => Promise<string[]>) | undefined> {
    let last = await this.#read();
    return async () => {
      const [before, after] = [last, await this.#read()];
      last = after;
      if (typeof before === 'string' || typeof after === 'string') return [];
      const known = this.#changesBetween(id, before, after);
      if (typeof known === 'string') return [];
      return known.flatMap(({ table, column, noise }) => (noise ? [] : [`${table}.${column}`]));
    };
  }

  /**
   * Reads the database before something happens. @returns functions that do not fail; undefined if what it changes cannot
   * be known
   */
  async #begin(id: string) {
    const turn = ++this.#begun;
    this.#keep(id, this.#running > 0 ? NOT_ALONE : 'the database is still being read');
    if (this.#running > 0) return undefined;
    this.#running++;
    const before = await this.#readBefore();
    /** The changes so far. */
    const changes = async (): Promise<Known> => {
      const old = await before();
      const current = typeof old === 'string' ? old : await this.#read();
      if (typeof old === 'string' || typeof current === 'string') return current as string;
      return this.#changesBetween(id, old, current);
    };
    const changesOfOne = async () => (turn === this.#begun ? await changes() : NOT_ALONE);
    /** Keeps the changes. */
    const end = async () => {
      const found = await changesOfOne();
      this.#running--;
      if (!this.#known.has(id)) return;
      const { leftOut } = this.#parts.tables();
      const isSure = leftOut === undefined || found.length > 0;
      const known = isSure ? found : `nothing changed in the tables that are read, but ${leftOut}`;
      this.#keep(id, turn === this.#begun ? known : NOT_ALONE);
    };
    /** Keeps what has changed since the end, too, unless something else has begun. */
    const later = async () => {
      const found = await changesOfOne();
      if (turn === this.#begun && Array.isArray(found)) this.#keep(id, found);
    };
    return { changes, end, later };
  }

  /** Begins a reading, and waits for its moment, but not for its rows. @returns gives the reading, or why there is none */
  async #readBefore(): Promise<() => Promise<Reading | string>> {
    if (this.#isLate) return async () => TOO_LATE;
    let setMoment = () => {};
    const moment = new Promise<void>((resolve) => {
      setMoment = resolve;
    });
    const reading = this.#read(setMoment);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, MAX_WAIT_MS, 'late');
    });
    const first = await Promise.race([moment, reading, limit]);
    clearTimeout(timer);
    if (first !== 'late') return () => reading;
    this.#isLate = true;
    this.#report(TOO_LATE);
    void reading.then(() => {
      this.#isLate = false;
    });
    return async () => TOO_LATE;
  }

  #changesBetween(id: string, before: Reading, after: Reading): Known {
    try {
      const all = changesBetween(before.rows, after.rows);
      return sortByRelevance(all, after, this.#parts.tiesOf(id)).map(({ isNoise, ...change }) => ({
        ...shownChange(change, after.keys.get(change.table) ?? before.keys.get(change.table)),
        ...(isNoise && { noise: true as const }),
      }));
    } catch (error) {
      return this.#report(reasonOf(error));
    }
  }

  #keep(id: string, known: Known): void {
    this.#known.set(id, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KEPT && oldest !== undefined) this.#known.delete(oldest);
  }

  /** @returns the reading, or why there is none */
  async #read(onMoment = () => {}): Promise<Reading | string> {
    const began = performance.now();
    try {
      const reading = await this.#parts.read(onMoment);
      this.#lastMs = Math.round(performance.now() - began);
      this.#problem = null;
      if (this.#lastMs > SLOW_MS && !this.#isSlowReported) {
        this.#isSlowReported = true;
        this.#parts.notice(
          `Reading the shop's database takes ${this.#lastMs} ms. IPNs do not wait for it, but what they change is known later. dbSkip leaves tables out`,
        );
      }
      return reading;
    } catch (error) {
      return this.#report(reasonOf(error));
    }
  }

  /** Reports why nothing is known, unless it is the same as before. @returns the reason */
  #report(why: string): string {
    if (why !== this.#reported) this.#parts.notice(`What IPNs change in the shop is not known: ${why}`);
    this.#reported = why;
    this.#problem = why;
    return why;
  }
}

const NOT_ALONE = 'another IPN or return was under way at the same time, and may have caused the changes';
const TOO_LATE = `the database did not answer within ${MAX_WAIT_MS / 1_000} s, and no IPN waits longer`;

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
