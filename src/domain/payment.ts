import { shorten } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { AskedPayment, PaymentEvent } from '../contract/payment.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { Mode } from '../contract/vocabulary.ts';
import { autoSettling } from './auto.ts';
import { findByKey, secretKeyFinder } from './merchant.ts';
import { chargeOn } from './money.ts';
import type { Context, Settings } from './settings.ts';
import type { Payment, RuleResult, State } from './state.ts';

/** What a merchant asks for by initiating a payment, checked field by field. */
export interface InitiateCommand {
  publicKey: string;
  asked: AskedPayment;
  /**
   * What is allowed in the request but probably a mistake.
   *
   * @param holdsSecretKey whether a merchant's secret key is in a text
   */
  notes: (holdsSecretKey: (text: string) => boolean) => readonly string[];
}

/**
 * Rule: a merchant initiates a payment. Checks the currency, then the key.
 *
 * @throws GatewayError `unsupported_currency` or `invalid_api_key`; `initiateRemedy` says what to do
 */
export function initiate(
  state: State,
  command: InitiateCommand,
  mode: Mode,
  context: Context,
): RuleResult<Payment> {
  const { settings, ids, now } = context;
  const { asked } = command;
  const { identifier, amount, customerEmail } = asked;
  const currency = requireCurrency(asked.currency, settings);
  const merchant = requirePublicKey(state, command.publicKey);
  const payment: Payment = {
    id: unique(ids.payment, (id) => state.payments.get(id) === undefined),
    trx: ids.trx(),
    mode,
    status: 'pending',
    merchantId: merchant.id,
    ...asked,
    currency,
    charge: chargeOn(amount, settings.charges.payment),
    createdAt: timestamp(now),
    auto: autoSettling({ identifier, email: customerEmail, amount }, settings.auto, now),
    expiresAt: settings.paymentExpiresMs === null ? null : timestamp(now + settings.paymentExpiresMs),
    settledAt: null,
    settledBy: null,
    payerEmail: null,
    walletId: null,
    messageId: null,
    warnings: warningsOf(state, command, settings),
    ...(context.requestId !== undefined && { requestId: context.requestId }),
    history: [],
  };
  return { change: { payments: [payment] }, result: payment };
}

/** Draws until a value is free: with a seed, a restart draws the same values again. */
export function unique(draw: () => string, isFree: (id: string) => boolean): string {
  let id = draw();
  while (!isFree(id)) id = draw();
  return id;
}

function requirePublicKey(state: State, key: string): Merchant {
  const merchant = findByKey(state, 'publicKey', key);
  if (merchant) return merchant;
  throw new GatewayError('invalid_api_key', 'Invalid api key');
}

function requireCurrency(given: string, settings: Settings): string {
  if (settings.currencies.has(given)) return given;
  const upper = given.toUpperCase();
  const known = settings.currencies.has(upper);
  if (known && settings.choices.currencyCase === 'free') return upper;
  const codes = [...settings.currencies.keys()].join(', ');
  const problem = known
    ? upperCaseProblem(given)
    : `currency "${shorten(given)}" is not supported: this gateway has ${codes}`;
  throw new GatewayError('unsupported_currency', problem);
}

function upperCaseProblem(given: string): string {
  return `currency must be in upper case: ${given.toUpperCase()} (got "${shorten(given)}")`;
}

/** What is allowed but probably a mistake. Never changes the answer; shown where the developer looks. */
function warningsOf(state: State, { asked, notes }: InitiateCommand, settings: Settings): string[] {
  const { identifier, ipnUrl, currency } = asked;
  const warnings: string[] = [];
  if (state.payments.newestOf(identifier)) {
    const text = `identifier "${identifier}" was used before: this is a new payment with the same identifier`;
    warnings.push(text);
  }
  const unreachable = settings.unreachable(ipnUrl);
  if (unreachable) warnings.push(`ipn_url cannot be reached from here: ${unreachable}`);
  warnings.push(...addressWarnings(asked, settings));
  if (!settings.currencies.has(currency)) warnings.push(strictly(upperCaseProblem(currency)));
  return [...warnings, ...notes(secretKeyFinder(state))];
}

/** Says what a stricter gateway has against a request. */
export function strictly(problem: string): string {
  return `a stricter deployment refuses this: ${problem}`;
}

function addressWarnings(
  { ipnUrl, successUrl, cancelUrl, siteLogo }: AskedPayment,
  { looksLocal, ipn: { forwardTo } }: Settings,
): string[] {
  const warnings: string[] = [];
  if (host(successUrl) !== host(cancelUrl))
    warnings.push('success_url and cancel_url are on different hosts');
  if (ipnUrl === successUrl)
    warnings.push('ipn_url and success_url are the same address: a visit of a browser proves no payment');
  if (ipnUrl === siteLogo)
    warnings.push('ipn_url and site_logo are the same address: the checkout loads it as a picture');
  if (looksLocal(forwardTo ?? ipnUrl) && !looksLocal(successUrl))
    warnings.push(
      'success_url is a public address, while the IPN goes to a local one: the browser leaves the local shop (--map leads it there)',
    );
  return warnings;
}

function host(url: string): string {
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
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

/** The payment that a reference names. @throws GatewayError `not_found` */
export function requirePayment(state: State, reference: string): Payment {
  const payment = state.findPayment(reference);
  if (payment) return payment;
  throw new GatewayError('not_found', `no payment has the id or identifier "${shorten(reference)}"`, {
    hint: hint`${command('payments')} lists what there is.`,
  });
}
