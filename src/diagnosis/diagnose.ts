import { setTimeout as pause } from 'node:timers/promises';
import { describeFailure, fixOfFailure } from '../contract/describe-delivery.ts';
import { type DiagnoseInput, type Diagnosis, KEPT_ANSWER } from '../contract/diagnosis.ts';
import { command, GatewayError, hint } from '../contract/error.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { Secrets } from '../contract/secrets.ts';
import { timestamp } from '../contract/time.ts';
import type { Courier } from '../delivery/courier.ts';
import { type AttemptReport, recordAttempt, recordDiagnosis, tellsState } from '../domain/delivery.ts';
import type { IpnRequest } from '../domain/ipn.ts';
import type { Context } from '../domain/settings.ts';
import type { Delivery, Payment, State } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import { isSignatureMistake } from './mistakes.ts';
import {
  answerProblem,
  checkNamedIn,
  errorPage,
  fixForReason,
  languageOf,
  saysRefused,
} from './receiver-answer.ts';
import { ownWords } from './receiver-words.ts';
import type { SeenRows } from './seen-rows.ts';
import { signatureCode } from './signature-code.ts';
import type { IpnVariant, IpnVariants } from './variants.ts';
import { aboutUnknownOrder, variantsOf, withRandomSignature } from './variants.ts';

/*
 * Asks a receiver why it does not accept an IPN. We hold the key, so an IPN can be signed as each mistaken code would
 * sign it, and the receiver says which one it accepts. The payment is really paid, so an accepted one is right. Some
 * shops undo an order on a wrong signature, so the genuine IPN is sent last.
 */

/** Maximum number of requests, one after another. */
const MAX_REQUESTS = 60;
/** Real time for a diagnosis. Clients give up after five minutes (chosen). */
const BY_HAND_MS = 240_000;
/** Real time for an automatic diagnosis, which runs in a test. Most test runners stop a test at 5 s. */
const AUTOMATIC_MS = 3_000;
/** Requests that are kept for the end: a proof, a random signature and the genuine IPN. */
const KEPT_BACK = 3;
/** Requests that are kept for readings. */
const LIKELY_READINGS = 7;
/** Real time that each of those kept back may need. */
const SHORT_MS = 100;

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

/** How the receiver answered a request. */
interface Answer {
  name: string;
  report: AttemptReport;
  /** Whether it took the IPN for genuine: the order is paid, or without a probe, it answered 2xx without an objection. */
  isAccepted: boolean;
  status: number | null;
  /** Without secrets. */
  body: string;
  /** The body without what was sent, identifiers, digests, times and numbers. */
  masked: string;
  /** In words: the status and the receiver's own message. */
  words: string;
  request: IpnRequest;
}

type Result = Pick<Diagnosis, 'summary'> & Partial<Diagnosis>;

/** Ends a diagnosis early: its requests, its time or its receiver is exhausted. */
class Stopped extends Error {}

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
  let isPaid = await orderProbe({ probeUrl, paidWhen }, payment);
  // A reading for each request takes longer than an automatic diagnosis may.
  const placesChanged = isPaid || automatic ? undefined : await rows.watch(delivery.id);
  const { secretKey } = merchant;
  const keys = { ...merchant, merchants: store.state.merchants.values() };
  const { contentType, signedText } = delivery;
  // The keys may have been replaced since.
  const body = context().ipn.resigned(delivery.body, signedText, secretKey) ?? delivery.body;
  const genuine: IpnRequest = { method: 'POST', contentType, body };
  const answers: Answer[] = [];
  /** Whether equal requests get equal bodies. Otherwise only statuses are compared. */
  let comparesBodies = true;
  /** A form of the request that the receiver reads, without a check of its signature. */
  let unchecked: IpnVariant | undefined;
  const empty = new Map<string, Answer>();
  const endsAt = performance.now() + (automatic ? AUTOMATIC_MS : BY_HAND_MS);
  // As for an IPN, so that a slow handler is asked, too.
  const { timeoutMs } = context().settings.ipn;
  /** Whether a request was given up earlier than an IPN. */
  const ranOut = ({ report: { failure } }: Answer) =>
    failure?.code === 'timed_out' && failure.limitMs < timeoutMs;
  let identifiers = [delivery.identifier];

  const isSame = (one: Answer, other: Answer) =>
    one.status === other.status && (!comparesBodies || one.masked === other.masked);

  async function ask(name: string, request: IpnRequest, reserve = 0): Promise<Answer> {
    const leftMs = endsAt - performance.now();
    if (signal.aborted || answers.length >= MAX_REQUESTS - reserve || leftMs < reserve * SHORT_MS)
      throw new Stopped();
    const answer = await send(name, request, Math.min(timeoutMs, leftMs), signal);
    if (signal.aborted) throw new Stopped();
    // Nothing that it answers now, or no longer answers, says anything about the IPN.
    const isGone = answer.status === null && !(isCutOff(answer) && answers.at(-2)?.status !== null);
    if (isGone || answer.status === 429) throw new Stopped();
    return answer;
  }

  async function send(name: string, request: IpnRequest, limitMs: number, until: AbortSignal) {
    const limits = { timeoutMs: limitMs, signal: until, localOnly: automatic };
    const report = await courier.ask(delivery, request, limits);
    const { responseStatus: status, failure } = report;
    const text = mask(report.responseBody ?? '');
    const problem = answerProblem({ status, headers: report.responseHeaders, body: text });
    const isFine = failure === null && !saysRefused(text) && (!problem || problem.tone === 'warning');
    const paid = isPaid && (await isPaidSoon(isPaid));
    const said = status === null && failure ? mask(describeFailure(failure, report)) : ownWords(text);
    const answer = {
      name,
      request,
      report,
      isAccepted: paid ?? isFine,
      status,
      body: text,
      masked: masked(text, [...sentIn(request), ...identifiers]),
      words: [status, said && (status === null ? said : `“${said}”`)].filter(Boolean).join(' '),
    };
    answers.push(answer);
    return answer;
  }

  /**
   * The first variant that the receiver accepts, with the proof: it accepts it again, or the order is paid meanwhile and
   * it answers otherwise; and it does not accept the same request without the right signature or order.
   */
  async function firstAccepted(variants: readonly IpnVariant[], first: Answer): Promise<Found | undefined> {
    for (const variant of variants) {
      if (answers.length >= MAX_REQUESTS - KEPT_BACK) return undefined;
      const answer = await ask(variant.name, variant.request, KEPT_BACK);
      if (!answer.isAccepted) continue;
      if (isPaid) return { variant, proof: 'Proof: a copy changed to fit this mistake paid the order.' };
      if (variant.control && (await ask(`${variant.name}-control`, variant.control)).isAccepted) {
        if (variant.mistake !== null && !(await acceptsEmpty(variant.request))) unchecked ??= variant;
        continue;
      }
      const again = await ask(variant.name, variant.request);
      if (again.isAccepted)
        return { variant, proof: 'Proof: your handler twice accepted a copy changed to fit this mistake.' };
      if (isSame(again, first)) continue;
      const proof = `Proof: your handler accepted a copy changed to fit this mistake, and returned ${again.words} to the same again.`;
      return { variant, proof };
    }
    return undefined;
  }

  /** A receiver that accepts a request without an IPN may not read the form of the IPN at all. */
  async function acceptsEmpty({ method }: IpnRequest): Promise<boolean> {
    const request = { method, contentType: method === 'GET' ? null : contentType, body: '' };
    const answer = empty.get(method) ?? (await ask(`empty-${method}`, request));
    empty.set(method, answer);
    return answer.isAccepted;
  }

  /** The addition without which the receiver does not accept the IPN. Halves them until it is the only one. */
  async function amongAdditions(
    { additions, together }: IpnVariants,
    first: Answer,
  ): Promise<Found | undefined> {
    // The order stays paid after the first request that is accepted.
    if (isPaid) return firstAccepted(additions, first);
    const isEnough = async (some: readonly IpnVariant[]) =>
      (await ask('additions', together(some), KEPT_BACK)).isAccepted;
    if (!additions.length || !(await isEnough(additions))) return undefined;
    let left = additions;
    while (left.length > 1) {
      const half = left.slice(0, left.length / 2);
      left = (await isEnough(half)) ? half : left.slice(half.length);
    }
    return firstAccepted(left, first);
  }

  const answered = () =>
    answers.map(({ report }) => ({ headers: report.responseHeaders, body: report.responseBody ?? '' }));

  /** Whether the receiver accepts another wrong signature, too, but still not the right one. */
  async function acceptsAny(accepted: IpnVariant, signatures: readonly IpnVariant[]): Promise<boolean> {
    // Only the first variant has no rejected one before it.
    const other = signatures[0] === accepted && signatures.find(({ name }) => name !== accepted.name);
    if (!other || !(await ask(other.name, other.request)).isAccepted) return false;
    return !(await ask('genuine', genuine)).isAccepted;
  }

  async function find(): Promise<Result> {
    const first = await send('genuine', genuine, Math.min(timeoutMs, endsAt - performance.now()), signal);
    const { failure, responseHeaders } = first.report;
    if (failure?.code === 'egress') return { summary: `Not sent: ${first.words}. ${fixOfFailure(failure)}` };
    if (first.status === null) {
      const more = ranOut(first) ? ` ${MORE_TIME}` : '';
      return { summary: `Your handler cannot be asked: ${first.words}.${more}` };
    }
    if (first.status === 429) throw new Stopped();
    const problem = answerProblem({
      status: first.status,
      headers: responseHeaders,
      body: first.body,
    });
    // A redirect, a CSRF page, a proxy or an exception answers before any check of the IPN.
    const isCrash = first.status >= 500 && errorPage(first.body) !== undefined;
    const crash =
      problem && problem.tone !== 'warning' && (isCrash || isBeforeHandler(first.status))
        ? { summary: problem.cause, cause: problem.cause, fix: problem.fix, mistake: NOT_THE_SIGNATURE }
        : undefined;
    // The order shows whether a variant pays before the exception.
    if (crash && !(isCrash && (isPaid || placesChanged))) return crash;
    const second = await ask('genuine', genuine);
    if (second.status !== first.status) {
      return {
        summary: `Cannot tell: your handler answers the same request differently, ${first.words} and then ${second.words}.`,
      };
    }
    comparesBodies = second.masked === first.masked;
    const other = aboutUnknownOrder(body, secretKey);
    identifiers = [...identifiers, other.identifier];
    const signed = await ask('unknown-order', other.signed);
    const random = await ask('unknown-order-random-signature', other.unsigned);
    if (placesChanged && isSame(first, random) && (first.isAccepted || first.status >= 500)) {
      const places = await placesChanged();
      await ask('random-signature', withRandomSignature(body));
      const usual = new Set(await placesChanged());
      const unusual = (some: readonly string[]) => some.filter((place) => !usual.has(place));
      const own = unusual(places);
      if (own.length) return { summary: acceptedBy(own, first), accepted: 'genuine' };
      let paid = false;
      isPaid = async () => {
        paid ||= unusual(await placesChanged()).length > 0;
        return paid;
      };
      first.isAccepted = false;
    }
    if (first.isAccepted && (isPaid || !isSame(first, random)))
      return { summary: `Your handler accepts the IPN now (${first.words}).`, accepted: 'genuine' };
    if (first.isAccepted) {
      return {
        summary: `Cannot tell: your handler answers everything alike (${first.words}), even a random signature for an order that does not exist. --paid-when judges by the order, with --probe-url or start --db.`,
      };
    }
    if (random.isAccepted && !signed.isAccepted) return { ...NOT_CHECKED, accepted: random.name };
    const variants = variantsOf(body, keys);
    const { signatures, shapes, readings } = variants;
    if (!isSame(signed, random)) {
      const found = (await amongAdditions(variants, first)) ?? (await firstAccepted(readings, first));
      return found ? ofVariant(found) : afterSignature(first, signed, random);
    }
    if (problem && ABOUT_SHAPE.has(first.status)) {
      const found = await firstAccepted(shapes, first);
      const { cause, fix } = problem;
      if (found) return ofVariant(found);
      return unchecked ? ofUnchecked(unchecked) : { summary: cause, cause, fix, mistake: NOT_THE_SIGNATURE };
    }
    const added = await amongAdditions(variants, first);
    const most = MAX_REQUESTS - KEPT_BACK - answers.length - shapes.length - LIKELY_READINGS;
    const found =
      added ??
      (await firstAccepted(signatures.slice(0, most), first)) ??
      (await firstAccepted([...shapes, ...readings], first)) ??
      (await onlyOneThatDiffers(signatures, first));
    if (found && (await acceptsAny(found.variant, signatures)))
      return { ...NOT_CHECKED, accepted: found.variant.name };
    if (found) return ofVariant(found);
    const unsigned = await ask('random-signature', withRandomSignature(body));
    if (unsigned.isAccepted) return { ...NOT_CHECKED, accepted: unsigned.name };
    if (!isSame(unsigned, first)) return afterSignature(first, first, unsigned);
    if (unchecked) return ofUnchecked(unchecked);
    const accepted = new Set(answers.flatMap(({ name, isAccepted }) => (isAccepted ? [name] : [])));
    const tried = accepted.size
      ? `${answers.length} variants of the IPN show no cause: what was accepted (${[...accepted].join(', ')}) is accepted without a right signature, too.`
      : `None of ${answers.length} variants of the IPN was accepted.`;
    const reason = body.startsWith('{')
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

  /** The only signature that the receiver answers in another way, twice: it passed the check and failed later. */
  async function onlyOneThatDiffers(
    signatures: readonly IpnVariant[],
    first: Answer,
  ): Promise<Found | undefined> {
    const tried = signatures.flatMap((variant) => {
      const answer = answers.find(({ request }) => request === variant.request);
      return answer ? [{ variant, answer }] : [];
    });
    const [only, another] = tried.filter(({ answer }) => !isSame(answer, first));
    // A receiver that fails at every signature but one may also reject that one.
    const isCrash = (status: number | null) => (status ?? 500) >= 500;
    if (!only || another || tried.length < 3 || isCrash(only.answer.status) || isCrash(first.status))
      return undefined;
    const again = await ask(only.variant.name, only.variant.request);
    if (!isSame(again, only.answer)) return undefined;
    const proof = `Only the IPN that was signed that way passed the check, twice. It was then rejected: ${again.words}.`;
    return { variant: only.variant, proof };
  }

  function ofVariant({ variant, proof }: Found): Result {
    const { name, cause, fix, mistake } = variant;
    const language = languageOf(answered());
    const isSignature = mistake !== null && isSignatureMistake(mistake);
    const code = isSignature ? signatureCode(body) : undefined;
    const line = code && language ? ` In ${language}: \`${code[language]}\`.` : '';
    return {
      summary: `${cause} ${proof}`,
      cause,
      fix: fix + line,
      mistake: mistake ?? NOT_THE_SIGNATURE,
      accepted: name,
    };
  }

  let result: Result;
  try {
    result = await find();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const more = automatic ? ` ${MORE_TIME}` : '';
    const summary = answers.some(ranOut) ? `${stoppedAfter(answers)}${more}` : whyStopped(answers, more);
    result = unchecked ? ofUnchecked(unchecked) : { summary };
  }
  const last = answers.at(-1);
  const mayAsk = last && (last.status !== null || isCutOff(last) || ranOut(last)) && last.status !== 429;
  // Also after the client has gone: a variant must not be what the shop saw last.
  if (mayAsk && answers.length > 2 && result.accepted !== 'genuine')
    await send('genuine', genuine, timeoutMs, new AbortController().signal);
  const tried = answers.map(({ name, report, words }) => ({
    name,
    status: report.responseStatus,
    answer: mask(report.responseBody ?? words, { most: KEPT_ANSWER }),
  }));
  const nothing = { cause: null, fix: null, mistake: null, accepted: null };
  const diagnosis = { at: timestamp(context().now), ...nothing, ...result, tried };
  await store.commit((state) => recordDiagnosis(state, delivery.id, diagnosis));
  const final = answers.findLast(({ request }) => request === genuine);
  if (final?.isAccepted && final.report.failure === null) {
    const attempt = { ...final.report, startedAt: diagnosis.at };
    await store.commit((state) => recordAttempt(state, delivery.id, attempt, context()));
  }
  return diagnosis;
}

/** The receiver pays the order, and its answer does not show it. @param places what the genuine IPN changed */
const acceptedBy = (places: readonly string[], { words }: Answer) =>
  `Your handler answers everything alike (${words}), but the genuine IPN changed your database (${places.slice(0, 3).join(', ')}), and a random signature did not: it accepts the IPN.`;

/** A variant that the receiver accepts, and what proves it. */
interface Found {
  variant: IpnVariant;
  proof: string;
}

/** Statuses that say that the method or the content type is wrong, and not what the IPN says. */
const ABOUT_SHAPE: ReadonlySet<number> = new Set([405, 415, 501]);

/** Whether the receiver failed at a request, and may answer the next. */
const isCutOff = ({ report: { failure } }: Answer) => failure?.code === 'connection_reset';

/** Statuses of a framework or a server in front of the handler. */
const isBeforeHandler = (status: number) =>
  (status >= 300 && status < 400 && status !== 304) || status === 419;

const MORE_TIME = 'ipn diagnose has more time.';

function stoppedAfter({ length }: readonly Answer[]): string {
  return `Stopped after ${length === 1 ? '1 request' : `${length} requests`}, before a cause was found.`;
}

/** @param more what an automatic diagnosis adds if its time is over */
function whyStopped(answers: readonly Answer[], more: string): string {
  const last = answers.at(-1);
  if (last?.status === 429)
    return 'Your shop limits the rate of requests (429): exempt the route of ipn_url.';
  if (last && last.status === null)
    return `Your handler stopped answering after ${answers.length} requests, at the request “${last.name}”: ${last.words}.`;
  return stoppedAfter(answers) + more;
}

/** Time for a queue of the shop to mark the order as paid. */
const QUEUE_MS = 250;
const POLL_MS = 25;

async function isPaidSoon(isPaid: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + QUEUE_MS;
  while (!(await isPaid())) {
    if (performance.now() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}

/** What a receiver may repeat in its answer, and what differs in each request: the body and the signature. */
function sentIn({ body }: IpnRequest): string[] {
  const [, signature = ''] = /\bsignature(?:=|":")([^&"]*)/.exec(body) ?? [];
  return [body, signature, new URLSearchParams(`signature=${signature}`).get('signature') ?? ''].filter(
    Boolean,
  );
}

/** A body without what differs between equal outcomes: values that are known, digests, times and numbers. */
function masked(body: string, values: readonly string[]): string {
  const text = values.reduce((before, value) => before.replaceAll(value, '…'), body);
  return text.replace(/[0-9a-f]{16,}/gi, '…').replace(/\d+/g, '0');
}

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
  return {
    summary: `${cause} It answered ${which} with ${right.words}, and a random signature with ${random.words}.`,
    cause,
    fix: fixAfterSignature(genuine.body),
    mistake: NOT_THE_SIGNATURE,
  };
}

/** Advice by what the receiver itself says. */
function fixAfterSignature(answer: string): string {
  const words = ownWords(answer) ?? '';
  return (
    fixForReason(words) ??
    checkNamedIn(words)?.how ??
    'Check how your handler looks up the order, and how it compares amount, currency and status.'
  );
}

const NOT_CHECKED = {
  summary: 'Your handler accepts wrong signatures, but not the right one.',
  cause: 'Your handler accepts wrong signatures, but not the right one.',
  fix: 'Reject the IPN if the expected signature differs from the one in the IPN, and accept it only if they are equal.',
  mistake: 'signature-not-checked',
};

/** The receiver reads another form of the request than an IPN has, and accepts it with any signature. */
function ofUnchecked({ name, cause: form, fix }: IpnVariant): Result {
  const cause = `${form} It checks no signature: it accepts the same with a random one.`;
  const { fix: check, mistake } = NOT_CHECKED;
  return { summary: cause, cause, fix: `${fix} Then check the signature: ${check}`, mistake, accepted: name };
}
