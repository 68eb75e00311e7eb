import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duration } from '../../src/contract/duration.ts';
import { timeScale, WIDTH } from '../../src/http/pages/dashboard/time-scale.ts';

const at = (...instants: number[]) => instants.map((instant) => ({ at: instant, end: instant }));

describe('the scale of a timeline', () => {
  it('is in true proportion where no wait is long', () => {
    const { x, cuts, unit } = timeScale([{ at: 1_000, end: 2_000 }, ...at(3_000, 5_000)]);
    expect([1_000, 2_000, 3_000, 5_000].map(x)).toEqual([0, 250, 500, 1_000]);
    expect(cuts).toEqual([]);
    expect(unit).toEqual({ milliseconds: 500, width: 125 });
  });

  it('cuts the waits that would crush the rest, and nothing else', () => {
    const { x, cuts } = timeScale(at(0, 1_000, 6_000, 10_000, 70_000, 3_600_000));
    expect(cuts.map(({ at, end }) => [at, end])).toEqual([
      [10_000, 70_000],
      [70_000, 3_600_000],
    ]);
    // One second takes as much everywhere, and the longest wait is seen as a step.
    expect(x(6_000) - x(1_000)).toBeCloseTo(5 * (x(1_000) - x(0)));
    expect(x(1_000)).toBeGreaterThan(WIDTH / 12);
    expect(x(70_000)).toBeLessThan(x(3_600_000));
  });

  it('keeps the order and the line, whatever happened when', () => {
    const stretch = fc
      .tuple(fc.nat({ max: 10 ** 10 }), fc.nat({ max: 10 ** 6 }))
      .map(([begin, length]) => ({ at: begin, end: begin + length }));
    fc.assert(
      fc.property(fc.array(stretch, { minLength: 1, maxLength: 60 }), (stretches) => {
        const { x } = timeScale(stretches);
        const instants = stretches.flatMap(({ at, end }) => [at, end]).sort((a, b) => a - b);
        const places = instants.map(x);
        for (const [index, place] of places.entries()) {
          expect(place).toBeGreaterThanOrEqual(index ? (places[index - 1] ?? 0) - 1e-6 : 0);
          expect(place).toBeLessThanOrEqual(WIDTH);
        }
      }),
    );
  });

  it.each([
    [0.24, '0.2 ms'],
    [20, '20 ms'],
    [312, '0.3 s'],
    [12_345, '12 s'],
    [59_990, '1 min'],
    [482_000, '8 min 2 s'],
  ])('writes %d ms as %s', (milliseconds, written) => {
    expect(duration(milliseconds)).toBe(written);
  });
});
