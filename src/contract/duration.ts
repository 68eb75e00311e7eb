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
