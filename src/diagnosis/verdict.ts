import { describeEffects } from '../contract/active-fault.ts';
import type { AttemptUnderWay, Delivery as DeliveryView, ResponseFlaw } from '../contract/delivery.ts';
import { describeChanges } from '../contract/describe-changes.ts';
import {
  describeEgress,
  describeFlaw,
  errorOf,
  FIXES,
  FORGED_IPN_ACCEPTED,
  fixOfFailure,
  headlineOf,
  insteadOfSending,
} from '../contract/describe-delivery.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { RowChange } from '../contract/row-change.ts';
import { describeTamperings } from '../contract/tampering.ts';
import { duration, moment } from '../contract/time.ts';
import type { Verdict } from '../contract/verdict.ts';
import type { PaymentStatus, SettledBy } from '../contract/vocabulary.ts';
import type { Settings } from '../domain/settings.ts';
import type { Attempt, Delivery, Payment, State } from '../domain/state.ts';
import { readIpn } from '../service/signature.ts';
import { isSignatureMistake, MISTAKE_FIXES } from './mistakes.ts';
import {
  type AnswerProblem,
  answerProblem,
  checkNamedIn,
  fixForReason,
  saysRefused,
} from './receiver-answer.ts';
import { ownWords, quoted } from './receiver-words.ts';
import type { SeenRows } from './seen-rows.ts';
import { type Code, signatureCheck, signatureCode } from './signature-code.ts';
import { verify } from './verify.ts';

/** The facts that a verdict is based on. */
export interface VerdictDependencies {
  store: {
    state: Pick<State, 'attemptsOf' | 'deliveriesOf'> & {
      merchants: { get: (id: string) => Merchant | undefined };
      payments: { get: (id: string) => Payment | undefined };
    };
  };
  settings: { ipn: Pick<Settings['ipn'], 'on'> };
  courier: {
    /** The attempt of a delivery that is waiting for a response, or null. */
    openAttempt: (deliveryId: string) => AttemptUnderWay | null;
  };
  rows: Pick<SeenRows, 'of'>;
}

/** A verdict with the details that a page shows. */
export interface FullVerdict extends Verdict {
  /** What happened, in at most eleven words; `cause` adds why. */
  headline: string;
  /** Where to act; null when there is nothing to do. */
  where: 'receiver' | 'rule' | 'emulator' | 'settling' | null;
  signed: ComputedSignature['signed'];
  /** A line for the merchant's code that fixes it. */
  code: Code | null;
  /** The next step that a page offers. */
  action: 'resend' | 'send' | 'faults' | null;
  /** The address to resend to; null for the original one. */
  to: string | null;
  /** Whether the receiver rejected the IPN and did not show why. */
  unexplained?: true;
  /** What it means for the order, if it matters. In the API, it is the end of the cause. */
  outcome?: string;
  /** Whether the receiver accepted the IPN and changed nothing in its database. */
  isWithoutEffect?: true;
  /** How many times the receiver has accepted the same IPN, if more than once. */
  times?: number;
}

/** A cause may end with the words of the receiver. */
const ended = (cause: string) => (/[.!?…]”?$/.test(cause) ? cause : `${cause}.`);

/** The part of a verdict that the API returns. */
export const verdictView = ({ tone, cause, fix, outcome, forgeryAccepted }: FullVerdict): Verdict => ({
  tone,
  cause: outcome === undefined ? cause : `${ended(cause)} ${outcome}`,
  fix,
  ...(forgeryAccepted && { forgeryAccepted }),
});

/** The verdict as fields of a delivery that the API returns. */
export const verdictFields = (verdict: FullVerdict): Pick<DeliveryView, 'verdict' | 'unexplained'> => ({
  verdict: verdictView(verdict),
  ...(verdict.unexplained && { unexplained: true }),
});

const makeVerdict = (
  tone: Verdict['tone'],
  cause: string,
  fix: string | null = null,
  headline = cause,
): FullVerdict => ({
  tone,
  headline,
  cause,
  fix,
  where: tone === 'bad' || tone === 'warning' ? 'receiver' : null,
  signed: null,
  code: null,
  to: null,
  action: tone === 'bad' ? 'resend' : null,
});

const fromProblem = ({ tone, cause, fix, headline }: AnswerProblem) =>
  makeVerdict(tone ?? 'bad', cause, fix, headline);

/** The verdict on an effect of the user's own fault rule, which the faults page can remove. */
const causedByRule = (cause: string, headline: string): FullVerdict => ({
  ...makeVerdict('waiting', cause, FIXES.fault, headline),
  where: 'rule',
  action: 'faults',
});

/** The last attempt according to the record, which may come from the log and be older than the state. */
const lastAttempt = ({ id, attemptCount }: Delivery, { store }: VerdictDependencies): Attempt | undefined =>
  store.state.attemptsOf(id)[attemptCount - 1];

/** The verdict on a delivery, based on its last attempt. */
export function verdictOnDelivery(delivery: Delivery, parts: VerdictDependencies): FullVerdict {
  const last = lastAttempt(delivery, parts);
  if (delivery.state === 'refused' || !last || (delivery.postponedBy && delivery.nextAttemptAt !== null))
    return notAttempted(delivery, last, parts);
  const verdict = withKnownCause(
    verdictOnAttempt(delivery, last, signerOf(delivery, parts)),
    delivery,
    last,
    parts,
  );
  const isGenuine = verdictOnFault(delivery, last) === undefined && !verdictOnForgery(delivery, parts);
  if (isGenuine && verdict.tone === 'good' && changedNothing(delivery, parts)) {
    const byReturn = (parts.rows.of(delivery.paymentId ?? '') ?? []).filter(({ noise }) => !noise);
    return { ...withoutEffect(last, byReturn), isWithoutEffect: true };
  }
  if (isGenuine && verdict.tone === 'good') {
    const times = 1 + acceptedBefore(delivery, last, parts);
    if (times > 1) return acceptedAgain(times, last, parts.rows.of(delivery.id));
  }
  if (verdict.where === 'rule' && delivery.nextAttemptAt !== null)
    return { ...verdict, fix: RETRY_SCHEDULED };
  if (!isGenuine || verdict.tone !== 'bad') return verdict;
  const { fix } = verdict;
  if (delivery.state === 'pending') return { ...verdict, fix: `${fix} The emulator retries automatically.` };
  const outcome = outcomeFor(delivery, last, parts);
  const told = { ...verdict, ...(outcome !== undefined && { outcome }) };
  return delivery.state === 'delivered' && last.failure !== null
    ? afterAccepted(told, last)
    : { ...told, fix: verdict.action === null ? fix : `${fix} ${THEN_RESEND}` };
}

/** The verdict on an accepted IPN that changed nothing. @param byReturn what the customer's return changed afterwards */
function withoutEffect({ responseStatus }: Attempt, byReturn: readonly RowChange[]): FullVerdict {
  return byReturn.length
    ? makeVerdict(
        'warning',
        `The IPN was accepted and changed nothing. After the customer returned: ${describeChanges(byReturn)}.`,
        PAY_BY_IPN,
        'The return page, not the IPN, changed your shop.',
      )
    : makeVerdict(
        'warning',
        `Your handler returned ${responseStatus}, but nothing changed in your database.`,
        CHANGED_NOTHING,
      );
}

/** What a bad verdict means for the order; undefined if no order could be paid by the IPN. */
function outcomeFor(delivery: Delivery, last: Attempt, parts: VerdictDependencies): string | undefined {
  const payment = parts.store.state.payments.get(delivery.paymentId ?? '');
  // Known servers send no other status, and `ipn fire` can make up a payment or a success.
  if (payment?.status !== 'succeeded' || delivery.status !== 'success') return undefined;
  if (acceptedBefore(delivery, last, parts))
    return 'The order should be paid already. Only this copy failed.';
  return (delivery.diagnosis?.accepted ?? 'genuine') === 'genuine' ? SENT_ONCE : COPY_ACCEPTED;
}

/** How many times the receiver accepted a genuine IPN of a payment's success before the last attempt of a delivery. */
function acceptedBefore({ paymentId, status }: Delivery, last: Attempt, parts: VerdictDependencies): number {
  const { state } = parts.store;
  if (paymentId === null || status !== 'success') return 0;
  const genuine = state
    .deliveriesOf(paymentId)
    .filter(({ signedWith, status }) => signedWith !== '' && status === 'success');
  return genuine.flatMap((delivery) =>
    state.attemptsOf(delivery.id).filter((one) => {
      if (one === last || one.failure !== null || one.startedAt > last.startedAt) return false;
      const { tone } = verdictOnAttempt(delivery, one, signerOf(delivery, parts));
      return tone === 'good' || tone === 'warning';
    }),
  ).length;
}

/** A number of times above 1. */
export const inWords = (times: number): string => (times === 2 ? 'twice' : `${times} times`);

/** @param changes what the newest copy changed in the shop's database; null if it is not known */
function acceptedAgain(times: number, last: Attempt, changes: RowChange[] | null): FullVerdict {
  const headline = `Your handler accepted the same IPN ${inWords(times)}.`;
  const rule = faultOf(last);
  const made = (tone: Verdict['tone'], what: string, fix: string | null) => ({
    ...makeVerdict(tone, `${headline} ${rule ? `${rule}. ` : ''}${what}`, fix, headline),
    times,
  });
  if (changes?.length === 0) return made('good', 'The copy changed nothing in your database.', null);
  return changes
    ? made('warning', 'The copy changed your database.', 'Change nothing if the order is already paid.')
    : made('warning', 'A copy must change nothing.', 'Check that your shop fulfilled the order only once.');
}

/** The verdict on a copy that the receiver did not accept, although it accepted the same IPN before. */
function afterAccepted(verdict: FullVerdict, last: Attempt): FullVerdict {
  const status = last.responseStatus;
  if (status === null || verdict.signed) return verdict;
  const { unexplained: _, ...explained } = verdict;
  const headline = `Your handler accepted the IPN, but not its copy (${status}).`;
  return { ...explained, headline, fix: ANSWER_COPIES };
}

const ANSWER_COPIES = 'Return 2xx to a copy of an IPN that your handler has already processed.';

/** Whether the first IPN of a payment that the shop accepted changed no row. A copy must change nothing. */
function changedNothing(
  { id, paymentId, status, attemptCount }: Delivery,
  { rows, store }: VerdictDependencies,
): boolean {
  if (status !== 'success' || paymentId === null || !rows.of(id)?.every(({ noise }) => noise)) return false;
  const isAccepted = (of: string, count?: number) =>
    store.state
      .attemptsOf(of)
      .slice(0, count)
      .some(({ failure }) => failure === null);
  const all = store.state.deliveriesOf(paymentId);
  const earlier = all.slice(
    0,
    all.findIndex((one) => one.id === id),
  );
  return !isAccepted(id, attemptCount - 1) && !earlier.some((one) => isAccepted(one.id));
}

const PAY_BY_IPN =
  'Mark the order as paid when its genuine IPN arrives: a customer who closes the browser never opens success_url.';
const RETRY_SCHEDULED = 'A retry is scheduled.';

const CHANGED_NOTHING =
  'Mark the order as paid when its IPN arrives. If your handler does, check that --db names its database.';

/**
 * A cause that was proved once stays, as long as the receiver answers in the same way or not at all: by a diagnosis, or by
 * a signature in an earlier response. A diagnosis without a cause says what it tried.
 */
function withKnownCause(
  verdict: FullVerdict,
  delivery: Delivery,
  last: Attempt,
  parts: VerdictDependencies,
): FullVerdict {
  if (verdict.tone !== 'bad' || verdict.signed || verdictOnForgery(delivery, parts)) return verdict;
  const { diagnosis } = delivery;
  const asked = diagnosis?.tried.findLast(({ name }) => name === 'genuine');
  const isSilent = last.responseStatus === null;
  if (diagnosis?.cause && (isSilent || asked?.status === last.responseStatus)) {
    const { cause, mistake } = diagnosis;
    const isCode = mistake !== null && isSignatureMistake(mistake);
    const { unexplained: _, ...known } = verdict;
    return {
      ...known,
      headline: cause,
      cause: since(diagnosis.summary, last),
      // That of the diagnosis may end with the code.
      fix: isCode ? MISTAKE_FIXES[mistake] : diagnosis.fix,
      code: isCode ? signatureCode(last.requestBody) : null,
    };
  }
  if (diagnosis && asked?.status === last.responseStatus && !isSilent) {
    const { unexplained: _, ...known } = verdict;
    if (showsSignature(last)) return known;
    const isUnknown = diagnosis.accepted === null && verdict.unexplained === true;
    const fix = isUnknown ? SHOW_THE_CHECK : verdict.fix;
    return { ...known, cause: `${ended(verdict.cause)} ${diagnosis.summary}`, fix };
  }
  if (!isSilent) return verdict;
  const earlier = parts.store.state
    .attemptsOf(delivery.id)
    .slice(0, last.number - 1)
    .findLast(({ responseStatus }) => responseStatus !== null);
  if (!earlier) return verdict;
  const before = verdictOnAttempt(delivery, earlier, signerOf(delivery, parts));
  return before.signed ? { ...before, cause: since(before.cause, last) } : verdict;
}

const SHOW_THE_CHECK =
  'The IPN is genuine. Log which check of your handler rejects it, and every exception that it catches. If it is the signature: while you test, put the signature that your handler computed into the body of its answer. The verdict on the IPN then says what was signed.';

/** @param last the last attempt, which may have had no response */
function since(cause: string, last: Attempt): string {
  return last.responseStatus === null
    ? `${cause} The last attempt had no response: ${errorOf(last)}.`
    : cause;
}

/** What it means that an IPN was not accepted (observed: ipn-not-retried). */
const SENT_ONCE = "This order stays unpaid. The gateway won't send this IPN again.";
const COPY_ACCEPTED =
  "The order of a real customer would stay unpaid: the gateway won't send its IPN again. Here, the accepted copy may have marked it as paid.";

const THEN_RESEND = 'Then resend the IPN.';

/** The merchant whose key signed a delivery; undefined if it no longer exists. */
export const signerOf = ({ merchantId }: Delivery, { store }: VerdictDependencies): Merchant | undefined =>
  store.state.merchants.get(merchantId);

/**
 * The verdict on a payment is the verdict on its newest IPN, unless its newest forged copy was accepted, or its newest
 * genuine IPN was not.
 *
 * @returns `ipn`: the id of the delivery that determined the verdict, or null
 */
export function verdictOnPayment(
  payment: Payment,
  parts: VerdictDependencies,
): FullVerdict & { ipn: string | null } {
  const deliveries = parts.store.state.deliveriesOf(payment.id);
  const last = deliveries.at(-1);
  if (!last) return { ...verdictWithoutIpn(payment, parts.settings), ipn: null };
  const of = (delivery: Delivery) => ({ ...verdictOnDelivery(delivery, parts), ipn: delivery.id });
  const { forged, genuine } = newestOf(deliveries, parts);
  const ofForged = forged && of(forged);
  if (ofForged?.forgeryAccepted) return ofForged;
  const ofGenuine = genuine && of(genuine);
  return ofGenuine?.tone === 'bad' ? ofGenuine : of(last);
}

/** The newest forged and the newest genuine IPN of a payment. */
export const newestOf = (deliveries: readonly Delivery[], parts: VerdictDependencies) => ({
  forged: deliveries.findLast((delivery) => verdictOnForgery(delivery, parts)),
  genuine: deliveries.findLast((delivery) => !verdictOnForgery(delivery, parts)),
});

function verdictWithoutIpn(
  { id, status, settledBy, auto }: Payment,
  { ipn }: VerdictDependencies['settings'],
): FullVerdict {
  if (status === 'pending' || settledBy === null) {
    const headline = 'The customer has not paid yet.';
    const cause = auto ? `${headline} The payment settles automatically (${auto.outcome}).` : headline;
    return makeVerdict('waiting', cause);
  }
  if (status !== 'succeeded') {
    const only = ipn.on.size === 1 ? 'IPNs are sent only for successful payments.' : 'No IPN was sent.';
    return makeVerdict(
      'waiting',
      `${whoSettled(status, settledBy)} ${only}`,
      ipn.on.has(status) ? null : `To send an IPN anyway, start with --ipn-on ${status}.`,
      `Payment ${status}. No IPN was sent.`,
    );
  }
  return {
    ...makeVerdict(
      'warning',
      'Paid, but no IPN was sent. The delivery redirect-only sends none.',
      `Send it (ipn fire --payment ${id}), or settle the next payment with another delivery.`,
      'Paid, but no IPN was sent.',
    ),
    where: 'settling',
    action: 'send',
  };
}

const SETTLED_AS = {
  canceled: 'canceled this payment',
  failed: 'let this payment fail',
  expired: 'let this payment expire',
} as const;

function whoSettled(status: Exclude<PaymentStatus, 'pending' | 'succeeded'>, by: SettledBy): string {
  if (by === 'clock') return 'This payment expired.';
  const who = {
    customer: 'The customer',
    panel: 'You',
    control: 'You',
    auto: 'The emulator',
    audit: 'An audit',
  }[by];
  return `${who} ${SETTLED_AS[status]}.`;
}

/** Cached by attempt: lists show the same attempts again and again, and each search computes thousands of hashes. */
const searched = new WeakMap<KnownAttempt, { secretKey: string; computed: ComputedSignature | undefined }>();

function signatureIn(attempt: KnownAttempt, body: string, signer: Signer): ComputedSignature | undefined {
  const { secretKey } = signer;
  const known = searched.get(attempt);
  if (known?.secretKey === secretKey) return known.computed;
  const computed = computedByReceiver(body, attempt.requestBody, signer);
  searched.set(attempt, { secretKey, computed });
  return computed;
}

export type KnownAttempt = Omit<Attempt, 'id' | 'deliveryId'>;
type KnownDelivery = Pick<Delivery, 'body' | 'signedWith' | 'tampered'>;
/** The keys of the merchant that signs. A receiver may have used the public key by mistake. */
type Signer = Partial<Pick<Merchant, 'publicKey'>> & Pick<Merchant, 'secretKey'>;

/** The verdict on one attempt of a delivery. */
export function verdictOnAttempt(
  delivery: KnownDelivery,
  attempt: KnownAttempt,
  signer: Signer | undefined,
): FullVerdict {
  const special = verdictOnFault(delivery, attempt) ?? verdictOnTampering(delivery, attempt, signer);
  if (special !== undefined) return special;
  if (!signer) return makeVerdict('waiting', 'The merchant that signed this IPN no longer exists.');
  const verdict = verdictOnGenuine(attempt, signer);
  const fault = faultOf(attempt);
  return fault === null ? verdict : { ...verdict, cause: `${verdict.cause} ${fault}.` };
}

/** Describes the fault rule that acted on an attempt; null if none did. */
function faultOf({ fault }: Pick<Attempt, 'fault'>): string | null {
  // A rule that only postpones still sends the IPN.
  return fault && `Your fault rule: ${describeEffects(fault) || 'sent late'}`;
}

/** The verdict on a forged IPN; undefined for a genuine one and before the first attempt. */
export function verdictOnForgery(delivery: Delivery, parts: VerdictDependencies): FullVerdict | undefined {
  if (delivery.signedWith !== '') return undefined;
  const last = lastAttempt(delivery, parts);
  return last && verdictOnTampering(delivery, last, signerOf(delivery, parts));
}

function verdictOnTampering(
  delivery: KnownDelivery,
  attempt: KnownAttempt,
  signer: Signer | undefined,
): FullVerdict | undefined {
  if (delivery.signedWith !== '' || !signer) return undefined;
  const { authentic } = readIpn(attempt.requestBody, signer.secretKey);
  // A signature that was set by hand may be correct.
  if (authentic && !delivery.tampered.length) return undefined;
  return verdictOnForgedAnswer(describeTamperings(delivery.tampered) || 'signature', authentic, attempt);
}

/** @param last the attempt before the one that is due, if any */
function notAttempted(
  delivery: Delivery,
  last: Attempt | undefined,
  { courier }: VerdictDependencies,
): FullVerdict {
  const waiting = courier.openAttempt(delivery.id);
  if (waiting) {
    const cause = `Waiting up to ${duration(waiting.timeoutMs)} for your handler to respond.`;
    return makeVerdict('waiting', cause, null, 'Your handler has not responded yet.');
  }
  if (last?.failure?.code === 'egress') {
    const cause = `Not sent: ${describeEgress(last.failure)}.`;
    const headline = 'Not sent: the emulator blocked this address.';
    const fix = `${fixOfFailure(last.failure)} ${THEN_RESEND}`;
    return { ...makeVerdict('bad', cause, fix, headline), where: 'emulator' };
  }
  const { postponedBy, nextAttemptAt, createdAt } = delivery;
  if (postponedBy === null || nextAttemptAt === null) return makeVerdict('waiting', 'Not sent yet.');
  const delayMs = Date.parse(nextAttemptAt) - Date.parse(last?.startedAt ?? createdAt);
  const headline = `Delayed ${duration(delayMs)} by your fault rule.`;
  const fix = 'Resend the IPN to send it now.';
  return {
    ...causedByRule(`${headline} Due at ${moment(nextAttemptAt)} UTC.`, headline),
    fix,
  };
}

/** The verdict on an attempt that a fault rule changed or replaced; undefined for other attempts. */
export function verdictOnFault(delivery: KnownDelivery, attempt: KnownAttempt): FullVerdict | undefined {
  const { fault, failure, requestBody, responseStatus, responseHeaders, responseBody } = attempt;
  if (fault === null) return undefined;
  const instead = insteadOfSending(fault);
  const isChanged = requestBody !== delivery.body && delivery.signedWith !== '';
  if (instead === undefined && !isChanged) return undefined;
  const cause =
    instead === undefined
      ? `${faultOf(attempt)}.`
      : `Your fault rule ${instead}. The IPN never reached your shop.`;
  const isSignature = fault.corruptSignature && !fault.truncate && !fault.malformed;
  if (isSignature && instead === undefined && failure === null && !saysRefused(responseBody ?? '')) {
    const accepted = `${FORGED}: its signature was corrupted by your fault rule. ${UNCHECKED}`;
    return {
      ...makeVerdict('bad', accepted, CHECK_SIGNATURE, `${FORGED}.`),
      forgeryAccepted: true,
      code: signatureCheck(requestBody),
      action: 'faults',
    };
  }
  const answered = responseHeaders.length ? ` Your handler returned ${responseStatus}.` : '';
  const reaction =
    failure !== null && REJECTS.has(responseStatus ?? 0) ? ', and your handler rejected it' : '';
  return causedByRule(
    cause + answered,
    instead === undefined ? `Your fault rule changed the IPN${reaction}.` : cause,
  );
}

const FORGED = asSentence(FORGED_IPN_ACCEPTED);
const UNCHECKED = 'Your handler does not check the signature.';
const CHECK_SIGNATURE = 'Compute the expected signature, and return 400 if it differs.';

/** Statuses of a deliberate rejection. Other errors do not show whether the receiver detected a forgery. */
const REJECTS: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 406, 409, 410, 412, 422]);

const UNKNOWN = 'Unknown: does your handler reject forged IPNs?';

function verdictOnForgedAnswer(what: string, authentic: boolean, attempt: KnownAttempt): FullVerdict {
  const { requestBody, responseStatus: status, responseHeaders: headers } = attempt;
  const error = errorOf(attempt);
  const body = attempt.responseBody ?? '';
  const unknown = (why: string, fix?: string) => ({
    ...makeVerdict('waiting', `This forged IPN (${what}) proved nothing${why}`, fix, UNKNOWN),
    where: 'receiver' as const,
  });
  if (status === null) return unknown(`: ${error}.`);
  const problem = answerProblem({ status, headers, body });
  if (error === null ? problem : !REJECTS.has(status)) {
    const { cause = `Your handler returned ${status}.`, fix = 'Check the log of your shop.' } = problem ?? {};
    return { ...unknown(`. ${cause}`, fix), action: 'resend' };
  }
  if (error !== null) {
    const headline = 'Your handler rejected a forged IPN, as expected';
    return makeVerdict('good', `${headline}: ${what}, answered with ${status}.`, null, `${headline}.`);
  }
  if (saysRefused(body)) {
    const cause = `Your handler rejected a forged IPN (${what}) in the response body, but returned ${status}.`;
    const fix = 'Return 4xx when you reject an IPN.';
    return makeVerdict('good', cause, fix, 'Your handler rejected a forged IPN.');
  }
  const missing = authentic
    ? 'Its signature is valid: status and currency, which it does not cover, must be checked, too.'
    : UNCHECKED;
  const fix = authentic
    ? 'Require status success, and compare amount and currency with the order.'
    : `${CHECK_SIGNATURE} Then resend this copy: it must be rejected.`;
  return {
    ...makeVerdict('bad', `${FORGED}: ${what}. ${missing}`, fix, `${FORGED}.`),
    forgeryAccepted: true,
    code: authentic ? null : signatureCheck(requestBody),
  };
}

function verdictOnGenuine(attempt: KnownAttempt, signer: Signer): FullVerdict {
  const { responseStatus: status, responseHeaders: headers } = attempt;
  const error = errorOf(attempt);
  const body = attempt.responseBody ?? '';
  const isRejected = error !== null || saysRefused(body);
  const computed = signatureIn(attempt, body, signer);
  // A response that accepts the IPN may encode the signature in any way, but must not show the signature of another text.
  if (computed !== undefined && (isRejected || computed.signed !== null))
    return verdictOnSignature(computed, attempt);
  const problem = answerProblem({ status, headers, body });
  if (problem) return fromProblem(problem);
  if (error === null && !isRejected) {
    if (attempt.flaw) return malformedAnswer(status, attempt.flaw);
    return makeVerdict(
      'good',
      `Delivered${attempt.number > 1 ? ` (attempt ${attempt.number})` : ''}: your handler returned ${status} in ${duration(attempt.durationMs)}.`,
    );
  }
  const words = ownWords(body);
  const saying = words === undefined ? undefined : `: ${quoted(words)}`;
  if (error === null) {
    const cause = `Your handler returned ${status}, but its body rejects the IPN${saying ?? '.'}`;
    return rejectedBy(words, attempt, cause, `Returned ${status}, but the body rejects the IPN.`);
  }
  const fix = fixOf(attempt, words);
  if (status === null) {
    if (attempt.failure?.code === 'timed_out') return makeVerdict('bad', `Your handler ${error}.`, fix);
    const verdict = makeVerdict('bad', `${asSentence(error)}.`, fix, headlineOf(attempt));
    return { ...verdict, to: otherScheme(attempt) };
  }
  if (!CHECKED.has(status)) {
    const headline = `Your handler ${status < 500 ? `returned ${status}` : `failed (${status})`}.`;
    return makeVerdict(
      'bad',
      `Your handler returned ${status}${saying ?? ' (expected 2xx).'}`,
      fix,
      headline,
    );
  }
  const headline = `Your handler rejected a genuine IPN (${status})`;
  const cause = `${headline}${saying ?? ' without a reason.'}`;
  return rejectedBy(words, attempt, cause, words ? `${headline}.` : undefined);
}

/** The verdict on a rejection. Its words may show why; otherwise a diagnosis can find out. */
function rejectedBy(
  words: string | undefined,
  attempt: KnownAttempt,
  cause: string,
  headline?: string,
): FullVerdict {
  const verdict = makeVerdict('bad', cause, rejected(attempt, words), headline);
  return reasonFix(attempt, words) === undefined ? { ...verdict, unexplained: true } : verdict;
}

/** The fix for the reason that a receiver of a form names. Its words about JSON would say something else. */
const reasonFix = ({ requestBody }: KnownAttempt, words: string | undefined): string | undefined =>
  words === undefined || requestBody.startsWith('{') ? undefined : fixForReason(words);

/** Begins with a capital letter, unless the text begins with a host name. */
function asSentence(text: string): string {
  return /^[a-z]+ /.test(text) && !text.startsWith('localhost ')
    ? text.charAt(0).toUpperCase() + text.slice(1)
    : text;
}

function malformedAnswer(status: number | null, flaw: ResponseFlaw): FullVerdict {
  return makeVerdict(
    'warning',
    `Delivered: your handler returned ${status}, but the response is malformed: ${describeFlaw(flaw)}. The real sender, curl, gets the status from it; other clients do not.`,
    'Correct the response of your handler, or the server in front of it.',
    `Delivered, but the response (${status}) is malformed.`,
  );
}

function verdictOnSignature(
  { value, reason, signed }: ComputedSignature,
  { requestBody }: KnownAttempt,
): FullVerdict {
  const rightWay = 'Your handler signed the right text in the wrong way';
  const verdict = signed
    ? makeVerdict(
        'bad',
        `${asSentence(reason)}.`,
        'Sign data.amount followed by identifier, exactly as received, with the secret key.',
      )
    : makeVerdict(
        'bad',
        `${rightWay} (${value.slice(0, 8)}…): ${reason}.`,
        'Use HMAC-SHA256 with the secret key, in upper-case hexadecimal.',
        `${rightWay}.`,
      );
  return { ...verdict, signed, code: signatureCode(requestBody) };
}

const REJECTED =
  'Find the check that fails: usually the secret key, the signed text or the look-up of the order.';

/** What to do if a receiver rejects a genuine IPN. */
function rejected(attempt: KnownAttempt, words: string | undefined): string {
  const { requestBody, responseBody } = attempt;
  const fix = reasonFix(attempt, words);
  if (fix !== undefined) return fix;
  if (showsSignature(attempt)) return SIGNATURE_SHOWN;
  const other = responseBody?.match(/\b[0-9a-f]{64}\b/gi)?.find((value) => !requestBody.includes(value));
  if (other !== undefined) return `${REJECTED} ${anotherKey(other)}`;
  const check = words === undefined ? undefined : checkNamedIn(words);
  if (check !== undefined) return `Find the check that fails: probably ${check.what}. ${check.how}`;
  const { amount } = readIpn(requestBody);
  if (!amount || !/\.\d*0$/.test(amount)) return REJECTED;
  const number = amount.replace(/\.?0+$/, '');
  return `${REJECTED} If your handler parses ${amount} as a number, it becomes ${number} and the signature no longer matches.`;
}

const SIGNATURE_SHOWN =
  'The response shows the right signature. If your handler computed it, the cause is its comparison or a check after that: log each check, and every exception that your handler catches.';

/** Whether the response shows the signature of the IPN. */
function showsSignature({ requestBody, responseBody }: KnownAttempt): boolean {
  const { signature } = readIpn(requestBody);
  return signature !== null && (responseBody ?? '').includes(signature);
}

const anotherKey = (signature: string) =>
  `The response shows an unknown signature (${signature.slice(0, 8)}…): check that your handler uses this merchant's secret key.`;

/** The same address with the other scheme, if the failure shows that it is needed. */
function otherScheme({ failure, url }: KnownAttempt): string | null {
  if (failure?.code === 'expects_https') return url.replace(/^http:/i, 'https:');
  return failure?.code === 'expects_http' ? url.replace(/^https:/i, 'http:') : null;
}

/** Statuses of a receiver that rejects a genuine IPN because its own check is wrong. */
const CHECKED: ReadonlySet<number> = new Set([400, 401, 403, 422]);

/** The fix for a response other than a rejection, or for none. */
function fixOf(attempt: KnownAttempt, words: string | undefined): string {
  const { responseStatus: status, failure } = attempt;
  if (status === null) return fixOfFailure(failure);
  const fix = reasonFix(attempt, words);
  return fix ?? (status < 500 ? FIXES.answered : 'Find the error in the log of your shop.');
}

/** A wrong signature that the receiver computed. */
interface ComputedSignature {
  value: string;
  /** The mistake, in words. */
  reason: string;
  /**
   * The text that the code signed, and the two values that it should have signed; null if the text is correct or
   * unknown.
   */
  signed: { found: string; amount: string; identifier: string } | null;
}

/** Maximum number of values in a response that are checked as signatures. Each check computes a thousand hashes. */
const MAX_TRIED = 3;

/** The mistake that explains a signature in the receiver's response; undefined if none does. */
function computedByReceiver(
  answer: string,
  sent: string,
  { publicKey, secretKey }: Signer,
): ComputedSignature | undefined {
  // PHP escapes a slash in JSON with a backslash.
  const plain = answer.replaceAll('\\/', '/');
  const values = plain.match(/\b[0-9a-f]{64}\b|(?<![\w+/-])[\w+/-]{43}(?![\w+/-])=?/gi) ?? [];
  // Lists show the verdicts of many IPNs whose responses have no signature.
  if (!values.length) return undefined;
  const genuine = verify(sent, { secretKey });
  const wrong = new Set(values.filter((value) => value !== genuine.expected && value !== genuine.signature));
  if (genuine.signature === null) return undefined;
  for (const value of [...wrong].slice(0, MAX_TRIED)) {
    const verdict = verify(sent, { secretKey, publicKey }, value);
    const { foundText: found, authentic, reasons } = verdict;
    const [reason] = reasons;
    // If the signed text is unknown, no known mistake explains the signature.
    if (authentic || reason === undefined || found === null) continue;
    const { signedText, amount, identifier } = genuine;
    const isOther = amount !== null && identifier !== null && found !== signedText;
    return { value, reason, signed: isOther ? { found, amount, identifier } : null };
  }
  return undefined;
}
