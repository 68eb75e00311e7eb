// Replaces global timers with imports, so that a test's fake timers do not stop an emulator in the same process.
// Imports also work if the globals were replaced before the library was loaded.
import { performance as realPerformance } from 'node:perf_hooks';
import timers from 'node:timers';

const RealDate = globalThis.Date;
export const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = timers;
export { RealDate as Date, realPerformance as performance };
