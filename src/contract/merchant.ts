import * as z from 'zod/mini';
import { field, money, record, request, text, time, wholeList, yesOrNo } from './field.ts';

export const FormerKey = record(
  'FormerKey',
  'A pair of keys that was replaced. The keys themselves are forgotten.',
  {
    replacedAt: time('When it was replaced.'),
    fingerprint: field(
      text,
      'What the secret key makes of a fixed text: who has that key can be told that it is an old one.',
    ),
  },
);
export type FormerKey = z.output<typeof FormerKey>;

/** Maximum characters of a public key (documented: field-public-key-*) and of a secret key (chosen). */
export const MAX_PUBLIC_KEY = 50;
export const MAX_SECRET_KEY = 200;

/** Maximum pairs that are remembered (chosen). */
export const MAX_FORMER_KEYS = 10;

/** What a header, a form and a line of a shell can hold alike (chosen). */
const key = (maxLength: number) => z.string().check(z.regex(new RegExp(`^[\\x21-\\x7e]{1,${maxLength}}$`)));

const merchantFields = {
  id: field(text, 'Its id.'),
  name: field(text, 'Its name, by which commands know it.'),
  publicKey: field(key(MAX_PUBLIC_KEY), '`public_key` of initiate.'),
  secretKey: field(key(MAX_SECRET_KEY), 'Signs IPNs, and is the bearer token of the card endpoints.'),
  balances: field(
    z.record(text, money),
    'What succeeded live payments brought in, less the charges, by currency code.',
  ),
  createdAt: time('When it was made.'),
  formerKeys: field(
    z.optional(z.array(FormerKey)),
    'The pairs that were replaced, newest first; absent where none was.',
  ),
};

export const Merchant = record('Merchant', 'A merchant with its pair of keys.', merchantFields);
export type Merchant = z.output<typeof Merchant>;

export const ListedMerchant = record('ListedMerchant', 'A merchant in the list.', {
  ...merchantFields,
  isDefault: field(yesOrNo, 'Whether it is the one that commands mean when they name none.'),
});
export type ListedMerchant = z.output<typeof ListedMerchant>;

export const MerchantList = wholeList('MerchantList', ListedMerchant, 'merchants', 'the default one first');

export const MerchantInput = request(
  'MerchantInput',
  'A new merchant.',
  { name: field(text, '1 to 60 characters, not taken.', { minLength: 1, maxLength: 60 }) },
  { name: 'Second shop' },
);
