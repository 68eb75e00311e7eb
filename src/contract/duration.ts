const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** How a duration is written, as a pattern of JSON schema. */
export const DURATION_PATTERN = '^\\d{1,9}(ms|s|m|h)$';

const DURATION = new RegExp(DURATION_PATTERN);

/** Reads `500ms`, `2s`, `1m` or `1h` as milliseconds; undefined for anything else. */
export function parseDuration(text: unknown): number | undefined {
  const [written = '', unit] = DURATION.exec(String(text)) ?? [];
  return unit === undefined ? undefined : Number.parseInt(written, 10) * UNITS[unit as keyof typeof UNITS];
}

/** Whether a text is a duration of at most that many milliseconds. */
export function isDuration(text: unknown, maxMs: number): boolean {
  return (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= maxMs;
}

/**
 * The redirect waits at most this long for the first attempt of its IPN (chosen), and an attempt without an answer is
 * said to take long from then on. Real time, in milliseconds.
 */
export const REDIRECT_WAIT_MS = 3_000;

const SPANS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A span of time in its largest units. */
export function span(milliseconds: number, units = 2): string {
  let rest = milliseconds;
  const parts = SPANS.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count ? `${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''}` : '';
  }).filter(Boolean);
  return parts.slice(0, units).join(' ') || 'less than a second';
}

/** A short time to the millisecond or the tenth of a second, a long one in its two largest units. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 59_950) return span(Math.round(milliseconds / 1_000) * 1_000);
  if (milliseconds >= 100) return `${shortened(milliseconds / 1_000, milliseconds < 9_950 ? 1 : 0)} s`;
  return `${shortened(milliseconds, milliseconds < 10 ? 1 : 0)} ms`;
}

const shortened = (value: number, digits: number) => String(Number(value.toFixed(digits)));
