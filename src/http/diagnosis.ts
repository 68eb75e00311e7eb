import type { Merchant } from '../contract/merchant.ts';
import { answerProblem, saysRefused } from '../contract/receiver-answer.ts';
import { type Code, EXPECTED_SIGNATURE } from '../contract/signature.ts';
import type { Attempt, Delivery, Payment } from '../domain/state.ts';
import type { Verdict } from '../wire/dialect.ts';
import type { AppParts } from './environment.ts';

/** What became of an IPN, what it means and what to do. */
export interface Diagnosis {
  /** `good`: all is well; `bad`: something must be mended; `waiting`: it is not known yet, or it is your own doing. */
  tone: 'good' | 'bad' | 'waiting';
  /** A sentence. */
  cause: string;
  /** A sentence; null where there is nothing to do. */
  cure: string | null;
  /** What the receiver's code signed, and what it should have; null where that is not known. */
  signed: { found: string; expected: string } | null;
  /** The line of the merchant's code that mends it. */
  code: Code | null;
  /** What a page offers as the next step. */
  action: 'resend' | 'faults' | null;
}

const said = (tone: Diagnosis['tone'], cause: string, cure: string | null = null): Diagnosis => ({
  ...{ tone, cause, cure, signed: null, code: null },
  action: tone === 'bad' ? 'resend' : null,
});

/**
 * What became of a delivery, by its last attempt.
 *
 * @param delivery as it is stored
 */
export function diagnose(delivery: Delivery, parts: AppParts): Diagnosis {
  const { current } = parts.state;
  const last = current.attemptsOf(delivery.id).at(-1);
  if (delivery.state === 'refused' || !last) return notAttempted(delivery);
  const fault = faultBehind(delivery, last);
  if (fault !== undefined) return fault;
  const merchant = current.merchants.get(delivery.merchantId);
  if (!merchant) return said('waiting', 'The merchant whose key signed it is gone.');
  return diagnoseForged(delivery, parts) ?? ofGenuine(last, merchant, parts.dialect, delivery.state);
}

/** What became of a forged IPN; undefined for a genuine one, and before its first attempt. */
export function diagnoseForged(delivery: Delivery, { state, dialect }: AppParts): Diagnosis | undefined {
  if (delivery.signedWith !== '') return undefined;
  const { current } = state;
  const last = current.attemptsOf(delivery.id).at(-1);
  const merchant = current.merchants.get(delivery.merchantId);
  if (!last || !merchant) return undefined;
  const verdict = dialect.verify(last.requestBody, { secretKey: merchant.secretKey });
  const payment = delivery.paymentId === null ? undefined : current.payments.get(delivery.paymentId);
  const forgery = forgeryIn(verdict, delivery, payment);
  return forgery === undefined ? undefined : ofForged(forgery, verdict, last);
}

function notAttempted({ state, note }: Delivery): Diagnosis {
  if (state !== 'refused') return said('waiting', 'It has not been attempted yet.');
  return {
    ...said('bad', `It was not let out: ${note ?? 'the egress rules do not allow its address'}.`),
    cure: 'Restart the emulator with the option that is named, or with --forward-ipn to send all IPNs to your receiver.',
    action: null,
  };
}

/** A body without what looks like its signature. */
const unsigned = (body: string): string => body.replace(/[0-9a-f]{64}/i, '');

const YOUR_RULE = 'That is your rule: the receiver is not to blame.';

/** What a fault rule did to the attempt; undefined where none was at work. */
export function faultBehind(
  delivery: Delivery,
  { error, requestBody, responseStatus, responseHeaders }: Omit<Attempt, 'deliveryId'>,
) {
  const told = /^fault rule: (.*?)(?: \(gateway-sim .*)?$/s.exec(error ?? '')?.[1];
  const isOdd = requestBody !== delivery.body && delivery.signedWith !== '';
  if (told === undefined && !isOdd) return undefined;
  const answered = responseHeaders.length ? ` The receiver answered ${responseStatus}.` : '';
  const changed = unsigned(requestBody) === unsigned(delivery.body) ? 'signature corrupted' : 'body changed';
  const what = told ?? `${changed}.${answered}`;
  const cause = `Fault: ${what.replace(/\.?$/, '.')}`;
  return { ...said('waiting', cause, YOUR_RULE), action: 'faults' } satisfies Diagnosis;
}

/** What is false in an IPN, in a few words; undefined in a genuine one. */
function forgeryIn(verdict: Verdict, { body }: Delivery, payment: Payment | undefined): string | undefined {
  const changes: string[] = [];
  const change = (name: string, was: string | undefined, is: string | null) => {
    if (was !== undefined && is !== null && is !== was) changes.push(`${name} ${was} → ${is}`);
  };
  change('amount', payment?.amount, verdict.amount);
  change('identifier', payment?.identifier, verdict.identifier);
  change('currency', payment?.currency, currencyIn(body));
  if (verdict.authentic && verdict.status !== 'success') changes.push(`status ${verdict.status}`);
  if (!verdict.authentic && !changes.length) changes.push('signature');
  return changes.join(', ') || undefined;
}

function currencyIn(body: string): string | null {
  if (!body.startsWith('{')) return new URLSearchParams(body).get('data[currency][code]');
  return /"currency":\{"code":"([^"]*)"/.exec(body)?.[1] ?? null;
}

function ofForged(
  what: string,
  verdict: Verdict,
  { responseStatus: status, responseBody, error }: Attempt,
): Diagnosis {
  if (status === null)
    return said('waiting', `Nobody knows what the receiver makes of a forged IPN (${what}): ${error}.`);
  if (error !== null)
    return said('good', `Your receiver rejected a forged IPN (${what}), as it must: ${status}.`);
  if (saysRefused(responseBody ?? '')) {
    const cause = `Your receiver answered ${status} to a forged IPN (${what}), and its body says that it rejected it.`;
    return said('good', cause, 'Answer 4xx to what you reject: a status says it to everybody.');
  }
  const missing = verdict.authentic
    ? 'It does not compare what the signature does not cover: status and currency.'
    : 'It does not check the signature.';
  const cure = verdict.authentic
    ? 'Take success alone for a payment, and compare amount and currency with those of the order.'
    : 'Compare the signature with your own, and answer 400 where it differs. Then send this copy again: it must be rejected.';
  return {
    ...said('bad', `Your receiver accepted a forged IPN (${what}). ${missing}`, cure),
    code: verdict.authentic ? null : EXPECTED_SIGNATURE,
    action: 'resend',
  };
}

function ofGenuine(
  last: Attempt,
  merchant: Merchant,
  dialect: AppParts['dialect'],
  state: Delivery['state'],
): Diagnosis {
  const { responseStatus: status, responseHeaders: headers, responseBody, error } = last;
  const body = responseBody ?? '';
  const problem = answerProblem({ status, headers, body });
  if (error === null) {
    return problem
      ? said('bad', problem.cause, problem.cure)
      : said('good', `Your receiver took it: ${status} after ${Math.round(last.durationMs)} ms.`);
  }
  const computed = computedByReceiver(body, last.requestBody, merchant, dialect);
  if (computed !== undefined) return computed;
  if (problem) return said('bad', problem.cause, problem.cure);
  return said('bad', `${error[0]?.toUpperCase()}${error.slice(1)}.`, cureOf(status, state));
}

function cureOf(status: number | null, state: Delivery['state']): string {
  const again = state === 'failed' ? 'then resend it' : 'the emulator tries again by itself';
  if (status === null) return `Start your receiver at this address; ${again}.`;
  if (status === 400 || status === 403 || status === 422) {
    return 'The IPN is genuine: look at how your code computes the signature, and at the order that it looks up.';
  }
  return `Answer 2xx when all went well; ${again}.`;
}

/** Maximum values in an answer that are tried as signatures. */
const MAX_TRIED = 8;

/** What mistake of the receiver's code made a signature that its answer shows. */
function computedByReceiver(
  answer: string,
  sent: string,
  { publicKey, secretKey }: Merchant,
  dialect: AppParts['dialect'],
): Diagnosis | undefined {
  const genuine = dialect.verify(sent, { secretKey });
  const values = answer.match(/\b[0-9a-f]{64}\b|(?<![\w+/])[\w+/-]{43}=/gi) ?? [];
  for (const value of values.slice(0, MAX_TRIED)) {
    if (value === genuine.expected || genuine.signature === null) continue;
    const others = new Map([['the public key', publicKey]]);
    const verdict = dialect.verify(sent.replace(genuine.signature, encodeURIComponent(value)), {
      secretKey,
      others,
    });
    const [reason] = verdict.reasons;
    if (verdict.authentic || reason === undefined || reason.startsWith('the signature matches neither'))
      continue;
    const cause = `Your code signed something else (${value.slice(0, 8)}…): ${reason}.`;
    const cure = 'Sign data.amount and identifier with the secret key, exactly as they came.';
    const { signedText: expected } = genuine;
    const { foundText: found } = verdict;
    const isOther = found !== null && expected !== null && found !== expected;
    const signed = isOther ? { found, expected } : null;
    return { ...said('bad', cause, cure), signed, code: EXPECTED_SIGNATURE };
  }
  return undefined;
}

/** A delivery that keeps failing is no mere `pending`: how often it did, and when it is tried next. */
export function retrying(delivery: Delivery, { state, clock }: AppParts) {
  const failures = state.current.attemptsOf(delivery.id).filter(({ error }) => error !== null);
  const last = failures.at(-1);
  if (delivery.state !== 'pending' || !last || delivery.nextAttemptAt === null) return undefined;
  const seconds = Math.max(0, Math.round((Date.parse(delivery.nextAttemptAt) - clock.now()) / 1_000));
  const wait = seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  const times = `×${failures.length}`;
  return {
    brief: `retrying ${times}`,
    text: `retrying · ${last.responseStatus ?? 'no answer'} ${times} · next in ${wait}`,
  };
}
