import TinyQueue from 'tinyqueue';

/** Scheduled work on records: IPNs are sent, payments expire or settle automatically. */
export interface DueWork {
  /** Whether the stored record is due at this instant. It may have changed since it was planned. */
  isDue(id: string, at: number): boolean;
  /** Starts the work. Resolves when it is done and stored. Reports its own failures. */
  run(id: string): Promise<void> | undefined;
}

/** Scheduled work: its time and its record. */
export interface Due {
  at: number;
  /** Increases with each plan, to order work with the same instant. */
  turn: number;
  id: string;
  work: DueWork;
}

/** The order of scheduled work. */
export const earlier = (a: Due, b: Due): number => a.at - b.at || a.turn - b.turn;

/** The maximum number of entries to check for the next work, since some may be outdated. */
const LOOKED_AT = 5_000;

/**
 * The next scheduled work, soonest first and each record once.
 *
 * @param heap a binary heap ordered by `earlier`, so that only few entries must be checked
 */
export function soonest(heap: readonly Due[], limit: number): Due[] {
  const front = new TinyQueue<{ due: Due; index: number }>([], (a, b) => earlier(a.due, b.due));
  const look = (index: number) => {
    const due = heap[index];
    if (due) front.push({ due, index });
  };
  const found = new Map<string, Due>();
  look(0);
  for (let looked = 0; looked < LOOKED_AT && found.size < limit; looked++) {
    const next = front.pop();
    if (!next) break;
    const { due, index } = next;
    if (!found.has(due.id) && due.work.isDue(due.id, due.at)) found.set(due.id, due);
    look(2 * index + 1);
    look(2 * index + 2);
  }
  return [...found.values()];
}
