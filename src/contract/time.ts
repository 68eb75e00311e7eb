/** A time of the emulator's clock as stored: ISO 8601 UTC with milliseconds. */
export function timestamp(now: number): string {
  return new Date(now).toISOString();
}

/** A time to the second, for people, in UTC like the given ISO 8601 text. */
export function moment(at: string): string {
  return at.slice(0, 19).replace('T', ' ');
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The format of a duration, as a JSON schema pattern. */
export const DURATION_PATTERN = '^\\d{1,9}(ms|s|m|h)$';

const DURATION = new RegExp(DURATION_PATTERN);

/** Reads `500ms`, `2s`, `1m` or `1h` as milliseconds; undefined for anything else. */
export function parseDuration(text: unknown): number | undefined {
  const [written = '', unit] = DURATION.exec(String(text)) ?? [];
  return unit === undefined ? undefined : Number.parseInt(written, 10) * UNITS[unit as keyof typeof UNITS];
}

/** Whether a text is a duration of at most `maxMs`. */
export function isDuration(text: unknown, maxMs: number): boolean {
  return (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= maxMs;
}

/** ISO 8601 with a time zone; a date alone means midnight UTC. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Reads an instant as milliseconds since 1970; undefined if it is invalid. */
export function parseInstant(value: string): number | undefined {
  const [, date] = INSTANT.exec(value) ?? [];
  // 30 February would silently become a day in March.
  if (date === undefined || !new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

/** Maximum real time for one move, in milliseconds: clients time out after five minutes (chosen). */
export const LONGEST_MOVE_MS = 240_000;

/**
 * Maximum real time that the redirect waits for the first attempt of its IPN (chosen). An attempt that takes longer is
 * reported as slow. In milliseconds.
 */
export const REDIRECT_WAIT_MS = 3_000;

const SPANS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A time span in its largest units. */
export function span(milliseconds: number, units = 2): string {
  let rest = milliseconds;
  const parts = SPANS.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count ? `${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''}` : '';
  }).filter(Boolean);
  return parts.slice(0, units).join(' ') || 'less than a second';
}

/** A duration as text: in milliseconds or tenths of a second, or from one minute on in its two largest units. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 59_950) return span(Math.round(milliseconds / 1_000) * 1_000);
  if (milliseconds >= 100) return `${shortened(milliseconds / 1_000, milliseconds < 9_950 ? 1 : 0)} s`;
  return `${shortened(milliseconds, milliseconds < 10 ? 1 : 0)} ms`;
}

const shortened = (value: number, digits: number) => String(Number(value.toFixed(digits)));
