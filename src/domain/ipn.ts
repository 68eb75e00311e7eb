import { createHmac } from 'node:crypto';
import type { Merchant } from '../contract/merchant.ts';
import type { IpnFormat, PaymentStatus } from '../contract/vocabulary.ts';
import { renderAmount } from './money.ts';
import type { Context } from './settings.ts';
import { timestamp } from './settings.ts';
import type { Attempt, Delivery, Outcome, Payment, State } from './state.ts';

/**
 * The signature of an IPN (documented): upper-case hexadecimal HMAC-SHA256 over the text of the amount followed
 * directly by the identifier, keyed with the merchant's secret key.
 *
 * @param amount the text of `data.amount`, exactly as it is sent
 */
export function sign(amount: string, identifier: string, secretKey: string): string {
  return createHmac('sha256', secretKey)
    .update(amount + identifier, 'utf8')
    .digest('hex')
    .toUpperCase();
}

/** The fields of an IPN. Names beyond the documented ones: observed. All values are text. */
export interface IpnFields {
  status: string;
  signature: string;
  identifier: string;
  data: {
    payment_trx: string;
    amount: string;
    account_holder: string;
    payment_type: string;
    payment_timestamp: string;
    charge: string;
    currency: { code: string; symbol: string };
  };
}

/** The `status` that an IPN carries for each final state: `success` is documented, the others are chosen. */
export const IPN_STATUS = {
  succeeded: 'success',
  canceled: 'canceled',
  failed: 'failed',
  expired: 'expired',
} as const satisfies Record<Exclude<PaymentStatus, 'pending'>, string>;

/** The IPN that tells of a settled payment. */
export function ipnFields(
  payment: Payment,
  status: string,
  accountHolder: string,
  merchant: Merchant,
  context: Context,
): IpnFields {
  const { settings } = context;
  const amount = renderAmount(payment.amount, settings.ipn.amountFormat);
  return {
    status,
    signature: sign(amount, payment.identifier, merchant.secretKey),
    identifier: payment.identifier,
    data: {
      payment_trx: payment.trx,
      amount,
      account_holder: accountHolder,
      payment_type: 'hosted',
      payment_timestamp: payment.createdAt.slice(0, 19).replace('T', ' '),
      charge: payment.charge,
      currency: {
        code: payment.currency,
        symbol: settings.currencies.get(payment.currency)?.symbol ?? payment.currency,
      },
    },
  };
}

const CONTENT_TYPES = {
  form: 'application/x-www-form-urlencoded',
  json: 'application/json',
} as const satisfies Record<IpnFormat, string>;

/** The bytes of an IPN: a form with PHP-style nested names (observed), or JSON in which the amount stays a string. */
export function encodeIpn(fields: object, format: IpnFormat): { contentType: string; body: string } {
  const contentType = CONTENT_TYPES[format];
  if (format === 'json') return { contentType, body: JSON.stringify(fields) };
  const form = new URLSearchParams();
  appendNested(form, '', fields);
  return { contentType, body: form.toString() };
}

function appendNested(form: URLSearchParams, prefix: string, value: object): void {
  for (const [name, field] of Object.entries(value)) {
    const key = prefix ? `${prefix}[${name}]` : name;
    if (typeof field === 'object' && field !== null) appendNested(form, key, field);
    else form.append(key, String(field));
  }
}

/** Rule: a delivery that is due at once. */
export function newDelivery(
  payment: Payment,
  status: string,
  accountHolder: string,
  merchant: Merchant,
  context: Context,
): Delivery {
  const fields = ipnFields(payment, status, accountHolder, merchant, context);
  const now = timestamp(context.now);
  return {
    id: context.ids.delivery(),
    paymentId: payment.id,
    merchantId: merchant.id,
    identifier: payment.identifier,
    url: payment.ipnUrl,
    status,
    state: 'pending',
    ...encodeIpn(fields, context.settings.ipn.format),
    signedText: fields.data.amount + fields.identifier,
    signedWith: merchant.publicKey,
    once: false,
    attemptCount: 0,
    createdAt: now,
    nextAttemptAt: now,
    note: null,
  };
}

/** What one attempt brought, before it has an id and a number. */
export type AttemptReport = Omit<Attempt, 'id' | 'deliveryId' | 'number' | 'startedAt'>;

/** A retry comes at most this much earlier than planned, so that many due at once spread out (chosen). */
const JITTER = 0.1;

/** Rule: an attempt is kept, and decides whether the delivery is done, given up, or tried again and when. */
export function recordAttempt(
  state: State,
  deliveryId: string,
  report: AttemptReport & { startedAt: string; refused: boolean },
  context: Context,
): Outcome<Delivery | undefined> {
  const delivery = state.deliveries.get(deliveryId);
  // A reset took the delivery away while it was on its way.
  if (!delivery) return { change: {}, result: undefined };
  const { refused, ...facts } = report;
  const number = delivery.attemptCount + 1;
  const attempt: Attempt = { id: context.ids.attempt(), deliveryId, number, ...facts };
  const updated: Delivery = {
    ...delivery,
    attemptCount: number,
    ...verdict(report, delivery, refused, context),
  };
  return { change: { attempts: [attempt], deliveries: [updated] }, result: updated };
}

/** Rule: a delivery goes out at another time than planned. */
export function postpone(
  state: State,
  deliveryId: string,
  at: number,
  why: string,
): Outcome<Delivery | undefined> {
  const delivery = state.deliveries.get(deliveryId);
  if (delivery?.state !== 'pending') return { change: {}, result: undefined };
  const moved = { ...delivery, nextAttemptAt: timestamp(at), note: noteOf(why, delivery) };
  return { change: { deliveries: [moved] }, result: moved };
}

/** Rule: an attempt beyond those that count, such as a duplicate, is kept and decides nothing. */
export function recordExtraAttempt(
  state: State,
  deliveryId: string,
  facts: AttemptReport & { startedAt: string },
  context: Context,
): Outcome<Attempt | undefined> {
  const delivery = state.deliveries.get(deliveryId);
  if (!delivery) return { change: {}, result: undefined };
  const number = delivery.attemptCount + 1;
  const attempt: Attempt = { id: context.ids.attempt(), deliveryId, number, ...facts };
  return {
    change: { attempts: [attempt], deliveries: [{ ...delivery, attemptCount: number }] },
    result: attempt,
  };
}

function verdict(
  report: AttemptReport,
  delivery: Delivery,
  refused: boolean,
  { settings, ids, now }: Context,
): Pick<Delivery, 'state' | 'nextAttemptAt' | 'note'> {
  const done = { nextAttemptAt: null, note: noteOf(report.error, delivery) };
  if (report.error === null) return { ...done, state: 'delivered' };
  if (refused) return { ...done, state: 'refused' };
  const wait = settings.ipn.schedule[delivery.attemptCount];
  if (wait === undefined || delivery.once) return { ...done, state: 'failed' };
  const shortened = Math.ceil(wait * (1 - JITTER * ids.fraction('jitter')));
  const asked = retryAfter(report.responseHeaders, now);
  return { ...done, state: 'pending', nextAttemptAt: timestamp(now + Math.max(shortened, asked)) };
}

/** What stays in a delivery's note, behind the last problem, once a resend had to sign it with another key. */
export const SIGNED_ANEW = 'signed anew: the key pair was replaced after the first signature';

function noteOf(problem: string | null, { note }: Delivery): string | null {
  const parts = [problem, note?.endsWith(SIGNED_ANEW) ? SIGNED_ANEW : null];
  return parts.filter((part) => part !== null).join('; ') || null;
}

/** A receiver that asks for more time than this gets this (chosen). */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * How long a receiver asks to be left alone, in milliseconds: seconds, or a date, which is read against the answer's
 * own `Date`, since the emulator's clock may stand elsewhere. It can put a retry off, never bring it forward (chosen).
 */
function retryAfter(headers: readonly (readonly [string, string])[], now: number): number {
  const header = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1].trim();
  const asked = header('retry-after') ?? '';
  const sentAt = Date.parse(header('date') ?? '');
  const wait = /^\d+$/.test(asked)
    ? Number(asked) * 1_000
    : Date.parse(asked) - (Number.isNaN(sentAt) ? now : sentAt);
  return Number.isNaN(wait) ? 0 : Math.min(Math.max(wait, 0), LONGEST_RETRY_AFTER_MS);
}
