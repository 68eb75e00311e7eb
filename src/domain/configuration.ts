import * as z from 'zod/mini';
import { USUAL_DECIMALS } from '../contract/amount.ts';
import { type ChargeRate, STRUCTURES } from '../contract/configuration.ts';
import { parseInput } from '../contract/input.ts';
import type { Rate } from './money.ts';
import { NO_STRUCTURES, type Structures } from './settings.ts';

const Configuration = z.object(STRUCTURES);

/**
 * Reads the structures of a configuration. Missing ones are as in `NO_STRUCTURES`.
 *
 * @throws GatewayError `usage`, naming every invalid key and the nearest known key for unknown ones
 */
export function readStructures(configured: { [Name in keyof Structures]?: unknown }): Structures {
  const {
    charges = {},
    currencies = [],
    wallets = [],
    outcomes = [],
    faults = [],
  } = parseInput(Configuration, configured, undefined, 'usage');
  const { payment, card, cardTransaction } = charges;
  const defaults = NO_STRUCTURES.charges;
  return {
    charges: {
      payment: rate(payment, defaults.payment),
      card: rate(card, defaults.card),
      cardTransaction: rate(cardTransaction, defaults.cardTransaction),
    },
    currencies: currencies.map(({ code, name = code, symbol = code, decimals = USUAL_DECIMALS }) => ({
      code,
      name,
      symbol,
      decimals,
    })),
    wallets,
    outcomes,
    faults,
  };
}

/** A configured rate. A missing part is 0. */
function rate(configured: ChargeRate | undefined, byDefault: Rate): Rate {
  return configured ? { percent: configured.percent ?? '0', fixed: configured.fixed ?? '0' } : byDefault;
}
