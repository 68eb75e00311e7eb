import * as z from 'zod/mini';
import { isEmail } from './address.ts';
import { AMOUNT_PATTERN, CURRENCY_CODE, isAmount, USUAL_DECIMALS } from './amount.ts';
import { FaultRules } from './fault.ts';
import { field, type JsonSchema, named, request, shapeOf } from './field.ts';
import { durationText, textThat } from './input.ts';
import { phraseOf, SETTLE_FIELDS } from './request-fields.ts';
import { DURATION_PATTERN } from './time.ts';
import { DELIVERY_ORDERS, OUTCOMES } from './vocabulary.ts';

/*
 * Options without a flag, for the configuration file and the library only: charges, currencies, wallets, outcome rules.
 * All are our choice: the service interface has no way to set them.
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

/** Decimal text, or a JSON number whose text is a valid decimal. */
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
/** No currency in use has more. With more, the balance of a card would not be exact as a JSON number. */
const MAX_DECIMALS = 3;
const decimals = `must be a whole number from 0 to ${MAX_DECIMALS}`;

const ChargeRate = request('ChargeRate', 'Percent + fixed, as decimal text.', {
  percent: field(z._default(percent, '0'), 'from 0 to 100, such as "2.5"', PERCENT),
  fixed: field(z._default(balance, '0'), 'fixed part, such as "0.30"', DECIMAL),
});
export type ChargeRate = z.output<typeof ChargeRate>;

const Charges = request('Charges', 'Charges for payments and cards.', {
  payment: field(z.optional(ChargeRate), 'charge for a payment (default: 2 %)'),
  card: field(z.optional(ChargeRate), 'charge for a new card (default: 1 %)'),
  cardTransaction: field(z.optional(ChargeRate), 'charge for a card payment (default: none)'),
});

const CurrencyEntry = request('CurrencyEntry', 'An additional currency.', {
  code: field(code, 'two to four upper-case letters or digits'),
  name: field(z.optional(textUpTo(60)), 'its name (default: the code)'),
  symbol: field(z.optional(textUpTo(8)), 'its symbol (default: the code)', { minLength: 1, maxLength: 8 }),
  decimals: field(
    z.optional(
      z
        .int({ error: decimals })
        .check(z.refine((value) => value >= 0 && value <= MAX_DECIMALS, { error: decimals })),
    ),
    'number of decimals of a charge, and the minimum that pages show',
    { minimum: 0, maximum: MAX_DECIMALS, default: USUAL_DECIMALS },
  ),
});

const WalletEntry = request('WalletEntry', 'An additional wallet for live mode.', {
  email: field(textThat(isEmail, 'must be an e-mail address'), 'what its owner enters at checkout', {
    format: 'email',
  }),
  holder: field(textUpTo(60), 'account_holder of the IPN'),
  currency: field(code, 'currency code that the emulator knows'),
  balance: field(balance, 'as decimal text, such as "250.00"', DECIMAL),
});
/** A configured wallet. It is created if its owner has none in that currency. */
export type WalletEntry = z.output<typeof WalletEntry>;

const patternField = (description: string) => field(z.optional(textUpTo(200)), description, { minLength: 1 });

const PATTERNS = {
  identifier: patternField('identifiers to match, such as fail-*'),
  email: patternField('customer e-mails to match, such as *@fail.test'),
  amount: patternField('amounts to match, as sent, such as *.13'),
};

const ruleFields = {
  ...PATTERNS,
  outcome: field(z.enum([...OUTCOMES, 'pending']), 'how these payments end; pending leaves them open'),
  delivery: field(z.optional(z.enum(DELIVERY_ORDERS)), phraseOf(SETTLE_FIELDS.delivery)),
  // The same maximum as --auto-delay.
  delay: field(z.optional(durationText(720 * 3_600_000)), 'time from initiate (default: autoDelay)', {
    pattern: DURATION_PATTERN,
  }),
};

/** A configured rule that decides the outcome of matching payments. All of its patterns must match. */
const OutcomeRule = named(
  {
    name: 'OutcomeRule',
    description: 'Decides the outcome of matching payments. In a pattern, * matches anything.',
    fields: ruleFields,
    io: 'input',
    json: { anyOf: Object.keys(PATTERNS).map((name) => ({ required: [name] })) },
  },
  z.strictObject(shapeOf(ruleFields)).check(
    z.refine(({ identifier, email, amount }) => (identifier ?? email ?? amount) !== undefined, {
      error: 'needs at least one of identifier, email and amount: use --auto to settle every payment',
    }),
  ),
);
export type OutcomeRule = z.output<typeof OutcomeRule>;

/** Enough for entries written by hand; thousands belong in a state file. */
const MAX_ENTRIES = 1_000;

function listOf<Schema extends z.ZodMiniType>(schema: Schema) {
  return z
    .array(schema, { error: 'must be a list' })
    .check(z.maxLength(MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`));
}

export const STRUCTURES = {
  charges: z.optional(Charges),
  currencies: z.optional(listOf(CurrencyEntry)),
  wallets: z.optional(listOf(WalletEntry)),
  outcomes: z.optional(listOf(OutcomeRule)),
  faults: z.optional(FaultRules.shape.faults),
} as const;
