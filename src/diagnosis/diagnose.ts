import { fixOfFailure } from '../contract/describe-delivery.ts';
import { type DiagnoseInput, type Diagnosis, KEPT_ANSWER } from '../contract/diagnosis.ts';
import { command, GatewayError, hint } from '../contract/error.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { Secrets } from '../contract/secrets.ts';
import { pluralize } from '../contract/text.ts';
import { timestamp } from '../contract/time.ts';
import type { Courier } from '../delivery/courier.ts';
import { recordAttempt, recordDiagnosis, tellsState } from '../domain/delivery.ts';
import type { Context } from '../domain/settings.ts';
import type { Delivery, Payment, State } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import { type Answer, type Found, Inquiry, Stopped } from './inquiry.ts';
import { isSignatureMistake, type VerifyKeys } from './mistakes.ts';
import { answerProblem, checkNamedIn, errorPage, fixForReason, languageOf } from './receiver-answer.ts';
import { ownWords } from './receiver-words.ts';
import type { SeenRows } from './seen-rows.ts';
import { signatureCode } from './signature-code.ts';
import { aboutUnknownOrder, type IpnVariant, variantsOf, withRandomSignature } from './variants.ts';

/**
 * Finds a function that tells whether the shop shows an order as paid; undefined without an address.
 *
 * @throws GatewayError `usage` for an address without a condition, or a condition that cannot be read
 */
export type OrderProbe = (
  by: Pick<DiagnoseInput, 'probeUrl' | 'paidWhen'>,
  payment: Payment,
) => Promise<(() => Promise<boolean>) | undefined>;

interface DiagnoseDependencies {
  store: Store;
  courier: Courier;
  context: () => Context;
  orderProbe: OrderProbe;
  rows: SeenRows;
  secrets: Secrets;
}

type Result = Pick<Diagnosis, 'summary'> & Partial<Diagnosis>;

/**
 * Finds out why a receiver does not accept an IPN, and stores the result with the delivery.
 *
 * @param signal ends it before its next request
 * @throws GatewayError `wrong_state` if the IPN is forged, has no payment, or does not tell the payment's state;
 *   `invalid_fields` for a probe without a condition, or a condition without a probe
 */
export async function diagnose(
  delivery: Delivery,
  { automatic = false, probeUrl, paidWhen }: DiagnoseInput,
  signal: AbortSignal,
  { store, courier, context, orderProbe, rows, secrets: { mask } }: DiagnoseDependencies,
): Promise<Diagnosis> {
  const { merchant, payment } = requireDiagnosable(delivery, store.state);
  const isPaid = await orderProbe({ probeUrl, paidWhen }, payment);
  // A reading for each request takes longer than an automatic diagnosis may.
  const placesChanged = isPaid || automatic ? undefined : await rows.watch(delivery.id);
  const { contentType, signedText, identifier } = delivery;
  const { ipn, settings } = context();
  // The keys may have been replaced since.
  const body = ipn.resigned(delivery.body, signedText, merchant.secretKey) ?? delivery.body;
  const inquiry = new Inquiry({
    identifier,
    isPaid,
    automatic,
    signal,
    mask,
    genuine: { method: 'POST', contentType, body },
    send: (request, timeoutMs, until) =>
      courier.ask(delivery, request, { timeoutMs, signal: until, localOnly: automatic }),
    timeoutMs: settings.ipn.timeoutMs,
  });
  const keys = { ...merchant, merchants: store.state.merchants.values() };
  const { answers } = inquiry;
  let result: Result;
  try {
    result = await findCause(inquiry, keys, placesChanged);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    result = afterStop(inquiry, automatic);
  }
  if (result.accepted !== 'genuine') await inquiry.end();
  const tried = answers.map(({ name, report, words }) => ({
    name,
    status: report.responseStatus,
    answer: mask(report.responseBody ?? words, { most: KEPT_ANSWER }),
  }));
  const nothing = { cause: null, fix: null, mistake: null, accepted: null };
  const diagnosis = { at: timestamp(context().now), ...nothing, ...result, tried };
  await store.commit((state) => recordDiagnosis(state, delivery.id, diagnosis));
  const final = answers.findLast(({ request }) => request === inquiry.genuine);
  if (final?.isAccepted && final.report.failure === null) {
    const attempt = { ...final.report, startedAt: diagnosis.at };
    await store.commit((state) => recordAttempt(state, delivery.id, attempt, context()));
  }
  return diagnosis;
}

type PlacesChanged = (() => Promise<readonly string[]>) | undefined;

async function findCause(inquiry: Inquiry, keys: VerifyKeys, placesChanged: PlacesChanged): Promise<Result> {
  const { genuine } = inquiry;
  const first = await inquiry.begin();
  const { failure, responseHeaders } = first.report;
  if (failure?.code === 'egress') return { summary: `Not sent: ${first.words}. ${fixOfFailure(failure)}` };
  if (first.status === null) {
    const more = inquiry.ranOut(first) ? ` ${MORE_TIME}` : '';
    return { summary: `Your handler cannot be asked: ${first.words}.${more}` };
  }
  if (first.status === 429) throw new Stopped();
  const problem = answerProblem({ status: first.status, headers: responseHeaders, body: first.body });
  // A redirect, a CSRF page, a proxy or an exception answers before any check of the IPN.
  const isCrash = first.status >= 500 && errorPage(first.body) !== undefined;
  const crash =
    problem && problem.tone !== 'warning' && (isCrash || isBeforeHandler(first.status))
      ? { summary: problem.cause, cause: problem.cause, fix: problem.fix, mistake: NOT_THE_SIGNATURE }
      : undefined;
  // The order shows whether a variant pays before the exception.
  if (crash && !(isCrash && (inquiry.isPaid || placesChanged))) return crash;
  const second = await inquiry.ask('genuine', genuine);
  if (second.status !== first.status) {
    return {
      summary: `Cannot tell: your handler answers the same request differently, ${first.words} and then ${second.words}.`,
    };
  }
  inquiry.comparesBodies = second.masked === first.masked;
  const other = aboutUnknownOrder(genuine.body, keys.secretKey);
  inquiry.identifiers.push(other.identifier);
  const signed = await inquiry.ask('unknown-order', other.signed);
  const random = await inquiry.ask('unknown-order-random-signature', other.unsigned);
  if (placesChanged && inquiry.isSame(first, random) && (first.isAccepted || first.status >= 500)) {
    const own = await judgeByRows(inquiry, placesChanged);
    if (own.length) {
      const summary = `Your handler answers everything alike (${first.words}), but the genuine IPN changed your database (${own.slice(0, 3).join(', ')}), and a random signature did not: it accepts the IPN.`;
      return { summary, accepted: 'genuine' };
    }
    first.isAccepted = false;
  }
  if (first.isAccepted && (inquiry.isPaid || !inquiry.isSame(first, random)))
    return { summary: `Your handler accepts the IPN now (${first.words}).`, accepted: 'genuine' };
  if (first.isAccepted) {
    return {
      summary: `Cannot tell: your handler answers everything alike (${first.words}), even a random signature for an order that does not exist. --paid-when judges by the order, with --probe-url or start --db.`,
    };
  }
  if (random.isAccepted && !signed.isAccepted) return { ...NOT_CHECKED, accepted: random.name };
  const variants = variantsOf(genuine.body, keys);
  const { signatures, shapes, readings } = variants;
  if (!inquiry.isSame(signed, random)) {
    const found =
      (await inquiry.amongAdditions(variants, first)) ?? (await inquiry.firstAccepted(readings, first));
    return found ? ofVariant(found, inquiry) : afterSignature(first, signed, random);
  }
  if (problem && ABOUT_SHAPE.has(first.status)) {
    const found = await inquiry.firstAccepted(shapes, first);
    const { cause, fix } = problem;
    if (found) return ofVariant(found, inquiry);
    if (inquiry.unchecked) return ofUnchecked(inquiry.unchecked);
    return { summary: cause, cause, fix, mistake: NOT_THE_SIGNATURE };
  }
  const found =
    (await inquiry.amongAdditions(variants, first)) ??
    (await inquiry.firstAccepted(signatures.slice(0, inquiry.roomFor(shapes)), first)) ??
    (await inquiry.firstAccepted([...shapes, ...readings], first)) ??
    (await inquiry.onlyOneThatDiffers(signatures, first));
  if (found && (await inquiry.acceptsAny(found.variant, signatures)))
    return { ...NOT_CHECKED, accepted: found.variant.name };
  if (found) return ofVariant(found, inquiry);
  const unsigned = await inquiry.ask('random-signature', withRandomSignature(genuine.body));
  if (unsigned.isAccepted) return { ...NOT_CHECKED, accepted: unsigned.name };
  if (!inquiry.isSame(unsigned, first)) return afterSignature(first, first, unsigned);
  return inquiry.unchecked ? ofUnchecked(inquiry.unchecked) : withoutCause(inquiry, first, crash);
}

/**
 * What only the genuine IPN changes in the shop's database, which then decides whether a request paid the order.
 *
 * @returns the places; empty if the genuine IPN changes no more than a random signature
 */
async function judgeByRows(
  inquiry: Inquiry,
  placesChanged: NonNullable<PlacesChanged>,
): Promise<readonly string[]> {
  const places = await placesChanged();
  await inquiry.ask('random-signature', withRandomSignature(inquiry.genuine.body));
  const usual = new Set(await placesChanged());
  const unusual = (some: readonly string[]) => some.filter((place) => !usual.has(place));
  let paid = false;
  inquiry.isPaid = async () => {
    paid ||= unusual(await placesChanged()).length > 0;
    return paid;
  };
  return unusual(places);
}

/** All variants were tried, and none shows the cause. */
function withoutCause({ answers, genuine, isPaid }: Inquiry, first: Answer, crash?: Result): Result {
  const accepted = new Set(answers.flatMap(({ name, isAccepted }) => (isAccepted ? [name] : [])));
  const tried = accepted.size
    ? `${answers.length} variants of the IPN show no cause: what was accepted (${[...accepted].join(', ')}) is accepted without a right signature, too.`
    : `None of ${answers.length} variants of the IPN was accepted.`;
  const reason = genuine.body.startsWith('{')
    ? undefined
    : fixForReason(ownWords(first.report.responseBody ?? '') ?? '');
  if (reason !== undefined) {
    const cause = `Your handler rejects the IPN (${first.words}).`;
    return { summary: `${cause} ${tried}`, cause, fix: reason, mistake: NOT_THE_SIGNATURE };
  }
  if (answers.every(({ status }) => status !== null && status >= 500)) {
    return (
      crash ?? {
        summary: `Your handler fails with all ${answers.length} variants of the IPN. ${isPaid ? 'None of them paid the order, so it probably fails before it checks the signature.' : 'Its answers do not show whether one of them paid the order: --paid-when decides that, with --probe-url or start --db.'}`,
      }
    );
  }
  return {
    summary: `First compare the keys: your shop needs the secret key of this emulator, which gateway-sim keys prints. ${tried} The cause may be a key or a signed text that no variant has, a body that a function gets in base64 and does not decode, an exception that your handler catches, a timestamp check, the look-up of the order, or the comparison of amount, currency and status.`,
  };
}

function ofVariant({ variant, proof }: Found, { answers, genuine }: Inquiry): Result {
  const { name, cause, fix, mistake } = variant;
  const language = languageOf(
    answers.map(({ report }) => ({ headers: report.responseHeaders, body: report.responseBody ?? '' })),
  );
  const isSignature = mistake !== null && isSignatureMistake(mistake);
  const code = isSignature ? signatureCode(genuine.body) : undefined;
  const line = code && language ? ` In ${language}: \`${code[language]}\`.` : '';
  return {
    summary: `${cause} ${proof}`,
    cause,
    fix: fix + line,
    mistake: mistake ?? NOT_THE_SIGNATURE,
    accepted: name,
  };
}

function afterStop(inquiry: Inquiry, automatic: boolean): Result {
  const { answers, unchecked } = inquiry;
  if (unchecked) return ofUnchecked(unchecked);
  const last = answers.at(-1);
  const count = pluralize(answers.length, 'request');
  const isLate = answers.some((answer) => inquiry.ranOut(answer));
  if (!isLate && last?.status === 429)
    return { summary: 'Your shop limits the rate of requests (429): exempt the route of ipn_url.' };
  if (!isLate && last && last.status === null) {
    const summary = `Your handler stopped answering after ${count}, at the request “${last.name}”: ${last.words}.`;
    return { summary };
  }
  const summary = `Stopped after ${count}, before a cause was found.`;
  return { summary: automatic ? `${summary} ${MORE_TIME}` : summary };
}

/** Statuses that say that the method or the content type is wrong, and not what the IPN says. */
const ABOUT_SHAPE: ReadonlySet<number> = new Set([405, 415, 501]);

/** Statuses of a framework or a server in front of the handler. */
const isBeforeHandler = (status: number) =>
  (status >= 300 && status < 400 && status !== 304) || status === 419;

const MORE_TIME = 'ipn diagnose has more time.';

/** The payment of an IPN that can be diagnosed, and the merchant whose key signs it. @throws GatewayError `wrong_state` */
function requireDiagnosable(delivery: Delivery, state: State): { merchant: Merchant; payment: Payment } {
  const { id, signedWith, merchantId } = delivery;
  const payment = delivery.paymentId === null ? undefined : state.payments.get(delivery.paymentId);
  const merchant = state.merchants.get(merchantId);
  const no = (why: string) =>
    new GatewayError('wrong_state', `IPN ${id} cannot be diagnosed: ${why}`, {
      hint: hint`Diagnose the IPN of a settled payment: ${command('pay', '--approve')}, then ${command('ipn diagnose')}`,
    });
  if (signedWith === '') throw no('it was tampered with, so a receiver must reject it');
  if (!payment) throw no('it has no payment, so no order can be paid by it');
  if (!merchant) throw no('the merchant that signed it no longer exists');
  if (!tellsState(delivery, payment)) throw no(`its payment is ${payment.status} by now`);
  return { merchant, payment };
}

const NOT_THE_SIGNATURE = 'not-the-signature';

/** The receiver checks the signature as it should, and rejects the genuine IPN later. */
function afterSignature(genuine: Answer, right: Answer, random: Answer): Result {
  const which = right === genuine ? 'the genuine IPN' : 'the right signature of an order that does not exist';
  const cause = `Your handler checks the signature correctly, and rejects the IPN after that (${genuine.words}).`;
  const words = ownWords(genuine.body) ?? '';
  return {
    summary: `${cause} It answered ${which} with ${right.words}, and a random signature with ${random.words}.`,
    cause,
    fix:
      fixForReason(words) ??
      checkNamedIn(words)?.how ??
      'Check how your handler looks up the order, and how it compares amount, currency and status.',
    mistake: NOT_THE_SIGNATURE,
  };
}

const ACCEPTS_WRONG = 'Your handler accepts wrong signatures, but not the right one.';
const NOT_CHECKED = {
  summary: ACCEPTS_WRONG,
  cause: ACCEPTS_WRONG,
  fix: 'Reject the IPN if the expected signature differs from the one in the IPN, and accept it only if they are equal.',
  mistake: 'signature-not-checked',
};

/** The receiver reads another form of the request than an IPN has, and accepts it with any signature. */
function ofUnchecked({ name, cause: form, fix }: IpnVariant): Result {
  const cause = `${form} It checks no signature: it accepts the same with a random one.`;
  const { fix: check, mistake } = NOT_CHECKED;
  return { summary: cause, cause, fix: `${fix} Then check the signature: ${check}`, mistake, accepted: name };
}
