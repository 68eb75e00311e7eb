import type { Merchant } from '../contract/merchant.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { IpnFormat, Tampering } from '../contract/vocabulary.ts';
import type { Context, Settings } from './settings.ts';
import type { Attempt, Delivery, Outcome, Payment, State } from './state.ts';

/** What an IPN is about, and the key that signs it. */
export interface IpnSubject {
  payment: Payment;
  /** The `status` that it carries. */
  status: string;
  /** Who paid. */
  holder: string;
  secretKey: string;
}

/** The fields of an IPN that its maker chooses; what is left out takes the payment's value, or a made-up one. */
export interface ChosenFields {
  identifier?: string | undefined;
  amount?: string | undefined;
  /** Default: USD. */
  currency?: string | undefined;
  /** Default: success. */
  status?: string | undefined;
}

/** How an IPN is written and tampered with. */
export interface Composition {
  format: IpnFormat;
  /** Values by dotted name, such as `data.charge`; set before it is signed. */
  set?: Readonly<Record<string, string>> | undefined;
  tamper?: Tampering | undefined;
}

/** An IPN ready to be posted. */
export interface ComposedIpn {
  contentType: string;
  body: string;
  signedText: string;
  /** As they were before it was tampered with. */
  identifier: string;
  status: string;
}

/** What makes the bytes of IPNs: handed in, so that no rule knows how the dialect writes them. */
export interface IpnComposer {
  /** The IPN of a settled payment. */
  compose(subject: IpnSubject, settings: Settings): ComposedIpn;
  /** An IPN made by hand: about a payment, or about one that never was. */
  composeChosen(
    chosen: ChosenFields,
    subject: IpnSubject | { trx: string; now: number; secretKey: string },
    composition: Composition,
    settings: Settings,
  ): ComposedIpn;
  /** The body signed with another key; undefined where it carries that signature already. */
  resigned(body: string, signedText: string, secretKey: string): string | undefined;
  /** The body with another first digit in its signature. */
  corruptSignature(body: string): string;
}

/** What a delivery is made of beside its bytes. */
export interface DeliveryPlan {
  paymentId: string | null;
  merchant: Merchant;
  url: string;
  once: boolean;
  /** Whether the signature is one that the merchant's key makes. */
  isSigned: boolean;
  dueAt: number;
}

/** Rule: a pending delivery of an IPN. */
export function newDelivery(ipn: ComposedIpn, plan: DeliveryPlan, { ids, now }: Context): Delivery {
  const { contentType, body, signedText, identifier, status } = ipn;
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
    signedWith: plan.isSigned ? plan.merchant.publicKey : '',
    once: plan.once,
    attemptCount: 0,
    createdAt: timestamp(now),
    nextAttemptAt: timestamp(plan.dueAt),
    note: null,
  };
}

/** Rule: the delivery of a settled payment's IPN. */
export function deliveryOf(
  payment: Payment,
  status: string,
  holder: string,
  merchant: Merchant,
  context: Context,
  dueAt = context.now,
): Delivery {
  const subject = { payment, status, holder, secretKey: merchant.secretKey };
  const plan = { paymentId: payment.id, merchant, url: payment.ipnUrl, once: false, isSigned: true, dueAt };
  return newDelivery(context.ipn.compose(subject, context.settings), plan, context);
}

/** What one attempt brought, before it has an id and a number. */
export type AttemptReport = Omit<Attempt, 'id' | 'deliveryId' | 'number' | 'startedAt'>;

/** A retry comes at most this much earlier than planned, so that many due at once spread out (chosen). */
const JITTER = 0.1;

/** Rule: an attempt is kept, and decides whether the delivery is done, given up, or tried again and when. */
export function recordAttempt(
  state: State,
  deliveryId: string,
  { refused, ...facts }: AttemptReport & { startedAt: string; refused: boolean },
  context: Context,
): Outcome<Delivery | undefined> {
  const delivery = state.deliveries.get(deliveryId);
  // A reset took the delivery away while it was on its way.
  if (!delivery) return { change: {}, result: undefined };
  const attempt = attemptOf(delivery, facts, context);
  const updated: Delivery = {
    ...delivery,
    attemptCount: attempt.number,
    ...verdict(facts, delivery, refused, context),
  };
  return { change: { attempts: [attempt], deliveries: [updated] }, result: updated };
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
  const attempt = attemptOf(delivery, facts, context);
  const updated = { ...delivery, attemptCount: attempt.number };
  return { change: { attempts: [attempt], deliveries: [updated] }, result: attempt };
}

function attemptOf(
  { id, attemptCount }: Delivery,
  facts: AttemptReport & { startedAt: string },
  { ids }: Context,
): Attempt {
  return { id: ids.attempt(), deliveryId: id, number: attemptCount + 1, ...facts };
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
