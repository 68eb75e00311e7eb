import type { RowChange } from '../contract/row-change.ts';
import { changesBetween, type Rows } from '../database/rows.ts';
import { performance, setTimeout } from '../system/real-time.ts';
import type { SeenRows } from './seen-rows.ts';

/** A database that is slower is left alone: every IPN would wait for it. */
const MAX_READ_MS = 1_000;
/** Workers write late. */
const LATER_MS = 1_000;
/** Maximum number of IPNs and returns whose changes are kept. */
const MAX_KEPT = 1_000;

/** Kept in memory only, and never in the way of a delivery. */
export class ShopRows implements SeenRows {
  readonly #read: () => Promise<Rows>;
  readonly #notice: (text: string) => void;
  readonly #changes = new Map<string, RowChange[]>();
  /** Attempts and returns so far, and those that run now: what changes during two of them belongs to neither. */
  #begun = 0;
  #running = 0;
  /** The last reading for an attempt that has changed nothing so far. */
  #late: Promise<void> | undefined;
  #isOff = false;
  #isTold = false;

  /** @param read reads the database @param notice tells the user that it is no longer read */
  constructor(read: () => Promise<Rows>, notice: (text: string) => void) {
    this.#read = read;
    this.#notice = notice;
  }

  of(id: string): RowChange[] | null {
    return this.#changes.get(id) ?? null;
  }

  async around<Result>(id: string, run: () => Promise<Result>): Promise<Result> {
    const turn = ++this.#begun;
    let isAlone = this.#running++ === 0;
    const before = await this.#rows();
    try {
      return await run();
    } finally {
      const after = before && (await this.#rows());
      this.#running--;
      isAlone &&= turn === this.#begun;
      if (!isAlone) this.#changes.delete(id);
      else if (before && after) {
        this.#keep(id, changesBetween(before, after));
        const late = new Promise<void>((resolve) => {
          setTimeout(resolve, LATER_MS).unref();
        }).then(async () => {
          const later = await this.#rows();
          if (later && turn === this.#begun) this.#keep(id, changesBetween(before, later));
        });
        this.#late = this.of(id)?.length ? undefined : late;
      }
    }
  }

  async aroundReturn<Result>(paymentId: string, run: () => Promise<Result>): Promise<Result> {
    await this.#late;
    try {
      return await this.around(paymentId, run);
    } finally {
      // The next return waits for an IPN only.
      this.#late = undefined;
    }
  }

  #keep(id: string, changes: RowChange[]): void {
    this.#changes.delete(id);
    this.#changes.set(id, changes);
    const [oldest] = this.#changes.keys();
    if (this.#changes.size > MAX_KEPT && oldest !== undefined) this.#changes.delete(oldest);
  }

  async #rows(): Promise<Rows | undefined> {
    if (this.#isOff) return undefined;
    const began = performance.now();
    try {
      const rows = await this.#read();
      const tookMs = Math.round(performance.now() - began);
      if (tookMs > MAX_READ_MS) {
        this.#isOff = true;
        this.#tell(`reading it took ${tookMs} ms. It is left alone`);
      }
      return rows;
    } catch (error) {
      this.#tell(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Says once why nothing is known. The database may be there later. */
  #tell(why: string): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#notice(`What IPNs change in the shop is not known: ${why}`);
  }
}
