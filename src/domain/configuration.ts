import * as z from 'zod/mini';
import { GatewayError, nearestName } from '../contract/error.ts';
import { OutcomeRule } from './auto.ts';
import { type Currency, isAmount, type Rate } from './money.ts';
import { isEmail } from './payment.ts';

/*
 * What only the configuration file (and the library) can say, because it has no flag: charges, currencies, wallets,
 * outcome rules.
 * All of it is chosen; the service interface knows no way to set any of it.
 */

/** A wallet that the configuration asks for; it is made where its owner has none in that currency. */
export interface WalletTerms {
  email: string;
  holder: string;
  currency: string;
  balance: string;
}

/** What is taken from payments, from a new card, and from what a card pays. */
export interface Charges {
  payment: Rate;
  card: Rate;
  cardTransaction: Rate;
}

/** What a configuration says about money and outcomes, complete and checked. */
export interface Terms {
  charges: Charges;
  currencies: readonly Currency[];
  wallets: readonly WalletTerms[];
  outcomes: readonly OutcomeRule[];
}

/** Decimal text, or a JSON number that is one as it stands. */
function decimal(isValid: (text: string) => boolean, expected: string) {
  return z.pipe(
    z
      .union([z.string(), z.number()], { error: expected })
      .check(z.refine((value) => isValid(String(value)), { error: expected })),
    z.transform((value) => String(value)),
  );
}

function text(max: number) {
  const expected = `must be text of 1 to ${max} characters`;
  return z
    .string({ error: expected })
    .check(z.refine((value) => value.trim() !== '' && value.length <= max, { error: expected }));
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
  .check(z.regex(/^[A-Z0-9]{2,4}$/, 'must be two to four upper-case letters or digits, such as "NPR"'));
const decimals = 'must be a whole number from 0 to 8';

const RateTerms = z.optional(z.strictObject({ percent: z.optional(percent), fixed: z.optional(balance) }));
const ChargeTerms = z.strictObject({ payment: RateTerms, card: RateTerms, cardTransaction: RateTerms });
const CurrencyTerms = z.strictObject({
  code,
  name: z.optional(text(60)),
  symbol: z.optional(text(8)),
  decimals: z.optional(
    z.int({ error: decimals }).check(z.refine((value) => value >= 0 && value <= 8, { error: decimals })),
  ),
});
const WalletSchema = z.strictObject({
  email: z
    .string({ error: 'must be an e-mail address' })
    .check(z.refine(isEmail, { error: 'must be an e-mail address' })),
  holder: text(60),
  currency: code,
  balance,
});

/** Nobody needs more by hand; thousands belong into a state file. */
const MAX_ENTRIES = 1_000;

function listOf<Schema extends z.ZodMiniType>(schema: Schema) {
  return z
    .array(schema, { error: 'must be a list' })
    .check(z.maxLength(MAX_ENTRIES, `may have at most ${MAX_ENTRIES} entries`));
}

/** What each of them may hold. */
export const STRUCTURES = {
  charges: ChargeTerms,
  currencies: listOf(CurrencyTerms),
  wallets: listOf(WalletSchema),
  outcomes: listOf(OutcomeRule),
};

/** The keys that may stand at some place of each structure, for "did you mean". */
const KEYS = {
  charges: ['payment', 'card', 'cardTransaction', 'percent', 'fixed'],
  currencies: Object.keys(CurrencyTerms.shape),
  wallets: Object.keys(WalletSchema.shape),
  outcomes: Object.keys(OutcomeRule.shape),
} as const satisfies Record<keyof typeof STRUCTURES, readonly string[]>;

/**
 * Reads the structures of a configuration. What is absent is empty; the default charges are 2 % of a payment, 1 % of a new card, 0 of what it pays (chosen).
 *
 * @throws GatewayError `usage`, naming every key that is wrong and the known key nearest to an unknown one
 */
export function readTerms(given: { [Name in keyof typeof STRUCTURES]?: unknown }): Terms {
  const charges = given.charges === undefined ? {} : checked('charges', given.charges);
  const currencies = given.currencies === undefined ? [] : checked('currencies', given.currencies);
  return {
    charges: {
      payment: rate(charges.payment, '2'),
      card: rate(charges.card, '1'),
      cardTransaction: rate(charges.cardTransaction, '0'),
    },
    currencies: currencies.map(({ code, name = code, symbol = code, decimals = 2 }) => ({
      code,
      name,
      symbol,
      decimals,
    })),
    wallets: given.wallets === undefined ? [] : checked('wallets', given.wallets),
    outcomes: given.outcomes === undefined ? [] : checked('outcomes', given.outcomes),
  };
}

/** A rate as configured; a part that is absent is 0. Without any, so many percent. */
function rate(terms: z.output<typeof RateTerms>, defaultPercent: string): Rate {
  if (terms === undefined) return { percent: defaultPercent, fixed: '0' };
  return { percent: terms.percent ?? '0', fixed: terms.fixed ?? '0' };
}

function checked<Name extends keyof typeof STRUCTURES>(
  name: Name,
  value: unknown,
): z.output<(typeof STRUCTURES)[Name]> {
  const parsed = STRUCTURES[name].safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data as z.output<(typeof STRUCTURES)[Name]>;
  const problems = parsed.error.issues.flatMap((issue) => inWords(name, issue));
  throw new GatewayError('usage', problems[0] ?? `${name} is not valid`, { problems });
}

function inWords(name: keyof typeof STRUCTURES, issue: z.core.$ZodIssue): string[] {
  const at = [name, ...issue.path].join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const meant = nearestName(key, KEYS[name]);
      const hint = meant ? `: did you mean ${meant}?` : `; known: ${KEYS[name].join(', ')}`;
      return `unknown key ${at}.${key}${hint}`;
    });
  }
  if (issue.input === undefined) return [`${at} is required`];
  if (issue.code === 'invalid_type' && issue.expected === 'object') return [`${at} must be an object`];
  return [`${at} ${issue.message}`];
}
