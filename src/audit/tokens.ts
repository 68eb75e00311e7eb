import type { Payment } from '../contract/payment.ts';

/** A shorter token can be guessed. */
const SHORTEST_TOKEN = 16;
const BETWEEN = /([/?&=#.])/;

/** Whether a part of an address is unguessable: long, different for each order, and not one of its identifiers. */
function isToken(part: string, { identifier, trx }: Payment, others: ReadonlySet<string>): boolean {
  return part.length >= SHORTEST_TOKEN && part !== identifier && part !== trx && !others.has(part);
}

/** Whether the ipn_url of an order has an unguessable part. */
export function hasToken(payment: Payment, other: Payment): boolean {
  const others = new Set(other.ipnUrl.split(BETWEEN));
  return payment.ipnUrl.split(BETWEEN).some((part) => isToken(part, payment, others));
}

/** Replaces the unguessable parts of an address with the parts from another order. */
export function withTokensOf(url: string, payment: Payment, other: string): string {
  const parts = other.split(BETWEEN);
  const others = new Set(parts);
  return url
    .split(BETWEEN)
    .map((part, index) => (isToken(part, payment, others) ? (parts[index] ?? '') : part))
    .join('');
}
