import { describe, expect, it } from 'vitest';
import { assertConsistentInTurns } from '../../src/store/integrity.ts';
import { changeText, parseChange, type Snapshot, writtenInTurns } from '../../src/store/snapshot.ts';
import { fullSnapshot } from '../helpers/records.ts';

/** A whole state with so many payments. */
function large(count: number): Snapshot {
  const state = fullSnapshot();
  const [payment] = state.payments;
  if (!payment) throw new Error('no payment');
  const more = Array.from({ length: count }, (_, index) => ({ ...payment, id: `pay_${index}` }));
  return { ...state, payments: [...state.payments, ...more] };
}

/** How often everybody else got a turn while this ran. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    if (isOver) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  await work().finally(() => {
    isOver = true;
  });
  return turns;
}

describe('a large state from outside', () => {
  it('is held to the rules little by little, and the first thing that is wrong is named', async () => {
    const state = large(5_000);
    const turns = await turnsDuring(() => assertConsistentInTurns(state, 'it', []));
    // Each field of each record is looked at.
    expect(turns).toBeGreaterThan(50);
    const last = state.payments.at(-1);
    const broken = { ...state, payments: [...state.payments.slice(0, -1), { ...last, createdAt: 'never' }] };
    await expect(assertConsistentInTurns(broken as Snapshot, 'it', [])).rejects.toMatchObject({
      code: 'state_damaged',
      message: `it: payments "${last?.id}": createdAt is no time`,
    });
  });

  it('becomes text little by little, and reads as if it had been written at once', async () => {
    const state = large(5_000);
    let written: Awaited<ReturnType<typeof writtenInTurns>> | undefined;
    const turns = await turnsDuring(async () => {
      written = await writtenInTurns(state);
    });
    expect(turns).toBeGreaterThanOrEqual(10);
    expect([...(written?.keys() ?? [])]).toEqual([state.payments]);
    const { version: _, ...lists } = state;
    const change = { reset: true, ...lists } as const;
    const read = (text: string) => parseChange(JSON.parse(text), 'it');
    expect(changeText(change, written)).toBe(changeText(change));
    expect(read(changeText(change, written))).toEqual(change);
    // A list that took the place of one that was written is its own.
    const other = { ...change, payments: [] };
    expect(read(changeText(other, written))).toEqual(other);
  });

  it('of a usual size takes no turns for its text', async () => {
    expect((await writtenInTurns(fullSnapshot())).size).toBe(0);
  });
});
