import * as z from 'zod/mini';
import { field, money, record, request, text, time, wholeList, yesOrNo } from './field.ts';

export const FormerKey = record('FormerKey', 'A replaced key pair. The keys are not stored.', {
  replacedAt: time('Time of the replacement.'),
  fingerprint: field(text, 'Signature of a fixed text with the secret key, to recognize the old key later.'),
});
export type FormerKey = z.output<typeof FormerKey>;

/** Maximum characters of a public key (documented: field-public-key-*) and of a secret key (chosen). */
const MAX_PUBLIC_KEY = 50;
const MAX_SECRET_KEY = 200;

/** Characters that are safe in headers, forms and shell commands (chosen). */
const key = (maxLength: number) => z.string().check(z.regex(new RegExp(`^[\\x21-\\x7e]{1,${maxLength}}$`)));

const merchantFields = {
  id: field(text, 'Its id.'),
  name: field(text, 'Its name, for use in commands.'),
  publicKey: field(key(MAX_PUBLIC_KEY), '`public_key` of initiate.'),
  secretKey: field(key(MAX_SECRET_KEY), 'Signs IPNs. Bearer token of the card endpoints.'),
  balances: field(z.record(text, money), 'Revenue from live payments after charges, by currency code.'),
  createdAt: time('Creation time.'),
  formerKeys: field(
    z.optional(z.array(FormerKey)),
    'Replaced pairs, newest first; absent if there are none.',
  ),
};

export const Merchant = record('Merchant', 'A merchant with its key pair.', merchantFields);
export type Merchant = z.output<typeof Merchant>;

export const ListedMerchant = record('ListedMerchant', 'A merchant in the list.', {
  ...merchantFields,
  isDefault: field(yesOrNo, 'Whether commands use it by default.'),
});
export type ListedMerchant = z.output<typeof ListedMerchant>;

export const MerchantList = wholeList('MerchantList', ListedMerchant, 'merchants', 'the default one first');

export const MerchantInput = request(
  'MerchantInput',
  'A new merchant.',
  { name: field(text, '1 to 60 characters, unique.', { minLength: 1, maxLength: 60 }) },
  { name: 'Second shop' },
);
