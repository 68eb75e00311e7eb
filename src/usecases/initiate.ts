import { CURRENCY_CODE } from '../contract/amount.ts';
import { command, GatewayError, type Hint, hint, type OptionHint, option } from '../contract/error.ts';
import { LOOSE } from '../contract/profiles.ts';
import type { Mode } from '../contract/vocabulary.ts';
import { findByKey } from '../domain/merchant.ts';
import { type InitiateCommand, initiate } from '../domain/payment.ts';
import type { Context, Settings } from '../domain/settings.ts';
import type { Payment, RuleResult, State } from '../domain/state.ts';
import type { PostedFields } from '../service/body.ts';
import { initiateWarnings, readInitiate } from '../service/initiate.ts';
import { INITIATE_NAMES } from '../service/names.ts';

/** Reads a request to initiate a payment, adds the warnings about it, and applies the rule. */
export function initiatePosted(
  state: State,
  posted: PostedFields,
  mode: Mode,
  context: Context,
): RuleResult<Payment> {
  const { settings } = context;
  const command = readInitiate(posted, settings.choices);
  const warnings = initiateWarnings(posted, command.request, {
    settings,
    isReused: state.payments.newestOf(command.request.identifier) !== undefined,
    containsSecretKey: (text) => state.merchants.find((one) => text.includes(one.secretKey)) !== undefined,
  });
  return initiate(state, { ...command, warnings }, mode, context);
}

interface Surroundings {
  state: State;
  settings: Settings;
}

/** The error of a rejected request, with a hint for the log. */
export function withInitiateHint(
  failed: GatewayError,
  posted: PostedFields,
  surroundings: Surroundings,
): GatewayError {
  const loose = readLoosely(posted);
  const hint = loose && initiateHint(failed, loose, surroundings);
  return hint ? failed.with({ hint }) : failed;
}

/** The request as `--loose` reads it; undefined if that fails, too. */
function readLoosely(posted: PostedFields): InitiateCommand | undefined {
  try {
    return readInitiate(posted, LOOSE);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/**
 * A hint for a rejected initiate, based on all checks instead of only the first that failed. The problems of the error
 * say what to fix in the code. The hint says whether the key is wrong, too, and names every option that makes the
 * emulator accept the request.
 *
 * @param failed the error of the request
 * @param loose the request as `--loose` reads it
 * @returns undefined if there is nothing to add
 */
function initiateHint(
  failed: GatewayError,
  loose: InitiateCommand,
  { state, settings }: Surroundings,
): Hint | undefined {
  const { publicKey: keyName } = INITIATE_NAMES;
  const keyHint = keyProblem(loose.publicKey, state, keyName);
  if (failed.code === 'invalid_api_key') return keyHint;
  const key = keyHint ? hint`${keyName} is also wrong. ${keyHint}` : [];
  const { currency } = loose.request;
  const options = missingOptions(currency, failed.code === 'invalid_fields', settings);
  if (!options) return keyHint && key;
  const added = options.flatMap((one, index) => (index ? [' and ', one] : [one]));
  const accept = hint`start with ${added} to accept ${keyHint ? 'the other fields' : 'this request'}`;
  // Deployments have different currencies. Anything else is a mistake in the client.
  const isMistake = options.some(({ option: name }) => name === 'loose');
  const when = isMistake ? 'For clients that you cannot change' : 'If your gateway has this currency';
  return keyHint ? hint`${key}. ${when}, ${accept}` : hint`${when}, ${accept}`;
}

/** Undefined if no options help. */
function missingOptions(currency: string, needsLoose: boolean, settings: Settings): OptionHint[] | undefined {
  const { currencies, choices } = settings;
  const upper = currency.toUpperCase();
  if (!currencies.has(upper) && !CURRENCY_CODE.test(upper)) return undefined;
  const loose = needsLoose || (upper !== currency && choices.currencyCase !== 'free');
  return [...(loose ? [option('loose')] : []), ...(currencies.has(upper) ? [] : [option('currency', upper)])];
}

function keyProblem(key: string, state: State, keyName: string): Hint | undefined {
  if (findByKey(state, 'publicKey', key)) return undefined;
  return findByKey(state, 'secretKey', key)
    ? hint`lint: the secret key was sent as ${keyName}. Send the public key, and keep the secret key on the server`
    : hint`Show the public key of this emulator with: ${command('keys show')}`;
}
