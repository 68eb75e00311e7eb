import * as z from 'zod/mini';
import { CARD_AMOUNT_PATTERN } from './amount.ts';
import { CARD_MOVEMENTS, CARD_STATUSES } from './card-status.ts';
import { count, field, money, page, query, record, request, text, texts, time } from './field.ts';
import { optionalText, optionalTexts, PAGING } from './input.ts';
import { CARD_FIELDS, CARD_FILTERS, CARD_MOVEMENT_FIELDS, sentenceOf } from './request-fields.ts';

const { title, nameOnCard, email } = CARD_FIELDS;

const cardFields = {
  id: field(text, 'Its id.'),
  merchantId: field(text, 'Its merchant.'),
  ...texts({ title, nameOnCard, email }),
  number: field(text, 'Luhn-valid, in a range that no issuer uses.'),
  cvc: field(text, 'Card verification code.'),
  expiryMonth: field(count, 'Month number.'),
  expiryYear: field(text, 'Four-digit year.'),
  currency: field(text, 'Currency code.'),
  amount: field(money, 'The initial amount, as decimal text. Funding does not change it.'),
  charges: field(money, 'Deducted from the amount when the card was created.'),
  availableBalance: field(money, 'Available balance.'),
  status: field(z.enum(CARD_STATUSES), '`canceled` is documented and final; the other names are chosen.'),
  createdAt: time('Creation time.'),
  updatedAt: time('Time of the last change.'),
};

export const StoredCard = record('StoredCard', 'A card as stored.', cardFields);

const shown = {
  ...cardFields,
  maskedNumber: field(text, 'All but the last four digits as asterisks.'),
};

export const Card = record(
  'Card',
  'A virtual card as the simulator shows it. Amounts are decimal text.',
  shown,
);
export type Card = z.output<typeof Card>;

export const CardTransaction = record('CardTransaction', 'A card transaction.', {
  id: field(text, 'Its id.'),
  cardId: field(text, 'The card.'),
  currency: field(text, 'Currency code.'),
  beforeCharge: field(money, 'The requested amount, as decimal text.'),
  amount: field(money, 'The requested amount, as decimal text.'),
  charge: field(money, 'Charge on top of the amount.'),
  type: field(z.enum(['-', '+']), '`-` pays from the card, `+` adds to it.'),
  details: field(text, 'Free text.'),
  remark: field(z.enum(['make_payment', 'add_fund']), '`make_payment` or `add_fund`.'),
  createdAt: time('Creation time.'),
  updatedAt: time('Time of the last change.'),
});
export type CardTransaction = z.output<typeof CardTransaction>;

export const CardList = page('CardList', Card, 'cards');

export const CardWithTransactions = record('CardWithTransactions', 'A virtual card with its transactions.', {
  ...shown,
  transactions: field(z.array(CardTransaction), 'Its transactions, newest first.'),
});
export type CardWithTransactions = z.output<typeof CardWithTransactions>;

export const CardMovement = record('CardMovement', 'The result of charging or funding a card.', {
  card: field(Card, 'The card as it is now.'),
  transaction: field(CardTransaction, 'The transaction.'),
});
export type CardMovement = z.output<typeof CardMovement>;

export const CardFields = query(
  'CardFields',
  'What a merchant sends to create a card. Every field has a working default.',
  optionalTexts(CARD_FIELDS),
);
export type CardFields = z.input<typeof CardFields>;

export const CardQuery = query('CardFilter', 'Filters cards. All filters must match.', {
  status: field(z.optional(z.enum(CARD_STATUSES)), sentenceOf(CARD_FILTERS.status)),
  merchant: optionalText('Only cards of the merchant with this id.'),
  ...PAGING,
});
export type CardFilter = z.input<typeof CardQuery>;

export const CardTransactionInput = request(
  'CardTransactionInput',
  'A charge to a card, or a deposit.',
  {
    type: field(z.enum(CARD_MOVEMENTS), '`charge` pays from the card, `fund` adds to it.'),
    amount: field(text, sentenceOf(CARD_MOVEMENT_FIELDS.amount), { pattern: CARD_AMOUNT_PATTERN.source }),
    details: field(
      z.optional(text.check(z.maxLength(CARD_MOVEMENT_FIELDS.details.max))),
      sentenceOf(CARD_MOVEMENT_FIELDS.details),
    ),
    currency: optionalText(sentenceOf(CARD_MOVEMENT_FIELDS.currency)),
  },
  { type: 'charge', amount: '12.50', details: 'Coffee' },
);
export type CardTransactionInput = z.input<typeof CardTransactionInput>;
