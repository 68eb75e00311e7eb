import { describeEffects } from '../contract/active-fault.ts';
import type { AttemptUnderWay } from '../contract/delivery.ts';
import {
  describeBriefly,
  describeEgress,
  errorOf,
  FIXES,
  insteadOfSending,
} from '../contract/describe-delivery.ts';
import { duration } from '../contract/duration.ts';
import type { Merchant } from '../contract/merchant.ts';
import { type AnswerProblem, answerProblem, ownWords, saysRefused } from '../contract/receiver-answer.ts';
import { type Code, expectedSignature } from '../contract/signature.ts';
import { describeTamperings } from '../contract/tampering.ts';
import type { Verdict } from '../contract/verdict.ts';
import { SETTLERS } from '../contract/vocabulary.ts';
import type { Settings } from '../domain/settings.ts';
import type { Attempt, Delivery, Payment, State } from '../domain/state.ts';
import type { Dialect, Verification } from '../wire/dialect.ts';
import { type ComputedSignature, computedByReceiver } from './computed-signature.ts';

/** What a verdict is made of. */
export interface VerdictParts {
  state: Pick<State, 'attemptsOf' | 'deliveriesOf'> & {
    merchants: { get: (id: string) => Merchant | undefined };
  };
  dialect: Pick<Dialect, 'verify'>;
  settings: { ipn: Pick<Settings['ipn'], 'on'> };
  /** The attempt of a delivery that waits for its answer; null when none does. */
  underWay: (deliveryId: string) => AttemptUnderWay | null;
}

/** A verdict with what a page shows beside it. */
export interface FullVerdict extends Verdict {
  /** What happened, in at most ten words; `cause` says why, too. */
  headline: string;
  /** Whose doing it is; null where there is nothing to do. */
  where: 'receiver' | 'rule' | 'emulator' | null;
  signed: ComputedSignature['signed'];
  /** The line of the merchant's code that fixes it. */
  code: Code | null;
  /** What a page offers as the next step. */
  action: 'resend' | 'faults' | null;
  /** Where to resend it, if not to its own address. */
  to: string | null;
}

/** A verdict as it is told to programs. */
export const verdictView = ({ tone, cause, fix }: FullVerdict): Verdict => ({ tone, cause, fix });

const said = (
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

const asProblem = ({ tone, cause, fix, headline }: AnswerProblem) =>
  said(tone ?? 'bad', cause, fix, headline);

/** What your own fault rule does is ended among the rules. */
const byRule = (cause: string, headline: string): FullVerdict => ({
  ...said('waiting', cause, FIXES.fault, headline),
  where: 'rule',
  action: 'faults',
});

/** The last attempt of a delivery, as of its record: one out of the log may be older than the state. */
const lastAttempt = ({ id, attemptCount }: Delivery, state: VerdictParts['state']): Attempt | undefined =>
  state.attemptsOf(id)[attemptCount - 1];

/** What became of a delivery, by its last attempt. */
export function verdictOnDelivery(delivery: Delivery, parts: VerdictParts): FullVerdict {
  const last = lastAttempt(delivery, parts.state);
  if (delivery.state === 'refused' || !last || (delivery.postponedBy && delivery.nextAttemptAt !== null))
    return notAttempted(delivery, last, parts);
  return verdictOnAttempt(delivery, last, signerOf(delivery, parts), parts.dialect);
}

/** The merchant whose key signed a delivery; undefined where it no longer exists. */
export const signerOf = ({ merchantId }: Delivery, { state }: VerdictParts): Merchant | undefined =>
  state.merchants.get(merchantId);

/**
 * What became of a payment and of its IPNs: the verdict on the newest, unless that is a forged copy with which all is
 * well while something is wrong with the newest genuine one.
 *
 * @returns `ipn`: the delivery that it is about; null for none
 */
export function verdictOnPayment(
  payment: Payment,
  parts: VerdictParts,
): FullVerdict & { ipn: string | null } {
  const deliveries = parts.state.deliveriesOf(payment.id);
  const last = deliveries.at(-1);
  if (!last) return { ...withoutIpn(payment, parts.settings), ipn: null };
  const ofLast = { ...verdictOnDelivery(last, parts), ipn: last.id };
  if (ofLast.tone === 'bad' || !verdictOnForgery(last, parts)) return ofLast;
  const genuine = deliveries.findLast((delivery) => !verdictOnForgery(delivery, parts));
  const ofGenuine = genuine && verdictOnDelivery(genuine, parts);
  return genuine && ofGenuine?.tone === 'bad' ? { ...ofGenuine, ipn: genuine.id } : ofLast;
}

function withoutIpn({ status, settledBy, settledAt, auto }: Payment, { ipn }: VerdictParts['settings']) {
  if (status === 'pending' || settledBy === null) {
    const headline = 'The customer has not paid yet.';
    return said('waiting', auto ? `${headline} It settles automatically (${auto.outcome}).` : headline);
  }
  const ended = `${status[0]?.toUpperCase()}${status.slice(1)}`;
  const what = `${ended} by ${SETTLERS[settledBy]}, at ${settledAt}.`;
  const verdict = ipn.on.has(status)
    ? said(
        status === 'succeeded' ? 'warning' : 'good',
        `${what} No IPN was sent: it was settled without one.`,
        'Send one from its page or with ipn fire, or settle with another delivery order.',
        `${ended}. No IPN was sent.`,
      )
    : said(
        'good',
        `${what} No IPN is due.`,
        `To send one, start the emulator with --ipn-on ${status}.`,
        `${ended}. No IPN is due.`,
      );
  return { ...verdict, where: 'emulator' as const };
}

export type KnownAttempt = Omit<Attempt, 'id' | 'deliveryId'>;
export type KnownDelivery = Pick<Delivery, 'state' | 'body' | 'signedWith' | 'tampered'>;
/** Whose key signs; the public one may have been taken for it by mistake. */
export type Signer = Partial<Pick<Merchant, 'publicKey'>> & Pick<Merchant, 'secretKey'>;

/** What became of one attempt at a delivery. */
export function verdictOnAttempt(
  delivery: KnownDelivery,
  attempt: KnownAttempt,
  signer: Signer | undefined,
  dialect: VerdictParts['dialect'],
): FullVerdict {
  const special = faultBehind(delivery, attempt) ?? ofForgery(delivery, attempt, signer, dialect);
  if (special !== undefined) return special;
  if (!signer) return said('waiting', 'The merchant whose key signed it no longer exists.');
  const verdict = ofGenuine(attempt, signer, dialect, delivery.state);
  const fault = faultOf(attempt);
  return fault === null ? verdict : { ...verdict, cause: `${verdict.cause} ${fault}.` };
}

/** The fault rule that acted on an attempt, whatever came of it; null where none did. */
export function faultOf({ fault }: Pick<Attempt, 'fault'>): string | null {
  // What was postponed goes out by a rule that has no effect left.
  return fault && `Fault: ${describeEffects(fault) || 'sent late'} (your rule)`;
}

/** What became of a forged IPN; undefined for a genuine one, and before its first attempt. */
export function verdictOnForgery(delivery: Delivery, parts: VerdictParts): FullVerdict | undefined {
  const last = lastAttempt(delivery, parts.state);
  return last && ofForgery(delivery, last, signerOf(delivery, parts), parts.dialect);
}

function ofForgery(
  delivery: KnownDelivery,
  attempt: KnownAttempt,
  signer: Signer | undefined,
  dialect: VerdictParts['dialect'],
): FullVerdict | undefined {
  if (delivery.signedWith !== '' || !signer) return undefined;
  const verdict = dialect.verify(attempt.requestBody, { secretKey: signer.secretKey });
  // A signature that was set by hand may be the right one.
  if (verdict.authentic && !delivery.tampered.length) return undefined;
  return ofForged(describeTamperings(delivery.tampered) || 'signature', verdict, attempt);
}

/** @param last the attempt before the one that it waits for, if there was any */
function notAttempted(
  delivery: Delivery,
  last: Attempt | undefined,
  { underWay }: VerdictParts,
): FullVerdict {
  const waiting = underWay(delivery.id);
  if (waiting) {
    const cause = `It is on its way: your receiver has ${duration(waiting.timeoutMs)} to answer.`;
    return said('waiting', cause, null, 'Your receiver has not answered yet.');
  }
  if (last?.failure?.code === 'egress') {
    const cause = `It was not sent: ${describeEgress(last.failure)}.`;
    const verdict = said('bad', cause, FIXES.egress, 'Not sent: the emulator may not reach this address.');
    return { ...verdict, where: 'emulator', action: null };
  }
  const { postponedBy, nextAttemptAt, createdAt } = delivery;
  if (postponedBy === null || nextAttemptAt === null) return said('waiting', 'It has not been sent yet.');
  const heldMs = Date.parse(nextAttemptAt) - Date.parse(last?.startedAt ?? createdAt);
  const held = `Held back ${duration(heldMs)} by your rule`;
  return byRule(`${held}: due at ${nextAttemptAt}.`, `${held}.`);
}

/** Maximum characters at either end of a body that are read: a page has the verdicts of many attempts. */
const READ = 8_192;

const readPart = (body: string | null): string =>
  body === null || body.length <= 2 * READ ? (body ?? '') : `${body.slice(0, READ)}\n${body.slice(-READ)}`;

/** What a fault rule did to the attempt; undefined where none changed or replaced it. */
export function faultBehind(delivery: KnownDelivery, attempt: KnownAttempt): FullVerdict | undefined {
  const { fault, failure, requestBody, responseStatus, responseHeaders, responseBody } = attempt;
  if (fault === null) return undefined;
  const instead = insteadOfSending(fault);
  const isChanged = requestBody !== delivery.body && delivery.signedWith !== '';
  if (instead === undefined && !isChanged) return undefined;
  const cause =
    instead === undefined ? `${faultOf(attempt)}.` : `Nothing reached your receiver: your rule ${instead}.`;
  const isSignature = fault.corruptSignature && !fault.truncate && !fault.malformed;
  if (isSignature && instead === undefined && failure === null && !saysRefused(readPart(responseBody))) {
    const accepted = `${cause} The receiver accepted it (${responseStatus}): it does not check the signature.`;
    return {
      ...said('bad', accepted, CHECK_SIGNATURE, 'Your receiver accepted a wrong signature.'),
      code: expectedSignature(requestBody),
      action: 'faults',
    };
  }
  const answered = responseHeaders.length ? ` The receiver answered ${responseStatus}.` : '';
  return byRule(cause + answered, instead === undefined ? 'Your rule changed the IPN on purpose.' : cause);
}

const CHECK_SIGNATURE = 'Compare the signature with your own, and answer 400 where it differs.';

/** Statuses with which a receiver rejects what it has checked; the others say nothing of a forgery. */
const REJECTS: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 406, 409, 410, 412, 422]);

const UNKNOWN = 'Not known: would your receiver accept a forged IPN?';

function ofForged(what: string, verdict: Verification, attempt: KnownAttempt): FullVerdict {
  const { requestBody, responseStatus: status, responseHeaders: headers, responseBody } = attempt;
  const error = errorOf(attempt);
  const body = readPart(responseBody);
  const unknown = (why: string, fix?: string) => ({
    ...said(
      'waiting',
      `It is not known what the receiver does with a forged IPN (${what})${why}`,
      fix,
      UNKNOWN,
    ),
    where: 'receiver' as const,
  });
  if (status === null) return unknown(`: ${error}.`);
  const problem = answerProblem({ status, headers, body });
  if (error === null ? problem : !REJECTS.has(status)) {
    const { cause = `It answered ${status}.`, fix = 'Look at the log of your receiver.' } = problem ?? {};
    return { ...unknown(`. ${cause}`, fix), action: 'resend' };
  }
  if (error !== null) {
    const cause = `Your receiver rejected a forged IPN (${what}), as it must: ${status}.`;
    return said('good', cause, null, 'Your receiver rejected a forged IPN, as it must.');
  }
  if (saysRefused(body)) {
    const cause = `Your receiver answered ${status} to a forged IPN (${what}), and its body says that it rejected it.`;
    return said(
      'good',
      cause,
      'Answer 4xx to what you reject: a status says it to everybody.',
      'Your receiver rejected a forged IPN.',
    );
  }
  const missing = verdict.authentic
    ? 'It does not compare what the signature does not cover: status and currency.'
    : 'It does not check the signature.';
  const fix = verdict.authentic
    ? 'Take success alone for a payment, and compare amount and currency with those of the order.'
    : `${CHECK_SIGNATURE} Then send this copy again: it must be rejected.`;
  return {
    ...said(
      'bad',
      `Your receiver accepted a forged IPN (${what}). ${missing}`,
      fix,
      'Your receiver accepted a forged IPN.',
    ),
    code: verdict.authentic ? null : expectedSignature(requestBody),
  };
}

function ofGenuine(
  attempt: KnownAttempt,
  signer: Signer,
  dialect: VerdictParts['dialect'],
  state: Delivery['state'],
): FullVerdict {
  const { responseStatus: status, responseHeaders: headers, responseBody } = attempt;
  const error = errorOf(attempt);
  const body = readPart(responseBody);
  const isRejected = error !== null || saysRefused(body);
  const computed = computedByReceiver(body, attempt.requestBody, signer, dialect);
  // In an answer that accepts it, the signature may be written in any way, but not be that of another text.
  if (computed !== undefined && (isRejected || computed.signed !== null))
    return ofComputed(computed, attempt);
  const problem = answerProblem({ status, headers, body });
  if (problem) return asProblem(problem);
  const words = ownWords(body);
  const saying = words === undefined ? '' : `: “${words}”`;
  if (error === null) {
    return isRejected
      ? said(
          'bad',
          `The receiver answered ${status}, but its body says that it rejected the IPN${saying}.`,
          REJECTED,
          `Answered ${status}, but the body rejects the IPN.`,
        )
      : said('good', `Delivered: your receiver answered ${status} in ${duration(attempt.durationMs)}.`);
  }
  const cause =
    status === null
      ? `${error[0]?.toUpperCase()}${error.slice(1)}`
      : `The receiver answered ${status}${saying || ': expected 2xx'}`;
  const brief = describeBriefly(attempt);
  const headline =
    status === null
      ? `${brief[0]?.toUpperCase()}${brief.slice(1)}.`
      : `Your receiver answered ${status}${CHECKED.has(status) ? ': it rejected the IPN' : ''}.`;
  return { ...said('bad', `${cause}.`, fixOf(attempt, state), headline), to: otherScheme(attempt) };
}

function ofComputed(
  { value, reason, signed }: ComputedSignature,
  { requestBody }: KnownAttempt,
): FullVerdict {
  const what = signed ? 'something else' : 'the right text in a wrong way';
  const cause = `Your code signed ${what} (${value.slice(0, 8)}…): ${reason}.`;
  const fix = signed
    ? 'Sign data.amount and identifier with the secret key, exactly as they came.'
    : 'Compute it as in the line below.';
  return { ...said('bad', cause, fix, headlineOf(signed)), signed, code: expectedSignature(requestBody) };
}

function headlineOf(signed: ComputedSignature['signed']): string {
  if (!signed) return 'Your code computed the signature in a wrong way.';
  const { found, amount, identifier } = signed;
  if (found.startsWith(identifier)) return 'Your code signed the identifier before the amount.';
  return found.endsWith(identifier)
    ? `Your code signed ${found.slice(0, -identifier.length)}. The IPN says ${amount}.`
    : 'Your code signed another text than it should.';
}

const REJECTED =
  'The IPN is genuine: look at how your code computes the signature, and at the order that it looks up.';

const anotherKey = (signature: string) =>
  `Its answer shows a signature (${signature.slice(0, 8)}…) that no usual mistake explains: check that your receiver has this merchant's secret key.`;

/** The address that the failure asks for, where only the scheme was wrong. */
function otherScheme({ failure, url }: KnownAttempt): string | null {
  if (failure?.code === 'expects_https') return url.replace(/^http:/i, 'https:');
  return failure?.code === 'expects_http' ? url.replace(/^https:/i, 'http:') : null;
}

/** Statuses with which a receiver rejects a genuine IPN because its own check of it is wrong. */
const CHECKED: ReadonlySet<number> = new Set([400, 401, 403, 422]);

function fixOf(attempt: KnownAttempt, state: Delivery['state']): string {
  const { responseStatus: status, responseBody, requestBody, failure } = attempt;
  const again = state === 'failed' ? 'Then resend it.' : 'The emulator tries again by itself.';
  if (status === null) {
    const { code } = failure ?? { code: 'other' };
    const isTransient = code === 'connection_refused' || code === 'other';
    return isTransient ? `${FIXES[code]} ${again}` : FIXES[code];
  }
  if (status !== null && CHECKED.has(status)) {
    const other = readPart(responseBody)
      .match(/\b[0-9a-f]{64}\b/gi)
      ?.find((value) => !requestBody.includes(value));
    return other === undefined ? REJECTED : `${REJECTED} ${anotherKey(other)}`;
  }
  return `${FIXES.answered} ${again}`;
}
