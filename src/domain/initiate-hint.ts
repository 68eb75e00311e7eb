import { CURRENCY_CODE } from '../contract/amount.ts';
import { GatewayError } from '../contract/error.ts';
import { command, type Hint, hint, type OptionHint, option } from '../contract/hint.ts';
import { findByKey } from './merchant.ts';
import type { InitiateCommand } from './payment.ts';
import type { Settings } from './settings.ts';
import type { State } from './state.ts';

/**
 * A hint for a rejected initiate, based on all checks instead of only the first that failed. It names every option that
 * makes the emulator accept the request, and says whether the key is wrong, too.
 *
 * @param failed the error of the request
 * @param readLoosely reads the request with `--loose`; throws if that fails, too
 * @returns undefined if no option helps
 */
export function initiateHint(
  failed: GatewayError,
  readLoosely: () => InitiateCommand,
  state: State,
  settings: Settings,
): Hint | undefined {
  const loose = read(readLoosely);
  if (!loose) return failed.hint;
  const options = missingOptions(loose.request.currency, failed.code === 'invalid_fields', settings);
  const keyHint = keyProblem(loose.publicKey, state);
  if (!options.length) return keyHint;
  const start = options.flatMap((one): Hint => [' ', one]);
  return keyHint
    ? hint`Accept the other fields with: ${command('start')}${start}. public_key is also wrong. ${keyHint}`
    : hint`Accept this request with: ${command('start')}${start}`;
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
    ? hint`lint: the secret key was sent as public_key. Send the public key, and keep the secret key on the server`
    : hint`Show the public key of this emulator with: ${command('keys show')}`;
}
