import { describe, expect, it } from 'vitest';
import { hasEnded, isAlive, statOf } from '../../src/store/process-identity.ts';

/** The `statOf` fields of a process with this state and number of threads. */
function stat(state: string, threads: number): string[] {
  const fields = Array.from({ length: 50 }, () => '0');
  return fields.with(0, state).with(17, String(threads));
}

describe('a process', () => {
  it.each([
    ['is running', stat('S', 11), false],
    ['is a zombie', stat('Z', 1), true],
    ['is being removed', stat('Z', 0), true],
    ['has ended, but has threads that can still write', stat('Z', 4), false],
    ['is on a system without /proc', [], false],
  ])('that %s', (_, fields, ended) => {
    expect(hasEnded(fields)).toBe(ended);
  });

  it('that runs this test is alive, and its threads are counted', () => {
    expect(isAlive(process.pid)).toBe(true);
    if (process.platform === 'linux') expect(Number(statOf(process.pid)[17])).toBeGreaterThan(1);
  });

  it.each([0, -1, Number.NaN])('cannot have the id %d, which is not a single process', (pid) => {
    expect(isAlive(pid)).toBe(false);
  });
});
