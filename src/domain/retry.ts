import { TAMPERED } from '../contract/tampering.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { Context } from './settings.ts';
import type { Attempt, Delivery, Outcome, State } from './state.ts';

/** What one attempt brought, before it has an id and a number. */
export type AttemptReport = Omit<Attempt, 'id' | 'deliveryId' | 'number' | 'startedAt'>;

/** A retry comes at most this much earlier than planned, so that many due at once spread out (chosen). */
const JITTER = 0.1;

type Facts = AttemptReport & { startedAt: string };

/** The delivery as it is now; none where a reset took it away while it was on its way. */
type Recorded = Outcome<Delivery | undefined>;

/** Rule: an attempt is kept, and decides whether the delivery is done, given up, or tried again and when. */
export function recordAttempt(
  state: State,
  deliveryId: string,
  { refused, ...facts }: Facts & { refused: boolean },
  context: Context,
): Recorded {
  return keep(state, deliveryId, facts, context, (delivery) => {
    const attempts = state.attemptsOf(deliveryId);
    return attempts.some(({ error }) => error === null)
      ? resendVerdict(facts, delivery, refused)
      : verdict(facts, delivery, refused, context);
  });
}

/** Rule: an attempt beyond those that count, such as a duplicate, is kept and decides nothing. */
export function recordExtraAttempt(
  state: State,
  deliveryId: string,
  facts: Facts,
  context: Context,
): Recorded {
  return keep(state, deliveryId, facts, context, () => ({}));
}

function keep(
  state: State,
  deliveryId: string,
  facts: Facts,
  { ids }: Context,
  decide: (delivery: Delivery) => Partial<Delivery>,
): Recorded {
  const delivery = state.deliveries.get(deliveryId);
  if (!delivery) return { change: {}, result: undefined };
  const number = delivery.attemptCount + 1;
  const attempt: Attempt = { id: ids.attempt(), deliveryId, number, ...facts };
  const updated = { ...delivery, attemptCount: number, ...decide(delivery) };
  return { change: { attempts: [attempt], deliveries: [updated] }, result: updated };
}

/** Rule: a delivery goes out at another time than planned. */
export function postpone(state: State, deliveryId: string, at: number, why: string): Recorded {
  const delivery = state.deliveries.get(deliveryId);
  if (delivery?.state !== 'pending') return { change: {}, result: undefined };
  const moved = { ...delivery, nextAttemptAt: timestamp(at), note: noteOf(why, delivery) };
  return { change: { deliveries: [moved] }, result: moved };
}

/** What a note begins with when the egress guard blocks what was delivered before. */
const RESEND_REFUSED = 'a resend was refused: ';

/** Whether the egress guard blocked the last attempt. */
export function wasRefused({ state, note }: Delivery): boolean {
  return state === 'refused' || (note?.startsWith(RESEND_REFUSED) ?? false);
}

/** What arrived once stays delivered, and is not tried again by itself: the receiver has it (chosen: ipn-answer-ignored). */
function resendVerdict({ error }: AttemptReport, delivery: Delivery, refused: boolean): Verdict {
  const problem = error && (refused ? RESEND_REFUSED : 'a resend failed: ') + error;
  return { state: 'delivered', nextAttemptAt: null, note: noteOf(problem, delivery) };
}

type Verdict = Pick<Delivery, 'state' | 'nextAttemptAt' | 'note'>;

function verdict(
  report: AttemptReport,
  delivery: Delivery,
  refused: boolean,
  { settings, ids, now }: Context,
): Verdict {
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

const LASTING = new RegExp(`(${SIGNED_ANEW}|${TAMPERED}.*)$`, 's');

function noteOf(problem: string | null, { note }: Delivery): string | null {
  const parts = [problem, note && (LASTING.exec(note)?.[0] ?? null)];
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
