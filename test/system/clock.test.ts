import { expect, it } from 'vitest';
import { Clock } from '../../src/system/clock.ts';

it('lists upcoming work soonest first, with each record once and without outdated work', () => {
  const clock = new Clock();
  const work = { isDue: (id: string) => id !== 'gone', run: () => undefined };
  const at = clock.now() + 3_600_000;
  for (const [later, id] of [
    [5, 'late'],
    [2, 'gone'],
    [3, 'twice'],
    [1, 'first'],
    [4, 'twice'],
  ] as const)
    clock.plan(at + later, id, work);
  const upcoming = (limit: number) => clock.upcoming(limit).map((due) => [due.id, due.at - at]);
  expect(upcoming(10)).toEqual([
    ['first', 1],
    ['twice', 3],
    ['late', 5],
  ]);
  expect(upcoming(2)).toHaveLength(2);
  clock.stop();
});
