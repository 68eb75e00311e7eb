import { setTimeout as pause } from 'node:timers/promises';
import { describeFailure } from '../contract/describe-delivery.ts';
import type { Mask } from '../contract/secrets.ts';
import type { AttemptReport } from '../domain/delivery.ts';
import type { IpnRequest } from '../domain/ipn.ts';
import { answerProblem, saysRefused } from './receiver-answer.ts';
import { ownWords } from './receiver-words.ts';
import type { IpnVariant, IpnVariants } from './variants.ts';

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

/** How the receiver answered a request. */
export interface Answer {
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

/** Ends a diagnosis early: its requests, its time or its receiver is exhausted. */
export class Stopped extends Error {}

/** A variant that the receiver accepts, and what proves it. */
export interface Found {
  variant: IpnVariant;
  proof: string;
}

/** What an inquiry needs to know, and how it sends. */
interface InquirySetting {
  /** The right IPN. */
  genuine: IpnRequest;
  identifier: string;
  /** Whether the order is paid; undefined if only the answers tell. */
  isPaid: (() => Promise<boolean>) | undefined;
  send: (request: IpnRequest, limitMs: number, signal: AbortSignal) => Promise<AttemptReport>;
  /** Of an IPN, so that a slow handler is asked, too. */
  timeoutMs: number;
  /** Without somebody who waits for it. */
  automatic: boolean;
  /** Ends it before its next request. */
  signal: AbortSignal;
  mask: Mask;
}

/** The questions to one receiver, and its answers. Limits their number and time. */
export class Inquiry {
  readonly #setting: InquirySetting;
  readonly #endsAt: number;
  readonly #empty = new Map<string, Answer>();
  readonly answers: Answer[] = [];
  readonly genuine: IpnRequest;
  isPaid: InquirySetting['isPaid'];
  /** Whether equal requests get equal bodies. Otherwise only statuses are compared. */
  comparesBodies = true;
  /** A form of the request that the receiver reads, without a check of its signature. */
  unchecked: IpnVariant | undefined;
  /** Of the orders that were asked about. */
  readonly identifiers: string[];

  constructor(setting: InquirySetting) {
    this.#setting = setting;
    this.#endsAt = performance.now() + (setting.automatic ? AUTOMATIC_MS : BY_HAND_MS);
    this.genuine = setting.genuine;
    this.isPaid = setting.isPaid;
    this.identifiers = [setting.identifier];
  }

  get #leftMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Whether a request was given up earlier than an IPN. */
  ranOut({ report: { failure } }: Answer): boolean {
    return failure?.code === 'timed_out' && failure.limitMs < this.#setting.timeoutMs;
  }

  isSame(one: Answer, other: Answer): boolean {
    return one.status === other.status && (!this.comparesBodies || one.masked === other.masked);
  }

  /** @param reserve requests that must stay possible @throws Stopped */
  async ask(name: string, request: IpnRequest, reserve = 0): Promise<Answer> {
    const { signal } = this.#setting;
    const isOver = this.answers.length >= MAX_REQUESTS - reserve || this.#leftMs < reserve * SHORT_MS;
    if (signal.aborted || isOver) throw new Stopped();
    const answer = await this.#send(name, request, Math.min(this.#setting.timeoutMs, this.#leftMs), signal);
    if (signal.aborted) throw new Stopped();
    // Nothing that it answers now, or no longer answers, says anything about the IPN.
    const isGone = answer.status === null && !(isCutOff(answer) && this.answers.at(-2)?.status !== null);
    if (isGone || answer.status === 429) throw new Stopped();
    return answer;
  }

  /** Sends the genuine IPN, whatever becomes of it. */
  begin(): Promise<Answer> {
    const { timeoutMs, signal } = this.#setting;
    return this.#send('genuine', this.genuine, Math.min(timeoutMs, this.#leftMs), signal);
  }

  /** Sends the genuine IPN last, also after the client has gone: a variant must not be what the shop saw last. */
  async end(): Promise<void> {
    const last = this.answers.at(-1);
    const mayAsk =
      last && (last.status !== null || isCutOff(last) || this.ranOut(last)) && last.status !== 429;
    if (!mayAsk || this.answers.length <= 2) return;
    await this.#send('genuine', this.genuine, this.#setting.timeoutMs, new AbortController().signal);
  }

  async #send(name: string, request: IpnRequest, limitMs: number, until: AbortSignal): Promise<Answer> {
    const { mask } = this.#setting;
    const report = await this.#setting.send(request, limitMs, until);
    const { responseStatus: status, failure } = report;
    const text = mask(report.responseBody ?? '');
    const problem = answerProblem({ status, headers: report.responseHeaders, body: text });
    const isFine = failure === null && !saysRefused(text) && (!problem || problem.tone === 'warning');
    const paid = this.isPaid && (await isPaidSoon(this.isPaid));
    const said = status === null && failure ? mask(describeFailure(failure, report)) : ownWords(text);
    const answer = {
      name,
      request,
      report,
      isAccepted: paid ?? isFine,
      status,
      body: text,
      masked: masked(text, [...sentIn(request), ...this.identifiers]),
      words: [status, said && (status === null ? said : `“${said}”`)].filter(Boolean).join(' '),
    };
    this.answers.push(answer);
    return answer;
  }

  /**
   * The first variant that the receiver accepts, with the proof: it accepts it again, or the order is paid meanwhile and
   * it answers otherwise; and it does not accept the same request without the right signature or order.
   */
  async firstAccepted(variants: readonly IpnVariant[], first: Answer): Promise<Found | undefined> {
    for (const variant of variants) {
      if (this.answers.length >= MAX_REQUESTS - KEPT_BACK) return undefined;
      const answer = await this.ask(variant.name, variant.request, KEPT_BACK);
      if (!answer.isAccepted) continue;
      if (this.isPaid) return { variant, proof: 'Proof: a copy changed to fit this mistake paid the order.' };
      if (variant.control && (await this.ask(`${variant.name}-control`, variant.control)).isAccepted) {
        if (variant.mistake !== null && !(await this.#acceptsEmpty(variant.request)))
          this.unchecked ??= variant;
        continue;
      }
      const again = await this.ask(variant.name, variant.request);
      if (again.isAccepted)
        return { variant, proof: 'Proof: your handler twice accepted a copy changed to fit this mistake.' };
      if (this.isSame(again, first)) continue;
      const proof = `Proof: your handler accepted a copy changed to fit this mistake, and returned ${again.words} to the same again.`;
      return { variant, proof };
    }
    return undefined;
  }

  /** A receiver that accepts a request without an IPN may not read the form of the IPN at all. */
  async #acceptsEmpty({ method }: IpnRequest): Promise<boolean> {
    const { contentType } = this.genuine;
    const request = { method, contentType: method === 'GET' ? null : contentType, body: '' };
    const answer = this.#empty.get(method) ?? (await this.ask(`empty-${method}`, request));
    this.#empty.set(method, answer);
    return answer.isAccepted;
  }

  /** The addition without which the receiver does not accept the IPN. Asks about each only if all together are accepted. */
  async amongAdditions({ additions, together }: IpnVariants, first: Answer): Promise<Found | undefined> {
    // The order stays paid after the first request that is accepted.
    const mayHelp =
      additions.length && (this.isPaid || (await this.ask('additions', together, KEPT_BACK)).isAccepted);
    return mayHelp ? this.firstAccepted(additions, first) : undefined;
  }

  /** Whether the receiver accepts another wrong signature, too, but still not the right one. */
  async acceptsAny(accepted: IpnVariant, signatures: readonly IpnVariant[]): Promise<boolean> {
    // Only the first variant has no rejected one before it.
    const other = signatures[0] === accepted && signatures.find(({ name }) => name !== accepted.name);
    if (!other || !(await this.ask(other.name, other.request)).isAccepted) return false;
    return !(await this.ask('genuine', this.genuine)).isAccepted;
  }

  /** How many signatures can be tried before what must be tried after them. */
  roomFor(shapes: readonly IpnVariant[]): number {
    return MAX_REQUESTS - KEPT_BACK - this.answers.length - shapes.length - LIKELY_READINGS;
  }

  /** The only signature that the receiver answers in another way, twice: it passed the check and failed later. */
  async onlyOneThatDiffers(signatures: readonly IpnVariant[], first: Answer): Promise<Found | undefined> {
    const tried = signatures.flatMap((variant) => {
      const answer = this.answers.find(({ request }) => request === variant.request);
      return answer ? [{ variant, answer }] : [];
    });
    const [only, another] = tried.filter(({ answer }) => !this.isSame(answer, first));
    // A receiver that fails at every signature but one may also reject that one.
    const isCrash = (status: number | null) => (status ?? 500) >= 500;
    if (!only || another || tried.length < 3 || isCrash(only.answer.status) || isCrash(first.status))
      return undefined;
    const again = await this.ask(only.variant.name, only.variant.request);
    if (!this.isSame(again, only.answer)) return undefined;
    const proof = `Only the IPN that was signed that way passed the check, twice. It was then rejected: ${again.words}.`;
    return { variant: only.variant, proof };
  }
}

/** Whether the receiver failed at a request, and may answer the next. */
const isCutOff = ({ report: { failure } }: Answer) => failure?.code === 'connection_reset';

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
