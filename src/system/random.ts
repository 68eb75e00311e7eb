import { createHmac, randomFillSync } from 'node:crypto';
import type { RandomBytes } from '../domain/ids.ts';

/** Drawn at a time: asking the system for a few bytes costs as much as asking for thousands. */
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

/**
 * Bytes that repeat: the same seed gives the same stream for each purpose. Never for keys and tokens.
 *
 * @param seed any text
 * @param generation what the state held at the start: a restart on a state that has grown draws other bytes, so that
 *   nothing that is already stored is drawn again
 */
export function seededRandom(seed: string, generation: number | string): RandomBytes {
  const counters = new Map<string, number>();
  return (purpose, length) => {
    const chunks: Buffer[] = [];
    for (let have = 0; have < length; have += 32) {
      const counter = counters.get(purpose) ?? 0;
      counters.set(purpose, counter + 1);
      chunks.push(createHmac('sha256', seed).update(`${generation}:${purpose}:${counter}`).digest());
    }
    return Uint8Array.from(Buffer.concat(chunks).subarray(0, length));
  };
}
