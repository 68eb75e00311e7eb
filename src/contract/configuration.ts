import * as z from 'zod/mini';
import { isEmail } from './address.ts';
import { AMOUNT_PATTERN, CURRENCY_CODE, isAmount } from './amount.ts';
import { DURATION_PATTERN } from './duration.ts';
import { field, type JsonSchema, named, request, shapeOf } from './field.ts';
import { durationText, textThat } from './input.ts';
import { OUTCOMES } from './outcomes.ts';
import { CHOICE_NAMES, CHOICES } from './profiles.ts';
import { DELIVERY_ORDERS } from './vocabulary.ts';

/*
 * What only the configuration file and the library can say, because it has no flag: charges, currencies, wallets,
 * outcome rules. All of it is chosen; the service interface knows no way to set any of it.
 */

const DECIMAL: JsonSchema = {
  anyOf: [
    { type: 'string', pattern: AMOUNT_PATTERN.source },
    { type: 'number', minimum: 0 },
  ],
};
const PERCENT: JsonSchema = {
  anyOf: [
    { type: 'string', pattern: '^(100(\\.0{1,4})?|\\d{1,2}(\\.\\d{1,4})?)$' },
    { type: 'number', minimum: 0, maximum: 100 },
  ],
};

/** Decimal text, or a JSON number that is one as it is. */
function decimal(isValid: (value: string) => boolean, expected: string) {
  return z.pipe(
    z
      .union([z.string(), z.number()], { error: expected })
      .check(z.refine((value) => isValid(String(value)), { error: expected })),
    z.transform((value) => String(value)),
  );
}

function textUpTo(max: number) {
  return textThat(
    (value) => value.trim() !== '' && value.length <= max,
    `must be text of 1 to ${max} characters`,
  );
}

const percent = decimal(
  (value) => /^\d{1,3}(\.\d{1,4})?$/.test(value) && Number(value) <= 100,
  'must be a percentage from 0 to 100 as decimal text, such as "2.5"',
);
const balance = decimal(
  (value) => isAmount(value) || /^0(\.0{1,8})?$/.test(value),
  'must be 0 or a plain decimal amount as text, such as "250.00"',
);
const code = z
  .string({ error: 'must be a currency code' })
  .check(z.regex(CURRENCY_CODE, 'must be two to four upper-case letters or digits, such as "NPR"'));
const decimals = 'must be a whole number from 0 to 8';

export const ChargeRate = request('ChargeRate', 'Percent + fixed, as decimal text.', {
  percent: field(z.optional(percent), 'from 0 to 100, such as "2.5"', PERCENT),
  fixed: field(z.optional(balance), 'added to it, such as "0.30"', DECIMAL),
});
export type ChargeRate = z.output<typeof ChargeRate>;

export const Charges = request('Charges', 'What is taken from payments and cards.', {
  payment: field(z.optional(ChargeRate), 'taken from a payment; 2 % unless configured'),
  card: field(z.optional(ChargeRate), 'taken from a new card; 1 % unless configured'),
  cardTransaction: field(z.optional(ChargeRate), 'taken from what a card pays; nothing unless configured'),
});

export const CurrencyEntry = request('CurrencyEntry', 'One more currency.', {
  code: field(code, 'two to four upper-case letters or digits'),
  name: field(z.optional(textUpTo(60)), 'its name (default: the code)'),
  symbol: field(z.optional(textUpTo(8)), 'its symbol (default: the code)', { minLength: 1, maxLength: 8 }),
  decimals: field(
    z.optional(
      z.int({ error: decimals }).check(z.refine((value) => value >= 0 && value <= 8, { error: decimals })),
    ),
    'decimals that amounts are shown with',
    { minimum: 0, maximum: 8, default: 2 },
  ),
});

export const WalletEntry = request('WalletEntry', 'One more wallet of live mode.', {
  email: field(textThat(isEmail, 'must be an e-mail address'), 'what its owner enters on the checkout', {
    format: 'email',
  }),
  holder: field(textUpTo(60), 'account_holder of the IPN'),
  currency: field(code, 'one that the emulator knows'),
  balance: field(balance, 'as decimal text, such as "250.00"', DECIMAL),
});
/** A wallet that the configuration asks for; it is made where its owner has none in that currency. */
export type WalletEntry = z.output<typeof WalletEntry>;

const pattern = z
  .string({ error: 'must be a text or a pattern such as "order-*"' })
  .check(
    z.refine((value) => value !== '' && value.length <= 200, { error: 'must have 1 to 200 characters' }),
  );
const patternField = (description: string) => field(z.optional(pattern), description, { minLength: 1 });

const PATTERNS = {
  identifier: patternField('identifiers that it is for, such as fail-*'),
  email: patternField('e-mails of customers that it is for, such as *@fail.test'),
  amount: patternField('amounts that it is for, as they were sent, such as *.13'),
};

const ruleFields = {
  ...PATTERNS,
  outcome: field(
    z.enum([...OUTCOMES, 'pending'], { error: `must be one of ${OUTCOMES.join(', ')}, pending` }),
    'how these payments end; pending leaves them to you',
  ),
  delivery: field(
    z.optional(z.enum(DELIVERY_ORDERS, { error: `must be one of ${DELIVERY_ORDERS.join(', ')}` })),
    'order of IPN and redirect (default: that of the emulator)',
  ),
  // As long as --auto-delay at most.
  delay: field(z.optional(durationText(720 * 3_600_000)), 'time from initiate (default: autoDelay)', {
    pattern: DURATION_PATTERN,
  }),
};

/** A rule of the configuration that decides the outcome of the payments it fits. Every pattern given must fit. */
export const OutcomeRule = named(
  {
    name: 'OutcomeRule',
    description: 'Decides the outcome of the payments that it fits; * stands for anything in a pattern.',
    fields: ruleFields,
    io: 'input',
    json: { anyOf: Object.keys(PATTERNS).map((name) => ({ required: [name] })) },
  },
  z.strictObject(shapeOf(ruleFields)).check(
    z.refine(({ identifier, email, amount }) => (identifier ?? email ?? amount) !== undefined, {
      error: 'needs at least one of identifier, email, amount: --auto settles every payment',
    }),
  ),
);
export type OutcomeRule = z.output<typeof OutcomeRule>;

/** Single choices against a profile. Options read them without this schema, which is for editors. */
export const ChosenValues = request(
  'ChosenValues',
  'Choices that the emulator makes otherwise than its profile.',
  Object.fromEntries(
    CHOICE_NAMES.map((name) => [name, field(z.optional(z.enum(CHOICES[name].values)), CHOICES[name].about)]),
  ),
);

/** Nobody needs more by hand; thousands belong into a state file. */
const MAX_ENTRIES = 1_000;

function listOf<Schema extends z.ZodMiniType>(schema: Schema) {
  return z
    .array(schema, { error: 'must be a list' })
    .check(z.maxLength(MAX_ENTRIES, `may have at most ${MAX_ENTRIES} entries`));
}

export const STRUCTURES = {
  charges: Charges,
  currencies: listOf(CurrencyEntry),
  wallets: listOf(WalletEntry),
  outcomes: listOf(OutcomeRule),
} as const;
