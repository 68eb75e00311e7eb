import timers from 'node:timers';

/*
 * Timers and clocks for what runs in a user's test: the library's client and its audits. The test may replace the globals
 * by fake ones, or run in jsdom, which has others. The emulator has its own thread and uses its globals.
 */

// Taken when the module is loaded, because Vitest also replaces what `node:timers` exports.
export const { clearTimeout, setTimeout } = timers;

/** The time of the machine, in milliseconds since 1970. */
export const realNow = Date.now;

/** For measuring durations, in milliseconds. No fake timers replace `uptime`. */
export const performance = { now: () => process.uptime() * 1_000 };

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
