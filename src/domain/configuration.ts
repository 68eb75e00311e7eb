import * as z from 'zod/mini';
import { USUAL_DECIMALS } from '../contract/amount.ts';
import { STRUCTURES } from '../contract/configuration.ts';
import { parseInput } from '../contract/input.ts';
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
  const defaults = NO_STRUCTURES.charges;
  const {
    payment = defaults.payment,
    card = defaults.card,
    cardTransaction = defaults.cardTransaction,
  } = charges;
  return {
    wallets,
    outcomes,
    faults,
    charges: { payment, card, cardTransaction },
    currencies: currencies.map(({ code, name = code, symbol = code, decimals = USUAL_DECIMALS }) => ({
      code,
      name,
      symbol,
      decimals,
    })),
  };
}
