// Instead of src/system/real-time.ts, for a test that fakes the timers of the code that it tests.

type Globals = typeof globalThis;

export const setTimeout = (...args: Parameters<Globals['setTimeout']>) => globalThis.setTimeout(...args);
export const clearTimeout: Globals['clearTimeout'] = (timer) => globalThis.clearTimeout(timer);
export const realNow = () => Date.now();
export const performance = { now: () => globalThis.performance.now() };
export const pause = (milliseconds: number) =>
  new Promise<void>((resolve) => {
    globalThis.setTimeout(resolve, milliseconds);
  });
