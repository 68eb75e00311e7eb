import type { RowChange } from '../contract/row-change.ts';

/** What changed in the shop's database around each IPN and return page. */
export interface SeenRows {
  /** What changed around the last attempt of a delivery, or the return of a payment's customer; null if it is not known. */
  of(id: string): RowChange[] | null;
  /**
   * Reads the database before and after an attempt or a return, and once more for what is written late. Another one in
   * this time leaves the changes unknown.
   */
  around<Result>(id: string, run: () => Promise<Result>): Promise<Result>;
  /** The same for the return of a customer, once it is certain that an IPN before it changed nothing. */
  aroundReturn<Result>(paymentId: string, run: () => Promise<Result>): Promise<Result>;
}

/** Without a database, nothing is seen. */
export const UNSEEN: SeenRows = {
  of: () => null,
  around: (_, run) => run(),
  aroundReturn: (_, run) => run(),
};
