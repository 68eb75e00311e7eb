import { describeEffects } from '../contract/active-fault.ts';
import { describeEgress, errorOf, FIXES, insteadOfSending } from '../contract/describe-delivery.ts';
import type { Merchant } from '../contract/merchant.ts';
import { answerProblem, ownWords, saysRefused } from '../contract/receiver-answer.ts';
import { type Code, expectedSignature } from '../contract/signature.ts';
import { describeTamperings } from '../contract/tampering.ts';
import type { Attempt, Delivery } from '../domain/state.ts';
import type { Verdict } from '../wire/dialect.ts';
import { type ComputedSignature, computedByReceiver } from './computed-signature.ts';
import type { AppParts } from './environment.ts';

/** What became of an IPN, what it means and what to do. */
export interface Diagnosis {
  /** `good`: all is well; `bad`: something must be mended; `waiting`: it is not known yet, or it is your own doing. */
  tone: 'good' | 'bad' | 'waiting';
  /** A sentence. */
  cause: string;
  /** A sentence; null where there is nothing to do. */
  fix: string | null;
  signed: ComputedSignature['signed'];
  /** The line of the merchant's code that mends it. */
  code: Code | null;
  /** What a page offers as the next step. */
  action: 'resend' | 'faults' | null;
  /** Where to resend it, if not to its own address. */
  to: string | null;
}

const said = (tone: Diagnosis['tone'], cause: string, fix: string | null = null): Diagnosis => ({
  tone,
  cause,
  fix,
  signed: null,
  code: null,
  to: null,
  action: tone === 'bad' ? 'resend' : null,
});

/**
 * What became of a delivery, by its last attempt.
 *
 * @param delivery as it is stored
 */
export function diagnose(delivery: Delivery, parts: AppParts): Diagnosis {
  const last = parts.state.current.attemptsOf(delivery.id).at(-1);
  if (delivery.state === 'refused' || !last) return notAttempted(delivery, parts);
  return diagnoseAttempt(delivery, last, parts);
}

/**
 * The verdict on all IPNs of a payment: that on the newest, unless that is a forged copy with which all is well while
 * something is wrong with the newest genuine one.
 *
 * @param deliveries oldest first
 */
export function diagnoseAll(deliveries: readonly Delivery[], parts: AppParts) {
  const last = deliveries.at(-1);
  if (!last) return undefined;
  const of = diagnose(last, parts);
  if (of.tone === 'bad' || !diagnoseForged(last, parts)) return { of, ipn: last.id };
  const genuine = deliveries.findLast((delivery) => !diagnoseForged(delivery, parts));
  const ofGenuine = genuine && diagnose(genuine, parts);
  return genuine && ofGenuine?.tone === 'bad' ? { of: ofGenuine, ipn: genuine.id } : { of, ipn: last.id };
}

type KnownAttempt = Omit<Attempt, 'deliveryId'>;

/** What became of one attempt at a delivery. */
export function diagnoseAttempt(delivery: Delivery, attempt: KnownAttempt, parts: AppParts): Diagnosis {
  const special = faultBehind(delivery, attempt) ?? diagnoseForged(delivery, parts, attempt);
  if (special !== undefined) return special;
  const merchant = parts.state.current.merchants.get(delivery.merchantId);
  if (!merchant) return said('waiting', 'The merchant whose key signed it is gone.');
  const diagnosis = ofGenuine(attempt, merchant, parts.dialect, delivery.state);
  const fault = faultOf(attempt);
  return fault === null ? diagnosis : { ...diagnosis, cause: `${diagnosis.cause} ${fault}.` };
}

/** The fault rule that acted on an attempt, whatever came of it; null where none did. */
export function faultOf({ fault }: Pick<Attempt, 'fault'>): string | null {
  // What was postponed goes out by a rule that has no effect left.
  return fault && `Fault: ${describeEffects(fault) || 'sent late'} (your rule)`;
}

/**
 * What became of a forged IPN; undefined for a genuine one, and before its first attempt.
 *
 * @param attempt default: the last one
 */
export function diagnoseForged(
  delivery: Delivery,
  { state, dialect }: AppParts,
  attempt: KnownAttempt | undefined = state.current.attemptsOf(delivery.id).at(-1),
): Diagnosis | undefined {
  if (delivery.signedWith !== '') return undefined;
  const { current } = state;
  const merchant = current.merchants.get(delivery.merchantId);
  if (!attempt || !merchant) return undefined;
  const verdict = dialect.verify(attempt.requestBody, { secretKey: merchant.secretKey });
  // A signature that was set by hand may be the right one.
  if (verdict.authentic && !delivery.tampered.length) return undefined;
  return ofForged(describeTamperings(delivery.tampered) || 'signature', verdict, attempt);
}

function notAttempted(delivery: Delivery, { ipns, state }: AppParts): Diagnosis {
  const underWay = ipns.underWay(delivery.id);
  if (underWay)
    return said('waiting', `It is on its way: the receiver has ${underWay.timeoutMs / 1_000} s to answer.`);
  const refused = state.current.attemptsOf(delivery.id).at(-1)?.failure;
  if (refused?.code !== 'egress') return said('waiting', 'It has not been sent yet.');
  return {
    ...said('bad', `It was not sent: ${describeEgress(refused)}.`, FIXES.egress),
    action: null,
  };
}

/** Maximum characters at either end of a body that are read: a page has the verdicts of many attempts. */
const READ = 8_192;

const readPart = (body: string | null): string =>
  body === null || body.length <= 2 * READ ? (body ?? '') : `${body.slice(0, READ)}\n${body.slice(-READ)}`;

/** What a fault rule did to the attempt; undefined where none changed or replaced it. */
export function faultBehind(delivery: Delivery, attempt: KnownAttempt): Diagnosis | undefined {
  const { fault, failure, requestBody, responseStatus, responseHeaders, responseBody } = attempt;
  if (fault === null) return undefined;
  const instead = insteadOfSending(fault);
  const isChanged = requestBody !== delivery.body && delivery.signedWith !== '';
  if (instead === undefined && !isChanged) return undefined;
  const cause = instead === undefined ? `${faultOf(attempt)}.` : `Fault: ${instead} (your rule).`;
  const isSignature = fault.corruptSignature && !fault.truncate && !fault.malformed;
  if (isSignature && instead === undefined && failure === null && !saysRefused(readPart(responseBody))) {
    const accepted = `${cause} The receiver accepted it (${responseStatus}): it does not check the signature.`;
    return {
      ...said('bad', accepted, CHECK_SIGNATURE),
      code: expectedSignature(requestBody),
      action: 'faults',
    };
  }
  const answered = responseHeaders.length ? ` The receiver answered ${responseStatus}.` : '';
  return { ...said('waiting', cause + answered, FIXES.fault), action: 'faults' };
}

const CHECK_SIGNATURE = 'Compare the signature with your own, and answer 400 where it differs.';

/** Statuses with which a receiver rejects what it has checked; the others say nothing of a forgery. */
const REJECTS: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 406, 409, 410, 412, 422]);

function ofForged(what: string, verdict: Verdict, attempt: KnownAttempt): Diagnosis {
  const { requestBody, responseStatus: status, responseHeaders: headers, responseBody } = attempt;
  const error = errorOf(attempt);
  const body = readPart(responseBody);
  if (status === null)
    return said('waiting', `It is not known what the receiver does with a forged IPN (${what}): ${error}.`);
  const problem = answerProblem({ status, headers, body });
  if (error === null ? problem : !REJECTS.has(status)) {
    const { cause = `It answered ${status}.`, fix = 'Look at the log of your receiver.' } = problem ?? {};
    return {
      ...said('waiting', `It is not known what the receiver does with a forged IPN (${what}). ${cause}`, fix),
      action: 'resend',
    };
  }
  if (error !== null)
    return said('good', `Your receiver rejected a forged IPN (${what}), as it must: ${status}.`);
  if (saysRefused(body)) {
    const cause = `Your receiver answered ${status} to a forged IPN (${what}), and its body says that it rejected it.`;
    return said('good', cause, 'Answer 4xx to what you reject: a status says it to everybody.');
  }
  const missing = verdict.authentic
    ? 'It does not compare what the signature does not cover: status and currency.'
    : 'It does not check the signature.';
  const fix = verdict.authentic
    ? 'Take success alone for a payment, and compare amount and currency with those of the order.'
    : `${CHECK_SIGNATURE} Then send this copy again: it must be rejected.`;
  return {
    ...said('bad', `Your receiver accepted a forged IPN (${what}). ${missing}`, fix),
    code: verdict.authentic ? null : expectedSignature(requestBody),
  };
}

function ofGenuine(
  attempt: KnownAttempt,
  merchant: Merchant,
  dialect: AppParts['dialect'],
  state: Delivery['state'],
): Diagnosis {
  const { responseStatus: status, responseHeaders: headers, responseBody } = attempt;
  const error = errorOf(attempt);
  const body = readPart(responseBody);
  const isRejected = error !== null || saysRefused(body);
  const computed = computedByReceiver(body, attempt.requestBody, merchant, dialect);
  // In an answer that accepts it, the signature may be written in any way, but not be that of another text.
  if (computed !== undefined && (isRejected || computed.signed !== null))
    return ofComputed(computed, attempt);
  const problem = answerProblem({ status, headers, body });
  if (problem) return said('bad', problem.cause, problem.fix);
  const words = ownWords(body);
  const saying = words === undefined ? '' : `: “${words}”`;
  if (error === null) {
    return isRejected
      ? said(
          'bad',
          `The receiver answered ${status}, but its body says that it rejected the IPN${saying}.`,
          REJECTED,
        )
      : said('good', `Your receiver took it: ${status} after ${Math.round(attempt.durationMs)} ms.`);
  }
  const cause =
    status === null
      ? `${error[0]?.toUpperCase()}${error.slice(1)}`
      : `The receiver answered ${status}${saying || ': expected 2xx'}`;
  return { ...said('bad', `${cause}.`, fixOf(attempt, state)), to: otherScheme(attempt) };
}

function ofComputed({ value, reason, signed }: ComputedSignature, { requestBody }: KnownAttempt): Diagnosis {
  const what = signed ? 'something else' : 'the right text in a wrong way';
  const cause = `Your code signed ${what} (${value.slice(0, 8)}…): ${reason}.`;
  const fix = signed
    ? 'Sign data.amount and identifier with the secret key, exactly as they came.'
    : 'Compute it as in the line below.';
  return { ...said('bad', cause, fix), signed, code: expectedSignature(requestBody) };
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

function fixOf(attempt: KnownAttempt, state: Delivery['state']): string {
  const { responseStatus: status, responseBody, requestBody, failure } = attempt;
  const again = state === 'failed' ? 'Then resend it.' : 'The emulator tries again by itself.';
  if (status === null) {
    const { code } = failure ?? { code: 'other' };
    const isTransient = code === 'connection_refused' || code === 'other';
    return isTransient ? `${FIXES[code]} ${again}` : FIXES[code];
  }
  if (status === 400 || status === 403 || status === 422) {
    const other = readPart(responseBody)
      .match(/\b[0-9a-f]{64}\b/gi)
      ?.find((value) => !requestBody.includes(value));
    return other === undefined ? REJECTED : `${REJECTED} ${anotherKey(other)}`;
  }
  return `${FIXES.answered} ${again}`;
}
