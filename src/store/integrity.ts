import { urlProblem } from '../contract/address.ts';
import { CURRENCY_CODE } from '../contract/amount.ts';
import { GatewayError } from '../contract/error.ts';
import { COLLECTION_NAMES, type CollectionName, type Records } from '../contract/state.ts';
import { isCardNumber } from '../domain/card.ts';
import type { Lists, State } from '../domain/state.ts';
import { damaged } from './files.ts';

/** Every collection of a state as plain records. */
export type WholeState = Required<Lists>;

/** Every collection with each of its fields: a field that is renamed does not compile here. */
type CollectionField = {
  [Name in CollectionName]: [collection: Name, field: keyof Records[Name] & string];
}[CollectionName];

/** Which collection the record that a field names is in. A null names none. */
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

/** Fields that find a record and so must be its own. */
const UNIQUE: readonly CollectionField[] = [
  ['merchants', 'publicKey'],
  ['merchants', 'secretKey'],
  ['cards', 'number'],
];

/** Fields whose addresses are called, or that browsers are led to. */
const ADDRESSES: ReadonlySet<string> = new Set<CollectionField[1]>([
  'ipnUrl',
  'successUrl',
  'cancelUrl',
  'siteLogo',
  'url',
]);

/**
 * Makes sure that a state from outside is consistent: a merchant at least, no id, key or card number twice, no
 * reference to a record that is missing, addresses as initiate takes them, times that are times, known currencies, and
 * nothing that the rules of payments and cards never leave behind.
 *
 * @param source what to call it in an error
 * @param currencies codes that the options know. Those of the state's wallets are known, too: a gateway has a wallet in
 *   each currency that it ever knew, and what it wrote must be read by one with fewer options
 * @throws GatewayError `state_damaged`, naming the first thing that is wrong
 */
export function assertConsistent(state: WholeState, source: string, currencies: Iterable<string>): void {
  for (const found of problems(state, currencies))
    if (found) throw new GatewayError('state_damaged', `${source}: ${found}`);
}

/** What is wrong with each thing that is looked at, one after the other; undefined for nothing. */
type Findings = Generator<string | undefined, undefined>;

/** Records in a currency that is none. */
function* unknownCurrencies(
  { merchants, wallets, payments, cards, cardTransactions }: WholeState,
  known: ReadonlySet<string>,
): Findings {
  for (const { id, currency } of wallets) {
    if (!CURRENCY_CODE.test(currency)) yield `wallets "${id}": currency "${currency}" is no currency code`;
  }
  const unknown = (currency: string) =>
    `"${currency}" is not known: the options and the wallets have ${[...known].join(', ')}`;
  for (const { id, balances } of merchants) {
    for (const code of Object.keys(balances)) {
      if (!known.has(code)) yield `merchants "${id}": balances: currency ${unknown(code)}`;
    }
  }
  for (const [name, records] of Object.entries({ payments, cards, cardTransactions })) {
    for (const { id, currency } of records) {
      yield known.has(currency) ? undefined : `${name} "${id}": currency ${unknown(currency)}`;
    }
  }
}

/** What the rules of payments and cards never leave behind, whatever wrote it. */
function* brokenRules({ payments, cards }: WholeState): Findings {
  for (const { id, status, settledAt, settledBy } of payments) {
    yield undefined;
    for (const [field, value] of Object.entries({ settledAt, settledBy })) {
      if ((status === 'pending') === (value === null)) continue;
      const rule = status === 'pending' ? 'must be null while' : 'must be set when';
      yield `payments "${id}": ${field} ${rule} status is "${status}" (got ${JSON.stringify(value)})`;
    }
  }
  for (const { id, number } of cards) {
    yield isCardNumber(number) ? undefined : `cards "${id}": number "${number}" must be 16 Luhn-valid digits`;
  }
}

type AnyRecord = Records[CollectionName] & Readonly<Record<string, unknown>>;

function* problems(state: WholeState, known: Iterable<string>): Findings {
  const recordsOf = (name: CollectionName) => state[name] as readonly AnyRecord[];
  const ids = new Map<CollectionName, Set<string>>();
  for (const name of COLLECTION_NAMES) {
    const known = new Set<string>();
    yield* repeatedIds(name, state[name], known);
    ids.set(name, known);
  }
  for (const [name, field] of UNIQUE) {
    const owners = new Map<unknown, string>();
    for (const record of recordsOf(name)) {
      const owner = owners.get(record[field]);
      // The value itself may be a secret.
      if (owner !== undefined) yield `${name} "${record.id}" has the ${field} of "${owner}"`;
      owners.set(record[field], record.id);
    }
  }
  if (!state.merchants.length) yield 'merchants is empty: one is needed at least';
  yield* danglingReferences(recordsOf, (name, id) => ids.get(name)?.has(id) ?? false);
  yield* brokenRules(state);
  yield* unknownCurrencies(state, new Set([...known, ...state.wallets.map(({ currency }) => currency)]));
  for (const name of COLLECTION_NAMES) {
    for (const record of recordsOf(name)) {
      for (const [field, value] of Object.entries(record)) {
        const problem = valueProblem(field, value);
        yield problem && `${name} "${record.id}": ${field} ${problem}`;
      }
    }
  }
}

function* repeatedIds(
  name: CollectionName,
  records: Iterable<{ id: string }>,
  known = new Set<string>(),
): Findings {
  for (const { id } of records) {
    yield known.has(id) ? `${name} has the id "${id}" twice` : undefined;
    known.add(id);
  }
}

function* danglingReferences(
  recordsOf: (name: CollectionName) => Iterable<AnyRecord>,
  isThere: (name: CollectionName, id: string) => boolean,
): Findings {
  for (const [from, field, to] of REFERENCES) {
    // Nearly all records of some collections name the same one.
    let last: unknown = null;
    for (const { id, [field]: other } of recordsOf(from)) {
      if (other === last || typeof other !== 'string') continue;
      yield isThere(to, other)
        ? undefined
        : `${from} "${id}": ${field} names "${other}", which is not in ${to}`;
      last = other;
    }
  }
}

/** Makes sure that a state that was made of a snapshot has all its records. @throws GatewayError `state_damaged` */
export function assertUniqueIds(
  state: State,
  snapshot: { readonly [Name in CollectionName]: Iterable<Records[Name]> },
  path: string,
): void {
  for (const name of COLLECTION_NAMES) {
    let count = 0;
    for (const _ of snapshot[name]) count++;
    if (count !== state[name].size) requireNone(repeatedIds(name, snapshot[name]), path);
  }
}

/** Makes sure that no record of a state names one that is missing. @throws GatewayError `state_damaged` */
export function assertReferences(state: State, path: string): void {
  const recordsOf = (name: CollectionName) => state[name].values() as Iterable<AnyRecord>;
  requireNone(
    danglingReferences(recordsOf, (name, id) => state[name].get(id) !== undefined),
    path,
  );
}

function requireNone(findings: Iterable<string | undefined>, path: string): void {
  for (const problem of findings) if (problem) throw damaged(`${path} is damaged: ${problem}`);
}

function valueProblem(field: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (field === 'id') return value === '' ? 'is empty' : undefined;
  if (field.endsWith('At')) return Number.isNaN(Date.parse(value)) ? 'is no time' : undefined;
  return ADDRESSES.has(field) ? urlProblem(value) : undefined;
}
