// Replaces global timers with imports, so that a test's fake timers do not stop an emulator in the same process.
// Imports also work if the globals were replaced before the library was loaded.
import timers from 'node:timers';

const RealDate = globalThis.Date;
export const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = timers;
export { RealDate as Date };
/** No fake timers replace `uptime`, and loading node:perf_hooks takes 2 ms of a start. */
export const performance = { now: () => process.uptime() * 1_000 };
