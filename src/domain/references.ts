import { GatewayError } from './error.ts';
import { COLLECTION_NAMES, type CollectionName, type Records } from './state.ts';

/** Every collection of a state as plain records. */
export type WholeState = { [Name in CollectionName]: readonly Records[Name][] };

/** Which collection the record that a field names is in. A null names none. */
const REFERENCES: readonly [from: CollectionName, field: string, to: CollectionName][] = [
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

/**
 * Makes sure that a state from outside hangs together: a merchant, no id twice, and nothing that names what is not
 * there.
 *
 * @param source what to call it in an error
 * @throws GatewayError `state_damaged`, naming the first thing that is wrong
 */
export function requireReferences(state: WholeState, source: string): void {
  const damaged = (problem: string) => new GatewayError('state_damaged', `${source}: ${problem}`);
  const ids = new Map<CollectionName, Set<string>>();
  for (const name of COLLECTION_NAMES) {
    const known = new Set<string>();
    for (const { id } of state[name]) {
      if (known.has(id)) throw damaged(`${name} has the id "${id}" twice`);
      known.add(id);
    }
    ids.set(name, known);
  }
  if (!state.merchants.length) throw damaged('merchants is empty: one is needed at least');
  for (const [from, field, to] of REFERENCES) {
    for (const record of state[from] as readonly (Records[CollectionName] & Record<string, unknown>)[]) {
      const id = record[field];
      if (typeof id !== 'string' || ids.get(to)?.has(id)) continue;
      throw damaged(`${from} "${record.id}": ${field} names "${id}", which is not in ${to}`);
    }
  }
}
