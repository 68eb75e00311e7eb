import * as z from 'zod/mini';
import { CARD_AMOUNT_PATTERN } from './amount.ts';
import { CARD_DEFAULTS } from './defaults.ts';
import { count, field, money, page, query, record, request, text, time } from './field.ts';
import { optionalText, PAGING } from './input.ts';
import { CARD_MOVEMENTS, CARD_STATUSES } from './vocabulary.ts';

const cardFields = {
  id: field(text, 'Its id.'),
  merchantId: field(text, 'The merchant that it belongs to.'),
  title: field(text, 'What tells it from other cards.'),
  nameOnCard: field(text, 'Name printed on it.'),
  email: field(text, "Holder's e-mail."),
  number: field(text, 'Luhn-valid, in a range that belongs to no issuer.'),
  cvc: field(text, 'Card verification code.'),
  expiryMonth: field(count, 'Month number.'),
  expiryYear: field(text, 'Four-digit year.'),
  currency: field(text, 'Currency code.'),
  amount: field(money, 'The initial amount, as decimal text; funding leaves it alone.'),
  charges: field(money, 'Taken from the amount when it was created.'),
  availableBalance: field(money, 'What can be spent.'),
  status: field(
    z.enum(CARD_STATUSES),
    '`canceled` is documented and final; the names of the others are chosen.',
  ),
  createdAt: time('When it was made.'),
  updatedAt: time('When it changed last.'),
};

export const StoredCard = record('StoredCard', 'A card as it is stored.', cardFields);

const shown = {
  ...cardFields,
  maskedNumber: field(text, 'All but the last four digits as asterisks.'),
};

export const Card = record('Card', 'A virtual card, as the simulator sees it. Money is decimal text.', shown);
export type Card = z.output<typeof Card>;

export const CardTransaction = record('CardTransaction', 'A movement of money on a card.', {
  id: field(text, 'Its id.'),
  cardId: field(text, 'The card.'),
  currency: field(text, 'Currency code.'),
  beforeCharge: field(money, 'The amount asked for, as decimal text.'),
  amount: field(money, 'The amount asked for, as decimal text.'),
  charge: field(money, 'Taken from the card on top of it.'),
  type: field(
    z.enum(['-', '+']),
    '`-` pays from the card (documented: card-transaction-type), `+` adds to it (chosen: card-transaction-fund).',
  ),
  details: field(text, 'Free text.'),
  remark: field(
    z.enum(['make_payment', 'add_fund']),
    '`make_payment` (documented: card-transaction-remark), `add_fund` (chosen: card-transaction-fund).',
  ),
  createdAt: time('When it was made.'),
  updatedAt: time('When it changed last.'),
});
export type CardTransaction = z.output<typeof CardTransaction>;

export const CardList = page('CardList', Card, 'cards');

export const CardWithTransactions = record('CardWithTransactions', 'A virtual card with its transactions.', {
  ...shown,
  transactions: field(z.array(CardTransaction), 'Its transactions, newest first.'),
});
export type CardWithTransactions = z.output<typeof CardWithTransactions>;

export const CardMovement = record('CardMovement', 'What a charge or a fund led to.', {
  card: field(Card, 'The card as it is now.'),
  transaction: field(CardTransaction, 'The movement.'),
});
export type CardMovement = z.output<typeof CardMovement>;

export const CardFields = query(
  'CardFields',
  'What a merchant sends to create a card. Default of each field: something that works.',
  {
    amount: optionalText(`Decimal text; default \`${CARD_DEFAULTS.amount}\`.`),
    currency: optionalText(`Default: \`${CARD_DEFAULTS.currency}\`.`),
    title: optionalText(cardFields.title.description),
    nameOnCard: optionalText(cardFields.nameOnCard.description),
    email: optionalText(cardFields.email.description),
  },
);
export type CardFields = z.input<typeof CardFields>;

export const CardQuery = query('CardFilter', 'Which cards; all that is given must match.', {
  status: field(z.optional(z.enum(CARD_STATUSES)), 'Only those of this status.'),
  merchant: optionalText('Only those of the merchant with this id.'),
  ...PAGING,
});
export type CardFilter = z.input<typeof CardQuery>;

export const CardTransactionInput = request(
  'CardTransactionInput',
  'A charge to a card, or money added to it.',
  {
    type: field(z.enum(CARD_MOVEMENTS), '`charge` pays from the card, `fund` adds to it.'),
    amount: field(text, 'Decimal text.', { pattern: CARD_AMOUNT_PATTERN.source }),
    details: field(z.optional(text.check(z.maxLength(255))), 'What it is for.'),
    currency: optionalText("Must be the card's, if it is given."),
  },
  { type: 'charge', amount: '12.50', details: 'Coffee' },
);
export type CardTransactionInput = z.input<typeof CardTransactionInput>;

/** A card number of which only the last four digits are left (documented: card-record-masked-card-number). */
export function maskedCardNumber(number: string): string {
  return number.slice(-4).padStart(number.length, '*');
}
