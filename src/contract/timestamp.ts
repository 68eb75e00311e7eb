/** A moment of the emulator's clock as it is stored: ISO 8601 UTC with milliseconds. */
export function timestamp(now: number): string {
  // Under load much happens in one millisecond.
  if (now !== newest.now) newest = { now, text: new Date(now).toISOString() };
  return newest.text;
}

let newest = { now: 0, text: new Date(0).toISOString() };
