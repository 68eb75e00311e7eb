import { createHmac, randomBytes } from 'node:crypto';

/** Random bytes, or repeatable bytes with a seed. Each purpose has its own stream. */
export type RandomBytes = (purpose: string, length: number) => Uint8Array;

/** Unpredictable bytes from the system, for any purpose. */
export const systemRandom: RandomBytes = (_purpose, length) => randomBytes(length);

/**
 * Repeatable bytes: the same seed returns the same stream for each purpose. Never for keys and tokens.
 *
 * @param seed any text
 * @param generation the number of records at the start: a restart with more generates different bytes, so that stored
 *   values are not repeated
 */
export function seededRandom(seed: string, generation: number): RandomBytes {
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
