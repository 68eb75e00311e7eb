// Bound in place of the globals: a test in the same process that replaces them (fake timers) does not stop the
// emulator. They come from modules, so that it also holds where they were replaced before the library was loaded.
import { performance as realPerformance } from 'node:perf_hooks';
import timers from 'node:timers';

const RealDate = globalThis.Date;
export const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = timers;
export { RealDate as Date, realPerformance as performance };
