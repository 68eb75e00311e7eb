import type { RandomBytes } from '../system/random.ts';

const LOWER = '0123456789abcdefghjkmnpqrstvwxyz';
const DIGITS = '0123456789';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** A text of `length` characters from an alphabet, one random byte each. */
export function randomText(random: RandomBytes, purpose: string, length: number, alphabet = LOWER): string {
  let text = '';
  const bytes = random(purpose, length);
  for (let index = 0; index < length; index++) text += alphabet[(bytes[index] ?? 0) % alphabet.length];
  return text;
}

/** A number from 0 up to `limit` (exclusive), from four random bytes. */
export function randomBelow(random: RandomBytes, purpose: string, limit: number): number {
  const bytes = random(purpose, 4);
  const value = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  return Math.floor((value / 2 ** 32) * limit);
}

/** Draws until a value is unused: with a seed, a restart draws the same values again. */
export function unique(draw: () => string, isFree: (id: string) => boolean): string {
  let id = draw();
  while (!isFree(id)) id = draw();
  return id;
}

/** Creates ids for new records (chosen) from random bytes. Passed to the rules to keep them pure. */
export function createIds(random: RandomBytes) {
  return {
    /** Short enough for a 255-character column, too long to guess. */
    payment: () => `pay_${randomText(random, 'payment', 24)}`,
    /** The payment transaction id of the IPN. */
    trx: () => randomText(random, 'trx', 12, UPPER),
    delivery: () => `ipn_${randomText(random, 'delivery', 16)}`,
    attempt: () => `att_${randomText(random, 'attempt', 16)}`,
    message: () => `msg_${randomText(random, 'message', 16)}`,
    merchant: () => `mer_${randomText(random, 'merchant', 12)}`,
    card: () => `card_${randomText(random, 'card', 20)}`,
    cardTransaction: () => `ctx_${randomText(random, 'cardTransaction', 16)}`,
    cardDigits: () => randomText(random, 'cardDigits', 9, DIGITS),
    cvc: () => randomText(random, 'cvc', 3, DIGITS),
    /** A verification code for the checkout. */
    code: () => String(randomBelow(random, 'code', 1_000_000)).padStart(6, '0'),
    /** A number from 0 up to 1, for the jitter of retries. */
    fraction: (purpose: string) => randomBelow(random, purpose, 1_000_000) / 1_000_000,
  };
}
export type Ids = ReturnType<typeof createIds>;
