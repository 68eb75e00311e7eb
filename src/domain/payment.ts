import type { Currency } from '../contract/amount.ts';
import { command, GatewayError, hint } from '../contract/error.ts';
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
