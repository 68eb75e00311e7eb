// Bound in place of the globals, as they were when the library was loaded: a test in the same process that replaces
// them (fake timers) does not stop the emulator.
const RealDate = globalThis.Date;
export const { clearInterval, clearTimeout, performance, setImmediate, setInterval, setTimeout } = globalThis;
export { RealDate as Date };
