import timers from 'node:timers';

/*
 * Timers and clocks for everything that runs in a user's test, which may replace the globals by fake ones: those would
 * stop the emulator. A lint rule requires this module instead of the globals.
 */

// Taken when the module is loaded, because Vitest also replaces what `node:timers` exports.
export const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = timers;

/** The time of the machine, in milliseconds since 1970. */
export const realNow = Date.now;

/** For measuring durations, in milliseconds. No fake timers replace `uptime`. */
export const performance = { now: () => process.uptime() * 1_000 };

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
