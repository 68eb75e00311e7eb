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

/** The charges on payments, new cards and card transactions. */
export type Charges = Record<keyof (typeof STRUCTURES)['charges']['shape'], Rate>;

/** All known keys of each structure, for "did you mean". */
const KEYS = {
  charges: Object.keys({ ...STRUCTURES.charges.shape, ...ChargeRate.shape }),
  currencies: Object.keys(CurrencyEntry.shape),
  wallets: Object.keys(WalletEntry.shape),
  outcomes: Object.keys(OutcomeRule.shape),
} satisfies Record<keyof typeof STRUCTURES, string[]>;

/**
 * Reads the structures of a configuration. Missing ones are empty. The default charges are 2 % on payments, 1 % on new cards and none on card transactions (chosen: ipn-charge-rate, card-charges-rate, card-transaction-charge-none).
 *
 * @throws GatewayError `usage`, naming every invalid key and the nearest known key for unknown ones
 */
export function readStructures({
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
/** The validated structures of a configuration, with defaults. */
export type Structures = ReturnType<typeof readStructures>;

/** A configured rate. A missing part is 0. */
function rate(configured: ChargeRate | undefined, defaultPercent: string): Rate {
  if (configured === undefined) return { percent: defaultPercent, fixed: '0' };
  return { percent: configured.percent ?? '0', fixed: configured.fixed ?? '0' };
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
