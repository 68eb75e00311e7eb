import { test } from 'vitest';

/** What a case may show that the documentation promises never to happen. */
export type Failure = 'lost' | '5xx' | 'outside' | 'hang' | 'ended' | 'other';

/** What a trial has counted, as the table prints it. */
export interface Tally {
  promise: string;
  /** In milliseconds since 1970. */
  began: number;
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
  /** Whether this is the bounded share of a release. */
  short: boolean;
  /** How much of the whole it is, up to 1: what has a size of its own is made smaller by it. */
  part: number;
  seed: number;
  /** Aborted when the run is interrupted. */
  signal: AbortSignal;
  /** The same items in the order of the seed: a run that has no time for all of them takes others each time. */
  shuffled: <Item>(items: readonly Item[]) => Item[];
}

interface Plan {
  /** The sentence of the documentation that it tries. */
  promise: string;
  /** Cases for a release. */
  short: number;
  /** Cases that a whole run reaches, however long they take. */
  least: number;
  /** Its part of the long run's minutes, of 100. */
  share: number;
  /** Why it cannot be tried here; empty when it can. */
  cannot?: string;
}

/** Minutes of the long run; nothing for a release. */
const MINUTES = Number(process.env.TRIAL_MINUTES ?? 0);
const SEED = Number(process.env.TRIAL_SEED ?? 1);
/** From so many minutes on everything that has an end is tried to its end. */
const WHOLE_MINUTES = 30;
/** A trial may overrun its share to reach its least number of cases; what takes longer than this hangs. */
const LONGEST_MS = 30 * 60_000;

/**
 * How far a trial goes: of a whole run it reaches its least number of cases, of a shorter one only its time counts.
 *
 * @param minutes of all trials together; 0 for a release
 */
export function extentOf({ short, least, share }: Pick<Plan, 'short' | 'least' | 'share'>, minutes: number) {
  const part = Math.min(1, minutes / WHOLE_MINUTES);
  if (!minutes) return { part, least: short, milliseconds: 0 };
  return { part, least: part === 1 ? least : 1, milliseconds: (minutes * 60_000 * share) / 100 };
}

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
 * One trial of a promise: a few cases for a release, many in `npm run test:long`.
 *
 * @param run tries cases until the budget is spent
 */
export function trial(name: string, plan: Plan, run: (budget: Budget) => Promise<void>): void {
  const { promise, cannot } = plan;
  const long = MINUTES > 0;
  const title = cannot ? `${name} (not tried here: ${cannot})` : name;
  test.skipIf(cannot !== undefined)(
    title,
    { timeout: long ? LONGEST_MS : 60_000 },
    async ({ task, expect, signal }) => {
      const tally: Tally = { promise, began: Date.now(), cases: 0, requests: 0, failures: [], notes: [] };
      task.meta.tally = tally;
      const { part, least, milliseconds } = extentOf(plan, MINUTES);
      const until = performance.now() + milliseconds;
      const below = numbers(SEED);
      const budget: Budget = {
        more: () => !signal.aborted && (tally.cases < least || performance.now() < until),
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
        below,
        short: !long,
        part,
        signal,
        seed: SEED,
        shuffled: (items) =>
          items
            .map((item) => ({ item, at: below(2 ** 31) }))
            .sort((one, other) => one.at - other.at)
            .map(({ item }) => item),
      };
      await run(budget);
      expect(tally.failures.slice(0, 20)).toEqual([]);
      if (!signal.aborted) expect(tally.cases).toBeGreaterThanOrEqual(least);
    },
  );
}
