import { GatewayError } from '../contract/error.ts';
import { LOOSE } from '../contract/profiles.ts';
import type { Mode } from '../contract/vocabulary.ts';
import { secretKeyFinder } from '../domain/merchant.ts';
import { type InitiateCommand, initiate, initiateHint } from '../domain/payment.ts';
import type { Context, Settings } from '../domain/settings.ts';
import type { Payment, RuleResult, State } from '../domain/state.ts';
import type { PostedFields } from '../wire/body.ts';
import type { Dialect } from '../wire/dialect.ts';

/** Reads a request to initiate a payment, adds the warnings about it, and applies the rule. */
export function initiatePosted(
  state: State,
  posted: PostedFields,
  mode: Mode,
  context: Context,
  dialect: Pick<Dialect, 'readInitiate' | 'initiateWarnings'>,
): RuleResult<Payment> {
  const { settings } = context;
  const command = dialect.readInitiate(posted, settings.choices);
  const warnings = dialect.initiateWarnings(posted, command.request, {
    settings,
    isReused: state.payments.newestOf(command.request.identifier) !== undefined,
    containsSecretKey: secretKeyFinder(state),
  });
  return initiate(state, { ...command, warnings }, mode, context);
}

/**
 * The error of a rejected request, with a hint for the log.
 *
 * @param isInObserved whether `--profile observed` accepts a currency, in any case
 */
export function withInitiateHint(
  failed: GatewayError,
  posted: PostedFields,
  isInObserved: (currency: string) => boolean,
  state: State,
  settings: Settings,
  dialect: Pick<Dialect, 'readInitiate'>,
): GatewayError {
  const loose = readLoosely(posted, dialect);
  const hint = loose ? initiateHint(failed, loose, isInObserved, state, settings) : failed.hint;
  return hint ? failed.with({ hint }) : failed;
}

/** The request as `--loose` reads it; undefined if that fails, too. */
function readLoosely(
  posted: PostedFields,
  { readInitiate }: Pick<Dialect, 'readInitiate'>,
): InitiateCommand | undefined {
  try {
    return readInitiate(posted, LOOSE);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
