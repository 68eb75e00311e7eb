import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Clock, type DueSource } from '../../src/clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 15) });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Something that waits for these instants, in milliseconds from now, and notes at which it was run. */
function source(...waits: number[]): DueSource & { ran: number[]; waiting: number[] } {
  const start = Date.now();
  const waiting = waits.map((wait) => start + wait);
  const ran: number[] = [];
  return {
    ran,
    waiting,
    nextDue: () => waiting[0],
    runDue: async (now) => {
      while ((waiting[0] ?? Number.POSITIVE_INFINITY) <= now) {
        waiting.shift();
        ran.push(Date.now() - start);
      }
    },
  };
}

describe('the clock', () => {
  it('tells the time', () => {
    expect(new Clock().now()).toBe(Date.UTC(2026, 0, 15));
  });

  it('runs each source when it is due, and not before', () => {
    const clock = new Clock();
    const [early, late, idle] = [source(10, 30), source(20), source()];
    for (const one of [early, late, idle]) clock.add(one);
    vi.advanceTimersByTime(9);
    expect([early.ran, late.ran]).toEqual([[], []]);
    vi.advanceTimersByTime(21);
    expect([early.ran, late.ran, idle.ran]).toEqual([[10, 30], [20], []]);
  });

  it('has one timer, however many wait, and none when nobody does', () => {
    const clock = new Clock();
    clock.add(source());
    expect(vi.getTimerCount()).toBe(0);
    for (let count = 0; count < 50; count++) clock.add(source(count, 1_000));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('looks again when it is woken', () => {
    const clock = new Clock();
    const one = source();
    clock.add(one);
    one.waiting.push(Date.now() + 5);
    vi.advanceTimersByTime(10);
    expect(one.ran).toEqual([]);
    clock.wake();
    vi.advanceTimersByTime(0);
    expect(one.ran).toEqual([10]);
  });

  it('waits longer than a timer can', () => {
    const clock = new Clock();
    const year = 365 * 24 * 3_600_000;
    const one = source(year);
    clock.add(one);
    vi.advanceTimersByTime(year - 1);
    expect(one.ran).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(one.ran).toEqual([year]);
  });

  it('runs nothing any more once it is stopped', () => {
    const clock = new Clock();
    const one = source(10);
    clock.add(one);
    clock.stop();
    clock.wake();
    clock.add(source(1));
    vi.advanceTimersByTime(1_000);
    expect(one.ran).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
