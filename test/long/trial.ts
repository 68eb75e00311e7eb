import { test } from 'vitest';
import { numbersFrom } from '../helpers/seed.ts';

/** Observations that contradict the documentation. */
export type Failure = 'lost' | '5xx' | 'outside' | 'hang' | 'ended' | 'other';

/** The results of a trial for the table. */
export interface Tally {
  /** In milliseconds since 1970. */
  began: number;
  cases: number;
  requests: number;
  failures: { kind: Failure; text: string }[];
  /** Remarks below the table. */
  notes: string[];
}

declare module 'vitest' {
  interface TaskMeta {
    tally?: Tally;
  }
}

/** Limits a trial, and collects its results. */
export interface Budget {
  /** Whether to run another case. */
  more: () => boolean;
  /** Repeats a case until the budget is spent; `lanes` is how many run at the same time. */
  repeat: (tried: (number: number) => Promise<void>, lanes?: number) => Promise<void>;
  /** Adds to the number of tested cases. */
  cases: (count?: number) => void;
  /** Adds to the number of answered requests. */
  requests: (count?: number) => void;
  /** Records a broken promise. The trial continues, and fails at its end. */
  fail: (kind: Failure, text: string) => void;
  note: (text: string) => void;
  /** Draws an integer from 0 up to, but not including, the number. The seed determines it. */
  below: (number: number) => number;
  /** Whether this is the short version for a release. */
  short: boolean;
  /** How much of a whole run this is, up to 1. Fixed sizes are multiplied by it. */
  part: number;
  /** Aborted when the run is interrupted. */
  signal: AbortSignal;
  /** Shuffles items by the seed, so that short runs test different items each time. */
  shuffled: <Item>(items: readonly Item[]) => Item[];
}

interface Plan {
  /** The number of cases for a release. */
  short: number;
  /** The minimum number of cases in a whole run, however long they take. */
  least: number;
  /** Its share of the long run's time, in percent. */
  share: number;
}

/** Minutes of the long run; 0 for a release. */
const MINUTES = Number(process.env.TRIAL_MINUTES ?? 0);
const SEED = Number(process.env.TRIAL_SEED ?? 1);
/** A run of at least this length tests every finite list of cases completely. */
const WHOLE_MINUTES = 30;
/** A trial may exceed its share to reach its minimum of cases. After this time it counts as hung. */
const LONGEST_MS = 30 * 60_000;

/**
 * The limits of a trial. A whole run continues until it reaches the minimum; a shorter one stops when its time is over.
 *
 * @param minutes the time for all trials together; 0 for a release
 */
function extentOf({ short, least, share }: Plan, minutes: number) {
  const part = Math.min(1, minutes / WHOLE_MINUTES);
  if (!minutes) return { part, least: short, milliseconds: 0 };
  return { part, least: part === 1 ? least : 1, milliseconds: (minutes * 60_000 * share) / 100 };
}

/**
 * Declares a trial of a promise: a few cases for a release, many in `npm run test:long`.
 *
 * @param run tests cases until the budget is spent
 */
export function trial(name: string, plan: Plan, run: (budget: Budget) => Promise<void>): void {
  const long = MINUTES > 0;
  test(name, { timeout: long ? LONGEST_MS : 60_000 }, async ({ task, expect, signal }) => {
    const tally: Tally = { began: Date.now(), cases: 0, requests: 0, failures: [], notes: [] };
    task.meta.tally = tally;
    const { part, least, milliseconds } = extentOf(plan, MINUTES);
    const until = performance.now() + milliseconds;
    const random = numbersFrom(SEED);
    const below = (limit: number) => Math.floor(random() * limit);
    const budget: Budget = {
      more: () => !signal.aborted && (tally.cases < least || performance.now() < until),
      repeat: async (tried, lanes = 1) => {
        let next = 0;
        const lane = async () => {
          while (budget.more()) {
            await tried(next++);
            tally.cases++;
          }
        };
        await Promise.all(Array.from({ length: lanes }, lane));
      },
      cases: (count = 1) => {
        tally.cases += count;
      },
      requests: (count = 1) => {
        tally.requests += count;
      },
      fail: (kind, text) => {
        tally.failures.push({ kind, text });
      },
      note: (text) => {
        tally.notes.push(text);
      },
      below,
      short: !long,
      part,
      signal,
      shuffled: (items) =>
        items
          .map((item) => ({ item, at: below(2 ** 31) }))
          .sort((one, other) => one.at - other.at)
          .map(({ item }) => item),
    };
    await run(budget);
    expect(tally.failures.slice(0, 20)).toEqual([]);
    if (!signal.aborted) expect(tally.cases).toBeGreaterThanOrEqual(least);
  });
}
