import type { Snapshot } from '../../src/store/snapshot.ts';

/** An amount in cents. */
const cents = (amount: string) => Math.round(Number(amount) * 100);

const sum = <Item>(items: readonly Item[], of: (item: Item) => number) =>
  items.reduce((total, item) => total + of(item), 0);

/** Facts that the emulator acknowledged and must keep, even if it is killed. */
export class Ledger {
  /** The last reported status of each payment, by identifier. */
  readonly #payments = new Map<string, string>();
  readonly #cards = new Set<string>();
  readonly #transactions = new Set<string>();
  /** Identifiers of payments that were rejected because they could not be stored. */
  readonly #refused = new Set<string>();

  payment(identifier: string, status: string): void {
    // Every other status is final. A response that was delayed may still say `pending`.
    if (status !== 'pending' || !this.#payments.has(identifier)) this.#payments.set(identifier, status);
  }

  card(id: string): void {
    this.#cards.add(id);
  }

  transaction(id: string): void {
    this.#transactions.add(id);
  }

  refused(identifier: string): void {
    this.#refused.add(identifier);
  }

  /** Records all facts in a state. */
  all({
    payments,
    cards,
    cardTransactions,
  }: Pick<Snapshot, 'payments' | 'cards' | 'cardTransactions'>): void {
    for (const { identifier, status } of payments) this.payment(identifier, status);
    for (const { id } of cards) this.card(id);
    for (const { id } of cardTransactions) this.transaction(id);
  }

  /** Facts that are missing from a state, and inconsistencies in it. */
  lostIn(state: Snapshot): string[] {
    const statuses = new Map(state.payments.map(({ identifier, status }) => [identifier, status]));
    const transactions = new Set(state.cardTransactions.map(({ id }) => id));
    const cards = new Set(state.cards.map(({ id }) => id));
    const payments = [...this.#payments].filter(([identifier, reported]) => {
      const stored = statuses.get(identifier);
      return stored === undefined || (reported !== 'pending' && stored !== reported);
    });
    return [
      ...payments.map(
        ([identifier, reported]) => `${identifier} was ${reported}, is ${statuses.get(identifier)}`,
      ),
      ...[...this.#cards].filter((id) => !cards.has(id)).map((id) => `card ${id} is missing`),
      ...[...this.#transactions].filter((id) => !transactions.has(id)).map((id) => `${id} is missing`),
      ...[...this.#refused].filter((id) => statuses.has(id)).map((id) => `${id} was rejected, but exists`),
      ...halves(state),
    ];
  }
}

/** Changes of which only a part was stored. */
function halves({ payments, deliveries, merchants, cards, cardTransactions }: Snapshot): string[] {
  const succeeded = payments.filter(({ status }) => status === 'succeeded');
  const announced = new Set(deliveries.map(({ paymentId }) => paymentId));
  const live = succeeded.filter(({ mode, currency }) => mode === 'live' && currency === 'USD');
  const earned = sum(live, ({ amount, charge }) => cents(amount) - cents(charge));
  const credited = sum(merchants, ({ balances }) => cents(balances['USD'] ?? '0'));
  const moved = (cardId: string) =>
    sum(
      cardTransactions.filter((transaction) => transaction.cardId === cardId),
      ({ type, amount, charge }) => (type === '+' ? cents(amount) : -cents(amount)) - cents(charge),
    );
  return [
    ...succeeded.filter(({ id }) => !announced.has(id)).map(({ identifier }) => `${identifier} has no IPN`),
    ...(earned === credited ? [] : [`live payments of ${earned} cents, but ${credited} were credited`]),
    ...cards
      .filter(
        ({ id, amount, charges, availableBalance }) =>
          cents(amount) - cents(charges) + moved(id) !== cents(availableBalance),
      )
      .map(
        ({ id, availableBalance }) =>
          `card ${id} has ${availableBalance}, which does not match its transactions`,
      ),
  ];
}
