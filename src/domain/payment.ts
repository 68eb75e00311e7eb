import { CURRENCY_CODE, type Currency } from '../contract/amount.ts';
import { command, GatewayError, type Hint, hint, type OptionHint, option } from '../contract/error.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { PaymentEvent, PaymentRequest } from '../contract/payment.ts';
import { shorten } from '../contract/text.ts';
import { timestamp } from '../contract/time.ts';
import type { Mode } from '../contract/vocabulary.ts';
import { autoSettling } from './auto.ts';
import { unique } from './ids.ts';
import { findByKey } from './merchant.ts';
import { chargeOn } from './money.ts';
import type { Context, Settings } from './settings.ts';
import type { Payment, RuleResult, State } from './state.ts';

/** A merchant's request to initiate a payment, validated. */
export interface InitiateCommand {
  publicKey: string;
  request: PaymentRequest;
  /** Warnings about valid input that is probably a mistake. They never change the response. */
  warnings?: string[];
}

/**
 * Rule: a merchant initiates a payment. Checks the currency, then the key.
 *
 * @throws GatewayError `unsupported_currency` or `invalid_api_key`; `initiateHint` has the fix
 */
export function initiate(
  state: State,
  command: InitiateCommand,
  mode: Mode,
  context: Context,
): RuleResult<Payment> {
  const { settings, ids, now } = context;
  const { request } = command;
  const { identifier, amount, customerEmail } = request;
  const currency = requireCurrency(request.currency, settings);
  const merchant = requirePublicKey(state, command.publicKey);
  const payment: Payment = {
    id: unique(ids.payment, (id) => state.payments.get(id) === undefined),
    trx: ids.trx(),
    mode,
    status: 'pending',
    merchantId: merchant.id,
    ...request,
    currency: currency.code,
    charge: chargeOn(amount, settings.charges.payment, currency),
    createdAt: timestamp(now),
    auto: autoSettling({ identifier, email: customerEmail, amount }, settings.auto, now),
    expiresAt: settings.paymentExpiresMs === null ? null : timestamp(now + settings.paymentExpiresMs),
    settledAt: null,
    settledBy: null,
    payerEmail: null,
    walletId: null,
    messageId: null,
    warnings: command.warnings ?? [],
    ...(context.requestId !== undefined && { requestId: context.requestId }),
    history: [],
  };
  return { change: { payments: [payment] }, result: payment };
}

function requirePublicKey(state: State, key: string): Merchant {
  const merchant = findByKey(state, 'publicKey', key);
  if (merchant) return merchant;
  throw new GatewayError('invalid_api_key', 'Invalid api key');
}

function requireCurrency(given: string, settings: Settings): Currency {
  const exact = settings.currencies.get(given);
  if (exact) return exact;
  const upper = given.toUpperCase();
  const known = settings.currencies.get(upper);
  if (known && settings.choices.currencyCase === 'free') return known;
  const codes = [...settings.currencies.keys()].join(', ');
  const problem = known
    ? upperCaseProblem(given)
    : `currency "${shorten(given)}" is not supported: this gateway has ${codes}`;
  throw new GatewayError('unsupported_currency', problem);
}

export function upperCaseProblem(currency: string): string {
  return `currency must be in upper case: ${currency.toUpperCase()} (got "${shorten(currency)}")`;
}

const MAX_HISTORY = 100;

/** The payment with one more event in its history, which is bounded: a reload loop on a page must not grow it forever. */
export function withEvent(
  payment: Payment,
  { now, requestId }: Pick<Context, 'now' | 'requestId'>,
  event: PaymentEvent['event'],
  value: string | null = null,
  problem?: PaymentEvent['problem'],
): Payment {
  if (payment.history.length >= MAX_HISTORY && event !== 'settled') return payment;
  const happened: PaymentEvent = {
    at: timestamp(now),
    event,
    value,
    ...(problem !== undefined && { problem }),
    ...(requestId !== undefined && { requestId }),
  };
  return { ...payment, history: [...payment.history, happened] };
}

/** The payment with this id or identifier. @throws GatewayError `not_found` */
export function requirePayment(state: State, reference: string): Payment {
  const payment = state.findPayment(reference);
  if (payment) return payment;
  throw new GatewayError('not_found', `no payment has the id or identifier "${shorten(reference)}"`, {
    hint: hint`List all payments with: ${command('payments')}`,
  });
}

/**
 * A hint for a rejected initiate, based on all checks instead of only the first that failed. The problems of the error
 * say what to fix in the code. The hint says whether the key is wrong, too, and names every option that makes the
 * emulator accept the request. The command is at the end, so that it can be pasted.
 *
 * @param failed the error of the request
 * @param loose the request as `--loose` reads it
 * @param isInObserved whether `--profile observed` accepts a currency, in any case
 * @returns undefined if there is nothing to add
 */
export function initiateHint(
  failed: GatewayError,
  loose: InitiateCommand,
  isInObserved: (currency: string) => boolean,
  state: State,
  settings: Settings,
): Hint | undefined {
  const keyHint = keyProblem(loose.publicKey, state);
  if (failed.code === 'invalid_api_key') return keyHint;
  const key = keyHint ? hint`public_key is also wrong. ${keyHint}` : [];
  const { currency } = loose.request;
  const options = missingOptions(currency, failed.code === 'invalid_fields', settings);
  if (!options) return keyHint && key;
  const start = { command: 'start', options };
  const accept = hint`accept ${keyHint ? 'the other fields' : 'this request'} with: ${start}`;
  const ways = isInObserved(currency) ? hint`use ${option('profile', 'observed')} or ${accept}` : accept;
  // Deployments have different currencies. Anything else is a mistake in the client.
  const isMistake = options.some(({ option: name }) => name === 'loose');
  const when = isMistake ? 'For clients that you cannot change' : 'If your gateway has this currency';
  return keyHint ? hint`${key}. ${when}, ${ways}` : hint`${when}, ${ways}`;
}

/** Undefined if no options help. */
function missingOptions(currency: string, needsLoose: boolean, settings: Settings): OptionHint[] | undefined {
  const { currencies, choices } = settings;
  const upper = currency.toUpperCase();
  if (!currencies.has(upper) && !CURRENCY_CODE.test(upper)) return undefined;
  const loose = needsLoose || (upper !== currency && choices.currencyCase !== 'free');
  return [...(loose ? [option('loose')] : []), ...(currencies.has(upper) ? [] : [option('currency', upper)])];
}

function keyProblem(key: string, state: State): Hint | undefined {
  if (findByKey(state, 'publicKey', key)) return undefined;
  return findByKey(state, 'secretKey', key)
    ? hint`lint: the secret key was sent as public_key. Send the public key, and keep the secret key on the server`
    : hint`Show the public key of this emulator with: ${command('keys show')}`;
}
