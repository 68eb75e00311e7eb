import { randomFillSync } from 'node:crypto';
import type { RandomBytes } from './domain/ids.ts';

/** So much is drawn at a time: asking the system for a few bytes costs as much as asking for thousands. */
const POOL_BYTES = 8_192;

/** Bytes that nobody can guess, from the system, whatever the purpose. */
export function systemRandom(): RandomBytes {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (_purpose, length) => {
    if (used + length > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += length;
    // A copy: what was handed out must not change with the next filling.
    return pool.slice(used - length, used);
  };
}
