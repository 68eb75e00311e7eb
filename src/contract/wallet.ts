import type * as z from 'zod/mini';
import { AMOUNT_PATTERN } from './amount.ts';
import { field, money, record, request, text, wholeList } from './field.ts';

export const Wallet = record('Wallet', 'A wallet of live mode: one for each e-mail and currency.', {
  id: field(text, 'Its id.'),
  email: field(text, 'What its owner enters on the checkout.'),
  holder: field(text, '`data[account_holder]` of the IPN.'),
  currency: field(text, 'Currency code.'),
  balance: field(money, 'Decimal text.'),
});
export type Wallet = z.output<typeof Wallet>;

export const WalletList = wholeList('WalletList', Wallet, 'wallets', 'in the order in which they were made');

export const FundInput = request(
  'FundInput',
  'Money for a wallet.',
  { amount: field(text, 'Decimal text.', { pattern: AMOUNT_PATTERN.source }) },
  { amount: '100' },
);
