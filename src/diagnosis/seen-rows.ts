import type { ShopDatabase } from '../contract/emulator.ts';
import type { RowChange } from '../contract/row-change.ts';

/** What changed in the shop's database around each IPN and return page. */
export interface SeenRows {
  /** What changed around the last attempt of a delivery, or the return of a payment's customer; null if it is not known. */
  of(id: string): RowChange[] | null;
  /** Why `of` is null; null if it is not, and without a database. */
  whyUnknown(id: string): string | null;
  /** Null without a database. */
  state: ShopDatabase | null;
  /** Resolves when it is known what changed around an attempt; undefined if that is not being found out. */
  whenKnown(id: string): Promise<void> | undefined;
  /**
   * Reads the database before and after an attempt, which only waits for the moment of the first reading, not for its rows;
   * and once more a second later, for what workers write late, which is waited for if nothing has changed yet. Another
   * attempt or return meanwhile leaves the changes unknown. Never fails unless `run` does.
   */
  around<Result>(id: string, run: () => Promise<Result>): Promise<Result>;
  /** The same for the return of a customer, who does not wait for the second reading. */
  aroundReturn<Result>(paymentId: string, run: () => Promise<Result>): Promise<Result>;
  /**
   * Watches the database apart from attempts. @returns the columns and new rows that have changed since the last call, as
   * `table.column` and `table.*`, without noise; undefined without a database
   */
  watch(deliveryId: string): Promise<(() => Promise<string[]>) | undefined>;
  /** Forgets everything: ids may be used again. */
  forget(): void;
}

/** Without a database, nothing is seen. */
export const UNSEEN: SeenRows = {
  of: () => null,
  whyUnknown: () => null,
  state: null,
  whenKnown: () => undefined,
  around: (_, run) => run(),
  aroundReturn: (_, run) => run(),
  watch: async () => undefined,
  forget: () => {},
};
