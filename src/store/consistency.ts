import { urlProblem } from '../contract/address.ts';
import { CURRENCY_CODE } from '../contract/amount.ts';
import type { Records } from '../contract/state.ts';
import { COLLECTION_NAMES, type CollectionName } from '../contract/vocabulary.ts';
import { isCardNumber } from '../domain/card.ts';
import type { Change } from '../domain/state.ts';
import { damaged } from './errors.ts';

/** Every collection of a state as plain records. */
export type WholeState = Required<Change>;

/** Each collection with each of its fields, so that a renamed field causes a type error. */
type CollectionField = {
  [Name in CollectionName]: [collection: Name, field: keyof Records[Name] & string];
}[CollectionName];

/** Fields that refer to a record of another collection, unless null. */
const REFERENCES: readonly [...from: CollectionField, to: CollectionName][] = [
  ['payments', 'merchantId', 'merchants'],
  ['payments', 'walletId', 'wallets'],
  ['payments', 'messageId', 'messages'],
  ['messages', 'paymentId', 'payments'],
  ['deliveries', 'paymentId', 'payments'],
  ['deliveries', 'merchantId', 'merchants'],
  ['attempts', 'deliveryId', 'deliveries'],
  ['cards', 'merchantId', 'merchants'],
  ['cardTransactions', 'cardId', 'cards'],
];

/** Fields that identify a record and so must be unique. */
const UNIQUE: readonly CollectionField[] = [
  ['merchants', 'publicKey'],
  ['merchants', 'secretKey'],
  ['cards', 'number'],
];

/** Fields with an address that the emulator or a browser requests. */
const ADDRESSES: ReadonlySet<string> = new Set<CollectionField[1]>([
  'ipnUrl',
  'successUrl',
  'cancelUrl',
  'siteLogo',
  'url',
]);

/**
 * Checks that an imported or edited state is consistent. It has at least one merchant, and no record is missing. Ids,
 * keys and card numbers are unique. Initiate would accept the addresses, times are valid, and currencies are known.
 * Payments and cards follow the rules.
 *
 * @param source the name of the state, for errors
 * @param currencies the currency codes from the options. The codes of the state's wallets are also known: an emulator
 *   has a wallet in each currency that it ever knew, and an emulator with fewer options must be able to read its state.
 * @throws GatewayError `state_damaged` with the first problem
 */
export function assertConsistent(state: WholeState, source: string, currencies: Iterable<string>): void {
  for (const problem of problems(state, currencies)) throw damaged(`${source}: ${problem}`);
}

type AnyRecord = Records[CollectionName] & Readonly<Record<string, unknown>>;

function* problems(state: WholeState, currencies: Iterable<string>): Generator<string> {
  const recordsOf = (name: CollectionName) => state[name] as readonly AnyRecord[];
  const ids = new Map<CollectionName, Set<string>>();
  for (const name of COLLECTION_NAMES) {
    const known = new Set<string>();
    for (const { id } of recordsOf(name)) {
      if (known.has(id)) yield `${name} has the id "${id}" twice`;
      known.add(id);
    }
    ids.set(name, known);
  }
  for (const [name, field] of UNIQUE) {
    const owners = new Map<unknown, string>();
    for (const record of recordsOf(name)) {
      const owner = owners.get(record[field]);
      // Does not quote the value, which may be a secret.
      if (owner !== undefined) yield `${name} "${record.id}" has the same ${field} as "${owner}"`;
      owners.set(record[field], record.id);
    }
  }
  if (!state.merchants.length) yield 'merchants is empty: at least one is required';
  for (const [from, field, to] of REFERENCES) {
    for (const { id, [field]: other } of recordsOf(from)) {
      if (typeof other !== 'string' || ids.get(to)?.has(other)) continue;
      yield `${from} "${id}": ${field} is "${other}", which is not in ${to}`;
    }
  }
  for (const { id, status, settledAt, settledBy } of state.payments) {
    for (const [field, value] of Object.entries({ settledAt, settledBy })) {
      if ((status === 'pending') === (value === null)) continue;
      const rule = status === 'pending' ? 'must be null while' : 'must be set when';
      yield `payments "${id}": ${field} ${rule} status is "${status}" (got ${JSON.stringify(value)})`;
    }
  }
  for (const { id, number } of state.cards) {
    if (!isCardNumber(number)) yield `cards "${id}": number "${number}" must be 16 Luhn-valid digits`;
  }
  yield* unknownCurrencies(state, new Set([...currencies, ...state.wallets.map(({ currency }) => currency)]));
  for (const name of COLLECTION_NAMES) {
    for (const record of recordsOf(name)) {
      for (const [field, value] of Object.entries(record)) {
        const problem = valueProblem(field, value);
        if (problem) yield `${name} "${record.id}": ${field} ${problem}`;
      }
    }
  }
}

function* unknownCurrencies(
  { merchants, wallets, payments, cards, cardTransactions }: WholeState,
  known: ReadonlySet<string>,
): Generator<string> {
  for (const { id, currency } of wallets) {
    if (!CURRENCY_CODE.test(currency)) yield `wallets "${id}": currency "${currency}" is not a currency code`;
  }
  const unknown = (currency: string) =>
    `"${currency}" is unknown: the options and wallets define ${[...known].join(', ')}`;
  for (const { id, balances } of merchants) {
    for (const code of Object.keys(balances)) {
      if (!known.has(code)) yield `merchants "${id}": balances: currency ${unknown(code)}`;
    }
  }
  for (const [name, records] of Object.entries({ payments, cards, cardTransactions })) {
    for (const { id, currency } of records) {
      if (!known.has(currency)) yield `${name} "${id}": currency ${unknown(currency)}`;
    }
  }
}

function valueProblem(field: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (field === 'id') return value === '' ? 'is empty' : undefined;
  if (field.endsWith('At')) return Number.isNaN(Date.parse(value)) ? 'is not a valid time' : undefined;
  return ADDRESSES.has(field) ? urlProblem(value) : undefined;
}
