import { createHmac } from 'node:crypto';
import { renderAmount } from './money.ts';
import type { Context, IpnFormat } from './settings.ts';
import { timestamp } from './settings.ts';
import type { Attempt, Delivery, Merchant, Outcome, Payment, PaymentStatus, State } from './state.ts';

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
export function encodeIpn(fields: IpnFields, format: IpnFormat): { contentType: string; body: string } {
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
    ...verdict(report, number, refused, context),
  };
  return { change: { attempts: [attempt], deliveries: [updated] }, result: updated };
}

function verdict(
  report: AttemptReport,
  number: number,
  refused: boolean,
  { settings, ids, now }: Context,
): Pick<Delivery, 'state' | 'nextAttemptAt' | 'note'> {
  if (report.error === null) return { state: 'delivered', nextAttemptAt: null, note: null };
  if (refused) return { state: 'refused', nextAttemptAt: null, note: report.error };
  const wait = settings.ipn.schedule[number - 1];
  if (wait === undefined) return { state: 'failed', nextAttemptAt: null, note: report.error };
  const shortened = Math.ceil(wait * (1 - JITTER * ids.fraction('jitter')));
  return { state: 'pending', nextAttemptAt: timestamp(now + shortened), note: report.error };
}
