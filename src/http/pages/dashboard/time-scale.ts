/** A stretch of time, in milliseconds since 1970. */
export interface Stretch {
  at: number;
  end: number;
}

/** Where instants lie on a line: in true proportion, but for long waits, which are cut. */
export interface TimeScale {
  /** From 0 to `WIDTH`. */
  x: (instant: number) => number;
  /** The waits that are cut, with where they lie. */
  cuts: readonly (Stretch & { x: number; width: number })[];
  /** A round time, and how wide it is. */
  unit: { milliseconds: number; width: number };
}

/** Of the line, in units of its own. */
export const WIDTH = 1_000;

/** A wait up to this long is never cut: a customer who thinks, the first retries (chosen). */
const NEVER_CUT_MS = 5_000;
/** A longer one is cut where it is more than this many times as long as all that is not (chosen). */
const CUT_FACTOR = 2;
const CUT_WIDTH = 28;
/** Maximum part of the line that cut waits take together. */
const MAX_CUT_WIDTH = 0.4 * WIDTH;

/** @param stretches at least one, in any order */
export function timeScale(stretches: readonly Stretch[]): TimeScale {
  const { busy, waits } = busyAndWaits(stretches);
  const cut = new Set(waits);
  let kept = busy;
  for (const wait of waits.toSorted((one, other) => lengthOf(one) - lengthOf(other))) {
    if (lengthOf(wait) > Math.max(NEVER_CUT_MS, CUT_FACTOR * kept)) break;
    kept += lengthOf(wait);
    cut.delete(wait);
  }
  const cutWidth = Math.min(CUT_WIDTH, MAX_CUT_WIDTH / (cut.size || 1));
  const perMs = (WIDTH - cut.size * cutWidth) / (kept || 1);
  const begin = Math.min(...stretches.map(({ at }) => at));
  const width = (wait: Stretch) => (cut.has(wait) ? cutWidth : lengthOf(wait) * perMs);
  const x = (instant: number) => {
    let result = (instant - begin) * perMs;
    for (const wait of cut) {
      const part = Math.min(Math.max((instant - wait.at) / lengthOf(wait), 0), 1);
      result += part * (width(wait) - lengthOf(wait) * perMs);
    }
    return Math.min(Math.max(result, 0), WIDTH);
  };
  return {
    x,
    cuts: [...cut].map((wait) => ({ ...wait, x: x(wait.at), width: cutWidth })),
    unit: unitOf(perMs),
  };
}

const lengthOf = ({ at, end }: Stretch) => end - at;

/** How much of the time something was going on, and the waits between. */
function busyAndWaits(stretches: readonly Stretch[]) {
  const waits: Stretch[] = [];
  let busy = 0;
  let until: number | undefined;
  for (const { at, end } of stretches.toSorted((one, other) => one.at - other.at)) {
    if (until !== undefined && at > until) waits.push({ at: until, end: at });
    busy += Math.max(0, end - Math.max(at, until ?? at));
    until = Math.max(end, until ?? end);
  }
  return { busy, waits };
}

/** The largest 1, 2 or 5 with zeros that takes at most a fifth of the line. */
function unitOf(perMs: number) {
  const most = WIDTH / 5 / perMs;
  const power = 10 ** Math.floor(Math.log10(most));
  const milliseconds = power * (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1);
  return { milliseconds, width: milliseconds * perMs };
}
