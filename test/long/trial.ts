import { test } from 'vitest';
import { numbersFrom } from '../helpers/seed.ts';

/** An observation in a case that contradicts the documentation. */
export type Failure = 'lost' | '5xx' | 'outside' | 'hang' | 'ended' | 'other';

/** The counts of a trial, as the table prints them. */
export interface Tally {
  /** In milliseconds since 1970. */
  began: number;
  cases: number;
  requests: number;
  failures: { kind: Failure; text: string }[];
  /** A note for the reader of the table: what could not be tested here, and why. */
  notes: string[];
}

declare module 'vitest' {
  interface TaskMeta {
    tally?: Tally;
  }
}

/** How much a trial may do, and its observations. */
export interface Budget {
  /** Whether another case should be tried. */
  more: () => boolean;
  /** Repeats a case until the budget is spent, in this many lanes at the same time. */
  repeat: (tried: (number: number) => Promise<void>, lanes?: number) => Promise<void>;
  /** Counts tested cases. */
  cases: (count?: number) => void;
  /** Counts answered or rejected requests. */
  requests: (count?: number) => void;
  /** Records a broken promise; the trial continues, and fails at its end. */
  fail: (kind: Failure, text: string) => void;
  note: (text: string) => void;
  /** From 0 up to, but not including, the number; the same for the same seed. */
  below: (number: number) => number;
  /** Whether this is the short share of a release. */
  short: boolean;
  /** The share of the whole, up to 1, which scales fixed sizes. */
  part: number;
  seed: number;
  /** Aborted when the run is interrupted. */
  signal: AbortSignal;
  /** The same items in the order of the seed: a run without time for all of them tests different ones each time. */
  shuffled: <Item>(items: readonly Item[]) => Item[];
}

interface Plan {
  /** Cases for a release. */
  short: number;
  /** The minimum number of cases in a whole run, however long they take. */
  least: number;
  /** Its percentage of the long run's minutes. */
  share: number;
  /** Why it cannot run here; empty if it can. */
  cannot?: string;
}

/** Minutes of the long run; undefined for a release. */
const MINUTES = Number(process.env.TRIAL_MINUTES ?? 0);
const SEED = Number(process.env.TRIAL_SEED ?? 1);
/** From this many minutes on, every finite list of cases is tested completely. */
const WHOLE_MINUTES = 30;
/** A trial may exceed its share to reach its minimum of cases; beyond this it hangs. */
const LONGEST_MS = 30 * 60_000;

/**
 * The budget of a trial: a whole run reaches its minimum, a shorter one only has its time.
 *
 * @param minutes of all trials together; 0 for a release
 */
export function extentOf({ short, least, share }: Pick<Plan, 'short' | 'least' | 'share'>, minutes: number) {
  const part = Math.min(1, minutes / WHOLE_MINUTES);
  if (!minutes) return { part, least: short, milliseconds: 0 };
  return { part, least: part === 1 ? least : 1, milliseconds: (minutes * 60_000 * share) / 100 };
}

/**
 * One trial of a promise: a few cases for a release, many in `npm run test:long`.
 *
 * @param run tests cases until the budget is spent
 */
export function trial(name: string, plan: Plan, run: (budget: Budget) => Promise<void>): void {
  const { cannot } = plan;
  const long = MINUTES > 0;
  const title = cannot ? `${name} (not tried here: ${cannot})` : name;
  test.skipIf(cannot !== undefined)(
    title,
    { timeout: long ? LONGEST_MS : 60_000 },
    async ({ task, expect, signal }) => {
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
