import type * as z from 'zod/mini';
import {
  ChargeRate,
  CurrencyEntry,
  OutcomeRule,
  STRUCTURES,
  WalletEntry,
} from '../contract/configuration.ts';
import { didYouMean } from '../contract/error.ts';
import { parseInput } from '../contract/input.ts';
import type { Rate } from './money.ts';

/** What is taken from payments, from a new card, and from what a card pays. */
export type Charges = Record<keyof (typeof STRUCTURES)['charges']['shape'], Rate>;

/** The keys that are known somewhere in each structure, for "did you mean". */
const KEYS = {
  charges: Object.keys({ ...STRUCTURES.charges.shape, ...ChargeRate.shape }),
  currencies: Object.keys(CurrencyEntry.shape),
  wallets: Object.keys(WalletEntry.shape),
  outcomes: Object.keys(OutcomeRule.shape),
} satisfies Record<keyof typeof STRUCTURES, string[]>;

/**
 * Reads the structures of a configuration. What is absent is empty; the default charges are 2 % of a payment, 1 % of a new card, 0 of what it pays (chosen: ipn-charge-rate, card-charges-rate, card-transaction-charge-none).
 *
 * @throws GatewayError `usage`, naming every key that is wrong and the known key nearest to an unknown one
 */
export function readTerms({
  charges = {},
  currencies = [],
  wallets = [],
  outcomes = [],
}: { [Name in keyof typeof STRUCTURES]?: unknown }) {
  const { payment, card, cardTransaction } = checked('charges', STRUCTURES.charges, charges);
  return {
    charges: {
      payment: rate(payment, '2'),
      card: rate(card, '1'),
      cardTransaction: rate(cardTransaction, '0'),
    },
    currencies: checked('currencies', STRUCTURES.currencies, currencies).map(
      ({ code, name = code, symbol = code, decimals = 2 }) => ({ code, name, symbol, decimals }),
    ),
    wallets: checked('wallets', STRUCTURES.wallets, wallets),
    outcomes: checked('outcomes', STRUCTURES.outcomes, outcomes),
  };
}
/** What a configuration says about money and outcomes, complete and checked. */
export type Terms = ReturnType<typeof readTerms>;

/** A rate as configured; a part that is absent is 0. */
function rate(terms: ChargeRate | undefined, defaultPercent: string): Rate {
  if (terms === undefined) return { percent: defaultPercent, fixed: '0' };
  return { percent: terms.percent ?? '0', fixed: terms.fixed ?? '0' };
}

function checked<Schema extends z.ZodMiniType>(
  name: keyof typeof STRUCTURES,
  schema: Schema,
  value: unknown,
) {
  return parseInput(schema, value, (issue) => describeIssue(name, issue), 'usage');
}

function describeIssue(name: keyof typeof STRUCTURES, issue: z.core.$ZodIssue): string[] {
  const at = [name, ...issue.path].join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = KEYS[name];
    return issue.keys.map(
      (key) => `unknown key ${at}.${key}${didYouMean(key, known, `; known: ${known.join(', ')}`)}`,
    );
  }
  if (issue.input === undefined) return [`${at} is required`];
  if (issue.code === 'invalid_type' && issue.expected === 'object') return [`${at} must be an object`];
  return [`${at} ${issue.message}`];
}
