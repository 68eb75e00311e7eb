import { describe, expect, it } from 'vitest';
import { hasEnded, isAlive, statOf } from '../../src/store/process-identity.ts';

/** The fields of a process from its state on, with so many threads. */
function stat(state: string, threads: number): string[] {
  const fields = Array.from({ length: 50 }, () => '0');
  return fields.with(0, state).with(17, String(threads));
}

describe('a process', () => {
  it.each([
    ['runs', stat('S', 11), false],
    ['has ended, and its parent has not asked', stat('Z', 1), true],
    ['is taken away right now', stat('Z', 0), true],
    ['has ended but for threads that may still write', stat('Z', 4), false],
    ['is of a system that does not tell', [], false],
  ])('that %s', (_, fields, ended) => {
    expect(hasEnded(fields)).toBe(ended);
  });

  it('such as this one is alive, with its threads counted', () => {
    expect(isAlive(process.pid)).toBe(true);
    if (process.platform === 'linux') expect(Number(statOf(process.pid)[17])).toBeGreaterThan(1);
  });

  it.each([0, -1, Number.NaN])('is none by the number %d, which the system takes for many', (pid) => {
    expect(isAlive(pid)).toBe(false);
  });
});
