import type { Payment } from '../contract/payment.ts';
import { IPN_NAMES } from '../service/names.ts';
import { sign } from '../service/signature.ts';
import { WRONG_SIGNATURE } from '../shop/witness.ts';

type FieldName = keyof typeof IPN_NAMES;
export type Pair = readonly [name: string, value: string];
export type Fields = Record<string, unknown>;

/** Appends parameters to a URL. */
export function withQuery(url: string, ...pairs: readonly Pair[]): string {
  const address = new URL(url);
  for (const [name, value] of pairs) address.searchParams.append(name, value);
  return address.href;
}

/** An identifier that no shop has issued. */
export const UNKNOWN_ORDER = 'no-such-order-here';

/** An immutable IPN as form fields. Every change returns a new IPN. */
export class Ipn {
  readonly pairs: readonly Pair[];

  constructor(pairs: readonly Pair[]) {
    this.pairs = pairs;
  }

  static read(body: string): Ipn {
    return new Ipn([...new URLSearchParams(body)]);
  }

  get(field: FieldName): string {
    return this.pairs.find(([name]) => name === IPN_NAMES[field])?.[1] ?? '';
  }

  /** Replaces every occurrence of a field. */
  set(field: FieldName, value: string): Ipn {
    return this.#changed(field, (name) => [[name, value]]);
  }

  unset(field: FieldName): Ipn {
    return this.#changed(field, () => []);
  }

  /** @param removed a field's name on the wire */
  without(removed: string): Ipn {
    return new Ipn(this.pairs.filter(([name]) => name !== removed));
  }

  /** Renames a field, for example to `signature[]`. */
  renamed(field: FieldName, rename: (name: string) => string): Ipn {
    return this.#changed(field, (name, value) => [[rename(name), value]]);
  }

  /** Appends fields. */
  and(...pairs: readonly Pair[]): Ipn {
    return new Ipn([...this.pairs, ...pairs]);
  }

  /** Prepends fields. */
  after(...pairs: readonly Pair[]): Ipn {
    return new Ipn([...pairs, ...this.pairs]);
  }

  /** Removes nested fields, such as `data[amount]`. */
  withoutGroups(): Ipn {
    return new Ipn(this.pairs.filter(([name]) => !name.includes('[')));
  }

  /** Signs the current amount and identifier with a key. */
  signedWith(secretKey: string): Ipn {
    return this.set('signature', sign(this.get('amount'), this.get('identifier'), secretKey));
  }

  isSignedWith(secretKey: string): boolean {
    return this.get('signature') === this.signedWith(secretKey).get('signature');
  }

  badlySigned(): Ipn {
    return this.set('signature', WRONG_SIGNATURE);
  }

  /** The field's name on the wire. */
  nameOf(field: FieldName): string {
    return IPN_NAMES[field];
  }

  /** The fields as a parser of nested names returns them: `data[amount]` is `amount` in `data`. */
  get fields(): Fields {
    const all: Fields = {};
    for (const [name, value] of this.pairs) {
      const [last = '', ...groups] = name.replaceAll(']', '').split('[').toReversed();
      let at = all;
      for (const group of groups.toReversed()) {
        const inner = (at[group] ?? {}) as Fields;
        at[group] = inner;
        at = inner;
      }
      at[last] = value;
    }
    return all;
  }

  get form(): string {
    return new URLSearchParams(this.pairs.map(([name, value]): [string, string] => [name, value])).toString();
  }

  #changed(field: FieldName, change: (name: string, value: string) => readonly Pair[]): Ipn {
    const wanted = IPN_NAMES[field];
    return new Ipn(
      this.pairs.flatMap(([name, value]) => (name === wanted ? change(name, value) : [[name, value]])),
    );
  }
}

/** A hundredth of an amount, as decimal text, at least 0.01. */
export function hundredth(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.');
  const digits = whole.padStart(3, '0');
  const shifted = `${digits.slice(0, -2)}.${digits.slice(-2)}${fraction}`.slice(0, 20);
  return /[1-9]/.test(shifted) ? shifted : '0.01';
}

/** A decimal amount without insignificant zeros. */
export const plainAmount = (amount: string) =>
  amount
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');

/** An identifier in the other letter case. */
export const swapCase = (text: string) => {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
};

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

/** The unguessable parts of an order's address. @param other the same address of another order */
export function tokensIn(url: string, payment: Payment, other: string): string[] {
  const others = other.split(BETWEEN);
  return url.split(BETWEEN).filter((part, index) => isToken(part, index, payment, others));
}

/** Replaces the unguessable parts of an address. @param instead default: the parts from the other order */
export function withTokensOf(
  url: string,
  payment: Payment,
  other: string,
  instead?: (token: string) => string,
): string {
  const others = other.split(BETWEEN);
  const change = (part: string, index: number) => instead?.(part) ?? others[index] ?? '';
  return url
    .split(BETWEEN)
    .map((part, index) => (isToken(part, index, payment, others) ? change(part, index) : part))
    .join('');
}

/** Removes the parameters of an address that are unguessable. */
export function withoutTokens(url: string, payment: Payment, other: string): string {
  const guessed = new URL(withTokensOf(url, payment, other)).searchParams;
  const bare = new URL(url);
  for (const [name, value] of [...bare.searchParams]) {
    if (guessed.get(name) !== value) bare.searchParams.delete(name);
  }
  return bare.href;
}
