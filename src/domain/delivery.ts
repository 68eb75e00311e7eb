import { requireAddress, requireReceiver } from '../contract/address.ts';
import type { EgressFailure, FireInput } from '../contract/delivery.ts';
import type { Diagnosis } from '../contract/diagnosis.ts';
import { command, GatewayError, hint } from '../contract/error.ts';
import type { FaultRule } from '../contract/fault.ts';
import { requireFireable } from '../contract/fired-ipn.ts';
import { headerIn } from '../contract/headers.ts';
import type { Merchant } from '../contract/merchant.ts';
import { timestamp } from '../contract/time.ts';
import { OUTCOMES, PAYMENT_OUTCOMES } from '../contract/vocabulary.ts';
import type { ChosenFields, ComposedIpn, Composition, IpnSubject } from './ipn.ts';
import { defaultMerchant } from './merchant.ts';
import { requirePayment } from './payment.ts';
import type { Context } from './settings.ts';
import type { Attempt, Delivery, Payment, RuleResult, State } from './state.ts';

interface DeliveryPlan extends Pick<Delivery, 'paymentId' | 'url' | 'once'> {
  merchant: Merchant;
  dueAt: number;
}

/** Rule: a pending delivery of an IPN. */
function newDelivery(ipn: ComposedIpn, plan: DeliveryPlan, { ids, now }: Context): Delivery {
  const { contentType, body, signedText, identifier, status, tampered, isSigned } = ipn;
  return {
    id: ids.delivery(),
    paymentId: plan.paymentId,
    merchantId: plan.merchant.id,
    identifier,
    url: plan.url,
    status,
    state: 'pending',
    contentType,
    body,
    signedText,
    signedWith: isSigned ? plan.merchant.publicKey : '',
    once: plan.once,
    attemptCount: 0,
    createdAt: timestamp(now),
    nextAttemptAt: timestamp(plan.dueAt),
    tampered,
    signedAnew: false,
    postponedBy: null,
  };
}

/** Rule: the delivery of a settled payment's IPN. */
export function deliveryOf(
  { payment, status, holder }: Omit<IpnSubject, 'secretKey'>,
  merchant: Merchant,
  context: Context,
  dueAt = context.now,
): Delivery {
  const subject = { payment, status, holder, secretKey: merchant.secretKey };
  const plan = { paymentId: payment.id, merchant, url: payment.ipnUrl, once: false, dueAt };
  const { settings } = context;
  const ipn = context.ipn.compose({}, subject, { format: settings.ipn.format }, settings);
  return newDelivery(ipn, plan, context);
}

/** An IPN to send by hand from a running emulator. See `FireInput` for the defaults. */
export interface FireRequest
  extends ChosenFields,
    Omit<Composition, 'format'>,
    Pick<FireInput, 'payment' | 'to' | 'format'> {
  times?: number | undefined;
  /** Wait before each IPN, in milliseconds of the emulator's clock. */
  delayMs?: number | undefined;
}

/**
 * Rule: an IPN sent by hand, as deliveries with one attempt each.
 *
 * @throws GatewayError `not_found` for an unknown payment, `invalid_fields`
 */
export function fire(state: State, request: FireRequest, context: Context): RuleResult<Delivery[]> {
  const { now, ids, settings } = context;
  const { tamper, set, unset, times = 1, delayMs = 0, format = settings.ipn.format } = request;
  const payment = request.payment === undefined ? undefined : requirePayment(state, request.payment);
  const url = requireReceiver(request.to, payment);
  const merchant = (payment && state.merchants.get(payment.merchantId)) ?? defaultMerchant(state);
  const { secretKey } = merchant;
  const subject = payment
    ? { payment, status: PAYMENT_OUTCOMES.approve.ipnStatus, holder: holderOf(state, payment), secretKey }
    : { trx: ids.trx(), now, secretKey };
  const ipn = context.ipn.compose(request, subject, { format, set, unset, tamper }, settings);
  requireFireable(ipn.body, times);
  const plan = { paymentId: payment?.id ?? null, merchant, url, once: true };
  const deliveries = Array.from({ length: times }, (_, index) =>
    newDelivery(ipn, { ...plan, dueAt: now + (index + 1) * delayMs }, context),
  );
  return { change: { deliveries }, result: deliveries };
}

function holderOf(state: State, payment: Payment): string {
  return state.wallets.get(payment.walletId ?? '')?.holder ?? payment.customerName;
}

/**
 * Rule: resends a delivery immediately, with the same bytes. If the key pair was replaced, they are signed again.
 * Another address creates a new delivery.
 *
 * @throws GatewayError `not_found` for an unknown delivery, `invalid_fields`
 */
export function resend(
  state: State,
  deliveryId: string,
  to: string | undefined,
  context: Context,
): RuleResult<Delivery> {
  const now = timestamp(context.now);
  const delivery = requireDelivery(state, deliveryId);
  const signed = withCurrentKey(delivery, state, context);
  const due = { state: 'pending', nextAttemptAt: now } as const;
  if (to === undefined) {
    const resent: Delivery = { ...signed, ...due, isResend: true };
    return { change: { deliveries: [resent] }, result: resent };
  }
  const redirected: Delivery = {
    ...signed,
    ...due,
    id: context.ids.delivery(),
    url: requireAddress(to, 'to'),
    once: true,
    attemptCount: 0,
    createdAt: now,
    signedAnew: signed !== delivery,
    // The rule postponed the other delivery.
    postponedBy: null,
  };
  return { change: { deliveries: [redirected] }, result: redirected };
}

/** The delivery with this id. @throws GatewayError `not_found` */
export function requireDelivery(state: State, id: string): Delivery {
  const delivery = state.deliveries.get(id);
  if (delivery) return delivery;
  throw new GatewayError('not_found', `no IPN delivery has the id "${id.slice(0, 80)}"`, {
    hint: hint`List all IPNs with: ${command('ipn list')}`,
  });
}

/**
 * The delivery with this id, or the newest genuine one of a payment.
 *
 * @param reference an id, or the id or identifier of a payment
 * @throws GatewayError `not_found`
 */
export function newestGenuine(state: State, reference: string): Delivery {
  const delivery = state.deliveries.get(reference);
  if (delivery) return delivery;
  const payment = requirePayment(state, reference);
  const genuine = state.deliveriesOf(payment.id).findLast(({ signedWith }) => signedWith !== '');
  if (genuine) return genuine;
  throw new GatewayError('not_found', `payment "${payment.identifier}" has no IPN`, {
    hint: hint`Only a payment that succeeded sends one: ${command('pay', '--approve')}`,
  });
}

/** The delivery signed with the merchant's current key; unchanged if the key is the same. */
function withCurrentKey(delivery: Delivery, state: State, { ipn }: Context): Delivery {
  const merchant = state.merchants.get(delivery.merchantId);
  if (!merchant || delivery.signedWith === '') return delivery;
  const body = ipn.resigned(delivery.body, delivery.signedText, merchant.secretKey);
  if (body === undefined) return delivery;
  return { ...delivery, body, signedWith: merchant.publicKey, signedAnew: true };
}

/** The result of an attempt, before it has an id and a number. */
export type AttemptReport = Omit<Attempt, 'id' | 'deliveryId' | 'number' | 'sentAgain' | 'startedAt'>;

/** Maximum fraction by which a retry is early, to spread retries that are due together (chosen). */
const JITTER = 0.1;

/** The updated delivery; undefined if a reset removed it during the attempt. */
type Recorded = RuleResult<Delivery | undefined>;

/**
 * Rule: stores an attempt, which decides whether the delivery succeeds, fails or is retried, and when.
 *
 * @param isExtra a duplicate, which decides nothing: a resend may be due meanwhile
 */
export function recordAttempt(
  state: State,
  deliveryId: string,
  { startedAt, ...report }: AttemptReport & { startedAt: string },
  context: Context,
  isExtra = false,
): Recorded {
  const delivery = state.deliveries.get(deliveryId);
  if (!delivery) return { change: {}, result: undefined };
  const number = delivery.attemptCount + 1;
  const { isResend, ...rest } = delivery;
  const again = isExtra ? 'rule' : isResend && number > 1 && 'user';
  const attempt: Attempt = {
    id: context.ids.attempt(),
    deliveryId,
    number,
    ...(again && { sentAgain: again }),
    startedAt,
    ...report,
  };
  // A delivery that succeeded once stays delivered and is not retried automatically (chosen: ipn-answer-ignored).
  const isDelivered = state.attemptsOf(deliveryId).some(({ failure }) => failure === null);
  const next = isDelivered ? DELIVERED : verdict(report, delivery, context);
  const updated = isExtra
    ? { ...delivery, attemptCount: number }
    : { ...rest, attemptCount: number, ...next, postponedBy: null };
  return { change: { attempts: [attempt], deliveries: [updated] }, result: updated };
}

/** Rule: postpones a delivery. @param rule the fault rule that caused it; default: the previous one */
export function postpone(state: State, deliveryId: string, at: number, rule?: FaultRule): Recorded {
  const delivery = state.deliveries.get(deliveryId);
  if (delivery?.state !== 'pending') return { change: {}, result: undefined };
  const moved = {
    ...delivery,
    nextAttemptAt: timestamp(at),
    postponedBy: rule ?? delivery.postponedBy,
  };
  return { change: { deliveries: [moved] }, result: moved };
}

/** Whether an IPN tells the state that its payment is in. */
export function tellsState({ status }: Delivery, payment: Payment): boolean {
  return OUTCOMES.some(
    (outcome) =>
      PAYMENT_OUTCOMES[outcome].ipnStatus === status && PAYMENT_OUTCOMES[outcome].status === payment.status,
  );
}

/** Rule: stores why the receiver does not accept a delivery. A reset may have removed it meanwhile. */
export function recordDiagnosis(state: State, deliveryId: string, diagnosis: Diagnosis): Recorded {
  const delivery = state.deliveries.get(deliveryId);
  if (!delivery) return { change: {}, result: undefined };
  const updated = { ...delivery, diagnosis };
  return { change: { deliveries: [updated] }, result: updated };
}

/** Why the egress guard blocked the last attempt of a delivery; undefined if it did not. */
export function egressFailure(state: State, delivery: Delivery): EgressFailure | undefined {
  const failure = state.attemptsOf(delivery.id).at(-1)?.failure;
  return failure?.code === 'egress' ? failure : undefined;
}

type Verdict = Pick<Delivery, 'state' | 'nextAttemptAt'>;

const DELIVERED: Verdict = { state: 'delivered', nextAttemptAt: null };

function verdict(report: AttemptReport, delivery: Delivery, { settings, ids, now }: Context): Verdict {
  if (report.failure === null) return DELIVERED;
  // A retry would not help.
  if (report.failure.code === 'egress') return { state: 'refused', nextAttemptAt: null };
  const wait = settings.ipn.schedule[delivery.attemptCount];
  if (wait === undefined || delivery.once) return { state: 'failed', nextAttemptAt: null };
  const shortened = Math.ceil(wait * (1 - JITTER * ids.fraction('jitter')));
  const requested = retryAfter(report.responseHeaders, now);
  return { state: 'pending', nextAttemptAt: timestamp(now + Math.max(shortened, requested)) };
}

/** Maximum delay that a receiver can request (chosen). */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * The delay requested with `Retry-After`, in milliseconds. A date is relative to the `Date` of the response, because the
 * emulator's clock may differ. It can delay a retry but never bring it forward (chosen).
 */
function retryAfter(headers: readonly (readonly [string, string])[], now: number): number {
  const delay = headerIn(headers, 'retry-after')?.trim() ?? '';
  const sentAt = Date.parse(headerIn(headers, 'date')?.trim() ?? '');
  const wait = /^\d+$/.test(delay)
    ? Number(delay) * 1_000
    : Date.parse(delay) - (Number.isNaN(sentAt) ? now : sentAt);
  return Number.isNaN(wait) ? 0 : Math.min(Math.max(wait, 0), LONGEST_RETRY_AFTER_MS);
}
