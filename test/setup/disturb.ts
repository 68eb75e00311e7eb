// For `npm run test:flakes`: simulates an overloaded machine. Everything is late, and in a different order than usual, but
// nothing is early.

/** Maximum delay of timers and requests. */
const LATE_MS = 60;
/** Sometimes the whole process stops for this long. */
const STALL_MS = 120;
const STALL_EVERY_MS = 400;
/** A longer timer fires immediately. */
const MAX_DELAY_MS = 2 ** 31 - 1;

let state = Number(process.env['TEST_SEED'] ?? 1);

/** From 0 to 1, excluding 1 (mulberry32). */
function random(): number {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

const { setTimeout: realSetTimeout, fetch: realFetch } = globalThis;

const late = () => new Promise((resolve) => realSetTimeout(resolve, random() * LATE_MS));

function disturb(): void {
  const lateTimeout = (run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) =>
    realSetTimeout(run, Math.min(delay + random() * LATE_MS, MAX_DELAY_MS), ...args);
  globalThis.setTimeout = Object.assign(lateTimeout, realSetTimeout);
  globalThis.fetch = async (...args) => {
    await late();
    const response = await realFetch(...args);
    await late();
    return response;
  };
  stall();
}

function stall(): void {
  const until = performance.now() + random() * STALL_MS;
  while (performance.now() < until);
  realSetTimeout(stall, random() * STALL_EVERY_MS).unref();
}

// Once per worker, which loads this for each of its files.
const worker: typeof globalThis & { isDisturbed?: boolean } = globalThis;
if (!worker.isDisturbed) disturb();
worker.isDisturbed = true;
