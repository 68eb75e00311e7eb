import { CURRENCY_CODE } from '../contract/amount.ts';
import { GatewayError } from '../contract/error.ts';
import { command, type Hint, hint, type OptionHint, option } from '../contract/hint.ts';
import { findByKey } from './merchant.ts';
import type { InitiateCommand } from './payment.ts';
import type { Settings } from './settings.ts';
import type { State } from './state.ts';

/**
 * What a refused initiate lacks, by all checks and not by the first that failed: every option with which the emulator
 * would accept it, and whether its key is wrong as well.
 *
 * @param failed the error that it was refused with
 * @param readLoosely reads the request as `--loose` does; throws where that does not help
 * @returns undefined where no option helps
 */
export function initiateRemedy(
  failed: GatewayError,
  readLoosely: () => InitiateCommand,
  state: State,
  settings: Settings,
): Hint | undefined {
  const request = read(readLoosely);
  if (!request) return failed.hint;
  const options = missingOptions(request.asked.currency, failed.code === 'invalid_fields', settings);
  const keyHint = keyProblem(request.publicKey, state);
  if (!options.length) return keyHint;
  const start = options.flatMap((one): Hint => [' ', one]);
  return keyHint
    ? hint`${command('start')}${start} accepts the rest; public_key is wrong, too: ${keyHint}`
    : hint`${command('start')}${start} accepts this request`;
}

function read(readLoosely: () => InitiateCommand): InitiateCommand | undefined {
  try {
    return readLoosely();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function missingOptions(currency: string, needsLoose: boolean, settings: Settings): OptionHint[] {
  if (settings.currencies.has(currency)) return needsLoose ? [option('loose')] : [];
  const upper = currency.toUpperCase();
  const loose = needsLoose || (upper !== currency && settings.choices.currencyCase !== 'free');
  return [
    ...(loose ? [option('loose')] : []),
    ...(settings.currencies.has(upper)
      ? []
      : [option('currency', CURRENCY_CODE.test(upper) ? upper : 'CODE')]),
  ];
}

function keyProblem(key: string, state: State): Hint | undefined {
  if (findByKey(state, 'publicKey', key)) return undefined;
  return findByKey(state, 'secretKey', key)
    ? hint`lint: the secret key was sent as public_key; send the public key and keep the secret one on the server`
    : hint`${command('keys show')} prints the public key of this emulator`;
}
