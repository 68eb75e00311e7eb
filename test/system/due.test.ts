import fc from 'fast-check';
import TinyQueue from 'tinyqueue';
import { describe, expect, it } from 'vitest';
import { type Due, earlier, soonest } from '../../src/system/clock.ts';

const work = { isDue: (id: string) => !id.startsWith('gone'), run: () => undefined };

/** A queue like the clock's. */
function queueOf(entries: readonly { at: number; id: string }[]): Due[] {
  const queue = new TinyQueue<Due>([], earlier);
  for (const [turn, entry] of entries.entries()) queue.push({ ...entry, turn, work });
  return queue.data;
}

describe('the next entries of the queue', () => {
  it('are sorted, with each record once and without outdated ones', () => {
    const entry = fc.record({
      at: fc.integer({ min: 0, max: 50 }),
      id: fc.oneof(fc.constantFrom('a', 'b', 'c', 'gone'), fc.string({ minLength: 1, maxLength: 3 })),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 60 }), fc.integer({ min: 0, max: 20 }), (entries, limit) => {
        const all = entries.map((one, turn) => ({ ...one, turn, work })).sort(earlier);
        const first = new Map<string, Due>();
        for (const due of all) if (work.isDue(due.id) && !first.has(due.id)) first.set(due.id, due);
        expect(soonest(queueOf(entries), limit)).toEqual([...first.values()].slice(0, limit));
      }),
    );
  });

  it('are found among a thousand entries with few checks', () => {
    let checks = 0;
    const counting = { ...work, isDue: () => ++checks > 0 };
    const heap = Array.from(
      { length: 1_000 },
      (_, at): Due => ({ at, turn: at, id: `p-${at}`, work: counting }),
    );
    expect(soonest(heap, 50).map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, at) => at));
    expect(checks).toBe(50);
  });

  it('are searched for only up to a limit if most entries are outdated', () => {
    const heap = Array.from({ length: 20_000 }, (_, at): Due => ({ at, turn: at, id: 'gone', work }));
    expect(soonest(heap, 50)).toEqual([]);
  });
});
