import type * as z from 'zod/mini';
import { AMOUNT_PATTERN } from './amount.ts';
import { field, money, record, request, text, wholeList } from './field.ts';
import { sentenceOf, WALLET_FUND_FIELDS } from './request-fields.ts';

export const Wallet = record('Wallet', 'A live-mode wallet: one for each e-mail and currency.', {
  id: field(text, 'Its id.'),
  email: field(text, 'The e-mail that its owner enters at checkout.'),
  holder: field(text, '`data[account_holder]` of the IPN.'),
  currency: field(text, 'Currency code.'),
  balance: field(money, 'Decimal text.'),
});
export type Wallet = z.output<typeof Wallet>;

export const WalletList = wholeList('WalletList', Wallet, 'wallets', 'in order of creation');

export const FundInput = request(
  'FundInput',
  'A deposit to a wallet.',
  { amount: field(text, sentenceOf(WALLET_FUND_FIELDS.amount), { pattern: AMOUNT_PATTERN.source }) },
  { amount: '100' },
);
