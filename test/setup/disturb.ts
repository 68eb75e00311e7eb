// For `npm run test:flakes`: simulates an overloaded machine. Everything is late and in an unusual order, but nothing is
// early.

import { numbersFrom } from '../helpers/seed.ts';

/** Maximum delay of timers and requests. */
const LATE_MS = 60;
/** Maximum duration of the occasional pauses of the whole process. */
const STALL_MS = 120;
const STALL_EVERY_MS = 400;
/** The maximum of setTimeout: a longer timer would fire immediately. */
const MAX_DELAY_MS = 2 ** 31 - 1;

const random = numbersFrom(Number(process.env['TEST_SEED'] ?? 1));

// A test may replace the clock.
const { setTimeout: realSetTimeout, fetch: realFetch } = globalThis;
const realNow = performance.now.bind(performance);

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
  const until = realNow() + random() * STALL_MS;
  while (realNow() < until);
  realSetTimeout(stall, random() * STALL_EVERY_MS).unref();
}

// Only once per worker, which runs this for each of its files.
const worker: typeof globalThis & { isDisturbed?: boolean } = globalThis;
if (!worker.isDisturbed) disturb();
worker.isDisturbed = true;
