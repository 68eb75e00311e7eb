/** A time of the emulator's clock as stored: ISO 8601 UTC with milliseconds. */
export function timestamp(now: number): string {
  // Cached, because many records are created in the same millisecond under load.
  if (now !== newest.now) newest = { now, text: new Date(now).toISOString() };
  return newest.text;
}

let newest = { now: 0, text: new Date(0).toISOString() };
