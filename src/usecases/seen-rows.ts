import type { RowChange } from '../contract/row-change.ts';

/** What changed in the shop's database around each IPN and return page. */
export interface SeenRows {
  /** What changed around the last attempt of a delivery, or the return of a payment's customer; null if it is not known. */
  of(id: string): RowChange[] | null;
  /** Resolves when it is known what changed around an attempt; undefined if that is not being found out. */
  whenKnown(id: string): Promise<void> | undefined;
  /**
   * Reads the database before and after an attempt; if nothing changed, once more a second later, for what workers write
   * late. Another attempt or return in this time leaves the changes unknown. Never fails unless `run` does.
   */
  around<Result>(id: string, run: () => Promise<Result>): Promise<Result>;
  /** The same for the return of a customer, who does not wait for the second reading. */
  aroundReturn<Result>(paymentId: string, run: () => Promise<Result>): Promise<Result>;
  /** Forgets everything: ids may be used again. */
  forget(): void;
}

/** Without a database, nothing is seen. */
export const UNSEEN: SeenRows = {
  of: () => null,
  whenKnown: () => undefined,
  around: (_, run) => run(),
  aroundReturn: (_, run) => run(),
  forget: () => {},
};
