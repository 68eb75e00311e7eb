import type * as z from 'zod/mini';
import { USUAL_DECIMALS } from '../contract/amount.ts';
import {
  ChargeRate,
  CurrencyEntry,
  OutcomeRule,
  STRUCTURES,
  WalletEntry,
} from '../contract/configuration.ts';
import { didYouMean } from '../contract/error.ts';
import { FaultRules } from '../contract/fault.ts';
import { parseInput } from '../contract/input.ts';
import type { Rate } from './money.ts';
import { NO_STRUCTURES, type Structures } from './settings.ts';

/** All known keys of each structure, for "did you mean". */
const KEYS = {
  charges: Object.keys({ ...STRUCTURES.charges.shape, ...ChargeRate.shape }),
  currencies: Object.keys(CurrencyEntry.shape),
  wallets: Object.keys(WalletEntry.shape),
  outcomes: Object.keys(OutcomeRule.shape),
} satisfies Record<keyof typeof STRUCTURES, string[]>;

/**
 * Reads the structures of a configuration. Missing ones are as in `NO_STRUCTURES`.
 *
 * @throws GatewayError `usage`, naming every invalid key and the nearest known key for unknown ones; `invalid_fields` for
 *   a fault rule
 */
export function readStructures({
  charges = {},
  currencies = [],
  wallets = [],
  outcomes = [],
  faults,
}: { [Name in keyof Structures]?: unknown }): Structures {
  const { payment, card, cardTransaction } = checked('charges', STRUCTURES.charges, charges);
  const defaults = NO_STRUCTURES.charges;
  return {
    charges: {
      payment: rate(payment, defaults.payment),
      card: rate(card, defaults.card),
      cardTransaction: rate(cardTransaction, defaults.cardTransaction),
    },
    currencies: checked('currencies', STRUCTURES.currencies, currencies).map(
      ({ code, name = code, symbol = code, decimals = USUAL_DECIMALS }) => ({ code, name, symbol, decimals }),
    ),
    wallets: checked('wallets', STRUCTURES.wallets, wallets),
    outcomes: checked('outcomes', STRUCTURES.outcomes, outcomes),
    faults: faults === undefined ? [] : parseInput(FaultRules, { faults }).faults,
  };
}

/** A configured rate. A missing part is 0. */
function rate(configured: ChargeRate | undefined, byDefault: Rate): Rate {
  return configured ? { percent: configured.percent ?? '0', fixed: configured.fixed ?? '0' } : byDefault;
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
