import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Clock } from '../../src/system/clock.ts';
import { gate } from '../helpers/receiver.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 15) });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Schedules work at these times, in milliseconds from now, and records when it ran. */
function planned(clock: Clock, ...waits: number[]) {
  const start = Date.now();
  const ran: number[] = [];
  const work = { isDue: () => true, run: async () => void ran.push(Date.now() - start) };
  const plan = (wait: number) => clock.plan(start + wait, 'it', work);
  waits.forEach(plan);
  return { ran, plan };
}

describe('the clock', () => {
  it('neither goes back nor delays work when the system clock is set back', () => {
    const clock = new Clock();
    const before = clock.now();
    const work = planned(clock, 1_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(clock.now()).toBe(before);
    vi.advanceTimersByTime(1_000);
    expect(clock.now()).toBe(before + 1_000);
    expect(work.ran).toHaveLength(1);
  });

  it('runs work when it is due, not earlier', () => {
    const clock = new Clock();
    const [early, late, idle] = [planned(clock, 10, 30), planned(clock, 20), planned(clock)];
    vi.advanceTimersByTime(9);
    expect([early.ran, late.ran]).toEqual([[], []]);
    vi.advanceTimersByTime(21);
    expect([early.ran, late.ran, idle.ran]).toEqual([[10, 30], [20], []]);
  });

  it('runs work that is already due immediately, unless it is stopped', async () => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    const [clock, stopped] = [new Clock(), new Clock()];
    const [due, forgotten] = [planned(clock, 0, -5, 1), planned(stopped, 0)];
    stopped.stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect([due.ran, forgotten.ran]).toEqual([[0, 0], []]);
  });

  it('runs work due at the same time in the order in which it was scheduled', () => {
    const clock = new Clock();
    const ran: string[] = [];
    const work = { isDue: () => true, run: async (id: string) => void ran.push(id) };
    for (const id of ['c', 'a', 'b']) clock.plan(Date.now() + 10, id, work);
    vi.advanceTimersByTime(10);
    expect(ran).toEqual(['c', 'a', 'b']);
  });

  it('skips work that is no longer due at its time', () => {
    const clock = new Clock();
    const start = Date.now();
    const ran: number[] = [];
    let dueAt = start + 10;
    const run = async () => void ran.push(Date.now() - start);
    const work = { isDue: (_: string, at: number) => dueAt <= at, run };
    clock.plan(start + 10, 'it', work);
    dueAt = start + 30;
    clock.plan(start + 30, 'it', work);
    expect(clock.read().nextDue).toBe(start + 30);
    vi.advanceTimersByTime(100);
    expect(ran).toEqual([30]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('follows the system clock, which is ahead of the timers after the machine was suspended', () => {
    const clock = new Clock();
    const [read, waited] = [planned(clock, 1_800_000), planned(clock, 7_000_000)];
    vi.advanceTimersByTime(1_000);
    vi.setSystemTime(Date.now() + 3_600_000);
    clock.runDue();
    expect([read.ran, waited.ran]).toEqual([[3_601_000], []]);
    vi.setSystemTime(Date.now() + 3_600_000);
    vi.advanceTimersByTime(10_000);
    expect(waited.ran).toHaveLength(1);
    clock.stop();
    planned(clock, -1);
    clock.runDue();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits longer than its longest timer', () => {
    const clock = new Clock();
    const day = 24 * 3_600_000;
    const one = planned(clock, day);
    vi.advanceTimersByTime(day - 1);
    expect(one.ran).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(one.ran).toEqual([day]);
  });

  it('runs no work after it is stopped', () => {
    const clock = new Clock();
    const one = planned(clock, 10, 5);
    clock.stop();
    one.plan(1);
    vi.advanceTimersByTime(1_000);
    expect(one.ran).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a move of the clock', () => {
  const HOUR = 3_600_000;
  let start: number;

  /** Schedules work at these times, in milliseconds from the start. The work may take a while. */
  function waiting(clock: Clock, waits: number[], work: (after: number) => Promise<void> = async () => {}) {
    const ran: number[] = [];
    const run = () => {
      ran.push(clock.now() - start);
      return work(clock.now() - start);
    };
    const plan = (wait: number) => clock.plan(start + wait, 'it', { isDue: () => true, run });
    waits.forEach(plan);
    return { ran, plan };
  }

  beforeEach(() => {
    // Fakes only the date, because the steps of a move wait for real work.
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 15), toFake: ['Date'] });
    start = Date.now();
  });

  it('runs all work due until its end in order, each at its own time', async () => {
    const clock = new Clock();
    const order: string[] = [];
    waiting(clock, [HOUR, 3 * HOUR], async (after) => void order.push(`a${after / HOUR}`));
    waiting(clock, [2 * HOUR, 5 * HOUR], async (after) => void order.push(`b${after / HOUR}`));
    expect(await clock.advance(4 * HOUR)).toBe('reached');
    expect(order).toEqual(['a1', 'b2', 'a3']);
    expect(clock.read()).toEqual({
      now: start + 4 * HOUR,
      frozen: false,
      ahead: 4 * HOUR,
      nextDue: start + 5 * HOUR,
    });
    clock.stop();
  });

  it('also runs and awaits work that is scheduled during the move', async () => {
    const clock = new Clock();
    const one = waiting(clock, [HOUR], async (after) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (after < 4 * HOUR) one.plan(after + HOUR);
    });
    await clock.advance(3 * HOUR);
    expect(one.ran).toEqual([HOUR, 2 * HOUR, 3 * HOUR]);
    await clock.advance(HOUR);
    expect(one.ran).toEqual([HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR]);
    clock.stop();
  });

  it('waits for work that started earlier, because its next step may be due during the move', async () => {
    const clock = new Clock();
    const [begun, held] = [gate(), gate()];
    const one = waiting(clock, [0], async (after) => {
      begun.open();
      await held.opened;
      if (after === 0) one.plan(clock.now() - start + HOUR);
    });
    await begun.opened;
    const moved = clock.advance(2 * HOUR);
    held.open();
    await moved;
    expect(one.ran).toEqual([0, HOUR]);
    clock.stop();
  });

  it('waits for earlier moves', async () => {
    const clock = new Clock();
    const one = waiting(clock, [HOUR, 2 * HOUR], () => new Promise((resolve) => setImmediate(resolve)));
    await Promise.all([clock.advance(HOUR), clock.freeze(), clock.advance(HOUR)]);
    expect(one.ran).toEqual([HOUR, 2 * HOUR]);
    expect(clock.read()).toMatchObject({ now: start + 2 * HOUR, frozen: true });
  });

  it('to the past is rejected and changes nothing', async () => {
    const clock = new Clock();
    await clock.advance(HOUR);
    expect(await clock.freeze(start)).toBe('past');
    expect(clock.read()).toMatchObject({ now: start + HOUR, frozen: false });
  });

  it('that freezes it at a future time first runs all work due until then', async () => {
    const clock = new Clock();
    const one = waiting(clock, [HOUR, 2 * HOUR]);
    expect(await clock.freeze(start + HOUR)).toBe('reached');
    expect(one.ran).toEqual([HOUR]);
    vi.setSystemTime(start + 10 * HOUR);
    expect(clock.now()).toBe(start + HOUR);
  });

  it('is required to run future work on a paused clock, but not due work', async () => {
    const clock = new Clock();
    await clock.freeze();
    vi.setSystemTime(start + HOUR);
    const begun = gate();
    const one = waiting(clock, [0, HOUR], async () => begun.open());
    await begun.opened;
    // Any timer would have fired by now.
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(one.ran).toEqual([0]);
    await clock.advance(HOUR);
    expect(one.ran).toEqual([0, HOUR]);
    expect(clock.read()).toMatchObject({ now: start + HOUR, frozen: true, ahead: 0 });
  });

  it('with resume continues from the paused time', async () => {
    const clock = new Clock();
    await clock.freeze(start + HOUR);
    vi.setSystemTime(start + 5);
    await clock.resume();
    vi.setSystemTime(start + 25);
    expect(clock.read()).toMatchObject({ now: start + HOUR + 20, frozen: false, ahead: HOUR - 5 });
  });

  it('ends early when the emulator stops', async () => {
    const clock = new Clock();
    const one = waiting(clock, [HOUR, 2 * HOUR], async () => clock.stop());
    await clock.advance(3 * HOUR);
    expect(one.ran).toEqual([HOUR]);
  });

  it('continues after work fails', async () => {
    const clock = new Clock();
    const one = waiting(clock, [HOUR, 2 * HOUR], async () => {
      throw new Error('this one failed');
    });
    expect(await clock.advance(3 * HOUR)).toBe('reached');
    expect(one.ran).toEqual([HOUR, 2 * HOUR]);
  });
});
