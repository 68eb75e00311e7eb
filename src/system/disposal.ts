/*
 * Methods for `using`. Jest has no such symbols before Node 24: there, the compiled code looks for the registered ones.
 */

export const disposable = (dispose: () => void) =>
  ({ [Symbol.dispose ?? Symbol.for('Symbol.dispose')]: dispose }) as unknown as Disposable;

export const asyncDisposable = (dispose: () => Promise<void>) =>
  ({ [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]: dispose }) as unknown as AsyncDisposable;
