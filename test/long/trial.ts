import { test } from 'vitest';

/** What a case may show that the documentation promises never to happen. */
export type Failure = 'lost' | '5xx' | 'outside' | 'hang' | 'ended' | 'other';

/** What a trial has counted, as the table prints it. */
export interface Tally {
  promise: string;
  cases: number;
  requests: number;
  failures: { kind: Failure; text: string }[];
  /** What the reader of the table should know: what could not be tried here, and why. */
  notes: string[];
}

declare module 'vitest' {
  interface TaskMeta {
    tally?: Tally;
  }
}

/** How much a trial may do, and what it has seen. */
export interface Budget {
  /** Whether another case should be tried. */
  more: () => boolean;
  /** Repeats a case until the budget is spent. */
  repeat: (tried: (number: number) => Promise<void>) => Promise<void>;
  /** Counts cases that were tried. */
  cases: (count?: number) => void;
  /** Counts requests that were answered or refused. */
  requests: (count?: number) => void;
  /** Records a broken promise; the trial goes on, and fails at its end. */
  fail: (kind: Failure, text: string) => void;
  note: (text: string) => void;
  /** From 0 up to, but without, the number; the same for the same seed. */
  below: (number: number) => number;
  /** Whether this is the bounded share that `npm test` runs. */
  short: boolean;
  seed: number;
}

interface Plan {
  /** The sentence of the documentation that it tries. */
  promise: string;
  /** Cases in `npm test`. */
  short: number;
  /** Cases that the long run reaches, however long they take. */
  least: number;
  /** Its part of the long run's minutes, of 100. */
  share: number;
  /** Why it cannot be tried here; empty when it can. */
  cannot?: string;
}

/** Minutes of the whole long run; nothing in `npm test`. */
const MINUTES = Number(process.env.TRIAL_MINUTES ?? 0);
const SEED = Number(process.env.TRIAL_SEED ?? 1);
/** A trial may overrun its share to reach its least number of cases; what takes longer than this hangs. */
const LONGEST_MS = 30 * 60_000;

/** Mulberry32: a case that failed can be tried again with the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/**
 * One trial of a promise: a few cases in `npm test`, many in `npm run test:long`.
 *
 * @param run tries cases until the budget is spent
 */
export function trial(name: string, plan: Plan, run: (budget: Budget) => Promise<void>): void {
  const { promise, share, cannot } = plan;
  const long = MINUTES > 0;
  const title = cannot ? `${name} (not tried here: ${cannot})` : name;
  test.skipIf(cannot !== undefined)(
    title,
    { timeout: long ? LONGEST_MS : 60_000 },
    async ({ task, expect }) => {
      const tally: Tally = { promise, cases: 0, requests: 0, failures: [], notes: [] };
      task.meta.tally = tally;
      const until = performance.now() + (MINUTES * 60_000 * share) / 100;
      const least = long ? plan.least : plan.short;
      const budget: Budget = {
        more: () => tally.cases < least || (long && performance.now() < until),
        repeat: async (tried) => {
          for (let number = 0; budget.more(); number++) {
            await tried(number);
            tally.cases++;
          }
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
        below: numbers(SEED),
        short: !long,
        seed: SEED,
      };
      await run(budget);
      expect(tally.failures.slice(0, 20)).toEqual([]);
      expect(tally.cases).toBeGreaterThanOrEqual(least);
    },
  );
}
