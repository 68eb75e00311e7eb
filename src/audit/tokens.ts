import type { Payment } from '../contract/payment.ts';

/** A shorter token can be guessed. */
const SHORTEST_TOKEN = 16;
/** If fewer characters differ between two orders, they are a counter. */
const SHORTEST_DIFFERENCE = 8;
const BETWEEN = /([/?&=#.])/;

/** Whether a part of an address is unguessable: long even without the order's identifiers, and different for each order. */
function isToken(
  part: string,
  index: number,
  { identifier, trx }: Payment,
  others: readonly string[],
): boolean {
  const known = [encodeURIComponent(identifier), identifier, trx];
  const own = known
    .filter(({ length }) => length >= SHORTEST_DIFFERENCE)
    .reduce((text, one) => text.replaceAll(one, ''), part);
  return (
    own.length >= SHORTEST_TOKEN &&
    !others.includes(part) &&
    differing(part, others[index] ?? '') >= SHORTEST_DIFFERENCE
  );
}

/** The number of characters between the common beginning and the common end. */
function differing(one: string, other: string): number {
  let begin = 0;
  while (begin < one.length && one[begin] === other[begin]) begin++;
  let end = 0;
  while (begin + end < one.length && one.at(-1 - end) === other.at(-1 - end)) end++;
  return one.length - begin - end;
}

/** Whether the ipn_url of an order has an unguessable part. */
export function hasToken(payment: Payment, other: Payment): boolean {
  const others = other.ipnUrl.split(BETWEEN);
  return payment.ipnUrl.split(BETWEEN).some((part, index) => isToken(part, index, payment, others));
}

/** Replaces the unguessable parts of an address with the parts from another order. */
export function withTokensOf(url: string, payment: Payment, other: string): string {
  const others = other.split(BETWEEN);
  return url
    .split(BETWEEN)
    .map((part, index) => (isToken(part, index, payment, others) ? (others[index] ?? '') : part))
    .join('');
}
