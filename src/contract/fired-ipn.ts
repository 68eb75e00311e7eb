import { GatewayError } from './error.ts';

/** Maximum bytes of an IPN fired by hand, and of all IPNs of one request (chosen). Real ones have about 500. */
const MAX_FIRED_BYTES = 64 * 2 ** 10;
const MAX_FIRED_TOTAL = 8 * 2 ** 20;

/**
 * Limits IPNs fired by hand: each is stored with all of its attempts and events.
 *
 * @throws GatewayError `invalid_fields`
 */
export function requireFireable(body: string, times: number): void {
  const bytes = new TextEncoder().encode(body).length;
  if (bytes > MAX_FIRED_BYTES) {
    throw new GatewayError(
      'invalid_fields',
      `an IPN must not exceed ${MAX_FIRED_BYTES} bytes (64 KiB); this one would have ${bytes}`,
    );
  }
  if (bytes * times <= MAX_FIRED_TOTAL) return;
  const most = Math.floor(MAX_FIRED_TOTAL / bytes);
  throw new GatewayError(
    'invalid_fields',
    `times must be at most ${most} for an IPN of ${bytes} bytes: ${MAX_FIRED_TOTAL} bytes (8 MiB) in all`,
  );
}
