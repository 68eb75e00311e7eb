import type { Payment } from '../contract/payment.ts';

/** Fewer characters can be guessed. */
const SHORTEST_TOKEN = 16;
const BETWEEN = /([/?&=#.])/;

/** Whether a part of an address cannot be guessed: long, another one for each order, and none of its names. */
function isToken(part: string, { identifier, trx }: Payment, others: ReadonlySet<string>): boolean {
  return part.length >= SHORTEST_TOKEN && part !== identifier && part !== trx && !others.has(part);
}

/** Whether the ipn_url of an order has a part that who has seen another order cannot guess. */
export function hasToken(payment: Payment, other: Payment): boolean {
  const others = new Set(other.ipnUrl.split(BETWEEN));
  return payment.ipnUrl.split(BETWEEN).some((part) => isToken(part, payment, others));
}

/** An address with the parts that cannot be guessed as they stand in that of another order. */
export function withTokensOf(url: string, payment: Payment, other: string): string {
  const parts = other.split(BETWEEN);
  const others = new Set(parts);
  return url
    .split(BETWEEN)
    .map((part, index) => (isToken(part, payment, others) ? (parts[index] ?? '') : part))
    .join('');
}
