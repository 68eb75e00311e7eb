import TinyQueue from 'tinyqueue';

/** What is done with records when their time has come: IPNs go out, payments expire or settle by themselves. */
export interface DueWork {
  /** Whether the record, as it is stored now, is due at this instant: it may have changed since it was planned. */
  isDue(id: string, at: number): boolean;
  /** Begins the work; resolves when it has been done and is stored. Reports its own failures. */
  run(id: string): Promise<void> | undefined;
}

/** Something to be done: when, and with which record. */
export interface Due {
  at: number;
  /** Counts up: of what is due at the same instant, the first planned goes first. */
  turn: number;
  id: string;
  work: DueWork;
}

/** The order in which things are done. */
export const earlier = (a: Due, b: Due): number => a.at - b.at || a.turn - b.turn;

/** Maximum entries that are looked at to tell what comes next: some may be out of date. */
const LOOKED_AT = 5_000;

/**
 * What is to be done next of all that waits, soonest first and each record once.
 *
 * @param heap a binary one by `earlier`: what comes after an entry lies below it, so that few of very many are looked at
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
