// Imports that replace the globals: fake timers in a test of the same process do not stop the emulator. They come from
// modules, so that this also works if the globals were replaced before the library was loaded.
import { performance as realPerformance } from 'node:perf_hooks';
import timers from 'node:timers';

const RealDate = globalThis.Date;
export const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = timers;
export { RealDate as Date, realPerformance as performance };
