// Replaces src/system/real-time.ts, so that a test can fake the timers of the code that it tests.

type Globals = typeof globalThis;

export const setTimeout = (...args: Parameters<Globals['setTimeout']>) => globalThis.setTimeout(...args);
export const clearTimeout: Globals['clearTimeout'] = (timer) => globalThis.clearTimeout(timer);
export const setInterval = (...args: Parameters<Globals['setInterval']>) => globalThis.setInterval(...args);
export const clearInterval: Globals['clearInterval'] = (timer) => globalThis.clearInterval(timer);
export const setImmediate = (...args: Parameters<Globals['setImmediate']>) =>
  globalThis.setImmediate(...args);
export const clearImmediate: Globals['clearImmediate'] = (timer) => globalThis.clearImmediate(timer);
export const realNow = () => Date.now();
export const performance = { now: () => globalThis.performance.now() };
export const pause = (milliseconds: number) =>
  new Promise<void>((resolve) => {
    globalThis.setTimeout(resolve, milliseconds);
  });
