import { describeBriefly, insteadOfSending } from '../contract/describe-delivery.ts';
import type { Tone } from '../contract/verdict.ts';
import { saysRefused } from '../domain/receiver-answer.ts';
import type { Attempt, Delivery, Payment } from '../domain/state.ts';
import {
  signerOf,
  type VerdictDependencies,
  verdictOnAttempt,
  verdictOnDelivery,
  verdictOnFault,
  verdictOnForgery,
} from './verdict.ts';

/** What the shop did with an IPN. Every badge, drawing, tab and count is made from this. */
export interface ShopState {
  /** `none`: no IPN reached the shop. `waiting`: one is still to come. */
  state: 'accepted' | 'rejected' | 'failed' | 'unreachable' | 'forgery-accepted' | 'waiting' | 'none';
  /** In a few words, after "Your shop". */
  words: string;
  tone: Tone;
}

type AttemptState = Pick<ShopState, 'state' | 'words'>;

/** What the shop did in one attempt of an IPN. */
function stateOfAttempt(delivery: Delivery, attempt: Attempt, parts: VerdictDependencies): AttemptState {
  const { failure, fault, responseStatus: status, responseBody } = attempt;
  const verdict = verdictOnAttempt(delivery, attempt, signerOf(delivery, parts), parts.dialect);
  const instead = fault && insteadOfSending(fault);
  if (instead) return { state: 'none', words: `not reached: your rule ${instead}` };
  if (failure?.code === 'egress') return { state: 'none', words: 'not sent: address not allowed' };
  const isCorrupted = verdictOnFault(delivery, attempt, parts.dialect) !== undefined;
  const isForged = verdictOnForgery(delivery, parts) !== undefined;
  const copy = isForged ? ' a forged IPN' : isCorrupted ? ' a corrupted IPN' : '';
  if (verdict.tone === 'bad' && copy) return { state: 'forgery-accepted', words: 'accepted a forged IPN' };
  if (status === null) {
    const words = failure ? describeBriefly(attempt) : 'no response';
    return { state: 'unreachable', words: failure?.code === 'timed_out' ? words : `unreachable (${words})` };
  }
  if (failure === null) {
    if (saysRefused(responseBody ?? ''))
      return { state: 'rejected', words: `rejected${copy} (${status}, in its body)` };
    if (verdict.tone === 'bad' || (copy && verdict.where === 'receiver'))
      return verdict.signed
        ? { state: 'rejected', words: `rejected (${status}, in its body)` }
        : { state: 'failed', words: `failed (${status} with an error)` };
    return { state: 'accepted', words: `accepted${copy}` };
  }
  return status >= 400 && status < 500
    ? { state: 'rejected', words: `rejected${copy} (${status})` }
    : { state: 'failed', words: `failed (${status})` };
}

/** Records are immutable, and reading every response again is slow. */
const known = new WeakMap<Delivery, AttemptState>();

/** What the shop did in the last attempt of an IPN; undefined before the first. */
function lastState(delivery: Delivery, parts: VerdictDependencies): AttemptState | undefined {
  const before = known.get(delivery);
  if (before) return before;
  const last = parts.store.state.attemptsOf(delivery.id)[delivery.attemptCount - 1];
  const state = last && stateOfAttempt(delivery, last, parts);
  if (state) known.set(delivery, state);
  return state;
}

/** What the shop did with an IPN, by its last attempt. */
export function stateOfDelivery(delivery: Delivery, parts: VerdictDependencies): ShopState {
  const { tone } = verdictOnDelivery(delivery, parts);
  const isDelayed = delivery.postponedBy !== null && delivery.nextAttemptAt !== null;
  if (parts.courier.openAttempt(delivery.id))
    return { state: 'waiting', words: 'has not answered yet', tone: 'waiting' };
  if (isDelayed) return { state: 'waiting', words: 'IPN delayed by your rule', tone };
  return { ...(lastState(delivery, parts) ?? { state: 'waiting', words: 'IPN due' }), tone };
}

const ACCEPTED: ReadonlySet<ShopState['state']> = new Set(['accepted', 'forgery-accepted']);

/** The newest genuine IPN of a payment; undefined if there is none. */
const newestGenuine = ({ id }: Payment, parts: VerdictDependencies): Delivery | undefined =>
  parts.store.state.deliveriesOf(id).findLast((delivery) => !verdictOnForgery(delivery, parts));

/** The newest genuine IPN of a payment if it was attempted and the shop did not accept it. Fast: lists count these. */
export function notAcceptedIpn(payment: Payment, parts: VerdictDependencies): Delivery | undefined {
  const genuine = newestGenuine(payment, parts);
  const last = genuine && lastState(genuine, parts);
  return last && !ACCEPTED.has(last.state) ? genuine : undefined;
}

/**
 * What the shop did with the IPNs of a payment: with a forged copy if the newest one is and the shop accepted it, otherwise
 * with the newest genuine IPN.
 */
export function stateOfPayment(payment: Payment, parts: VerdictDependencies): ShopState {
  const deliveries = parts.store.state.deliveriesOf(payment.id);
  const newest = deliveries.at(-1);
  if (!newest) {
    if (payment.status === 'pending') return { state: 'waiting', words: 'no IPN yet', tone: 'waiting' };
    // Other statuses send none by default.
    const tone = payment.status === 'succeeded' ? 'warning' : 'waiting';
    return { state: 'none', words: 'no IPN sent', tone };
  }
  const shown = stateOfDelivery(newest, parts);
  const genuine = newestGenuine(payment, parts);
  if (shown.state === 'forgery-accepted' || !genuine) return shown;
  const { attemptCount, nextAttemptAt } = genuine;
  const { words, ...rest } = stateOfDelivery(genuine, parts);
  const isRetried = nextAttemptAt !== null && attemptCount > 0 && rest.state !== 'waiting';
  const sent = deliveries.filter((delivery) => !verdictOnForgery(delivery, parts)).length;
  const times = sent > 1 ? `, ${sent} IPNs` : attemptCount > 1 ? `, ${attemptCount} attempts` : '';
  return { ...rest, words: `${words}${times}${isRetried ? ', retry scheduled' : ''}` };
}
