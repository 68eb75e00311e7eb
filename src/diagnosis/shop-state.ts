import { describeBriefly, FORGED_IPN_ACCEPTED, insteadOfSending } from '../contract/describe-delivery.ts';
import type { Tone } from '../contract/verdict.ts';
import type { Attempt, Delivery, Payment } from '../domain/state.ts';
import { saysRefused } from './receiver-answer.ts';
import {
  type FullVerdict,
  inWords,
  newestOf,
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

/** What the shop did in one attempt of an IPN. */
function stateOfAttempt(
  delivery: Delivery,
  attempt: Attempt,
  verdict: FullVerdict,
  parts: VerdictDependencies,
): Omit<ShopState, 'tone'> {
  const { failure, fault, responseStatus: status, responseBody } = attempt;
  const instead = fault && insteadOfSending(fault);
  if (instead) return { state: 'none', words: `never reached (your fault rule ${instead})` };
  if (failure?.code === 'egress') return { state: 'none', words: 'not sent: address not allowed' };
  const isCorrupted = verdictOnFault(delivery, attempt) !== undefined;
  const isForged = verdictOnForgery(delivery, parts) !== undefined;
  const copy = isForged ? ' a forged IPN' : isCorrupted ? ' a corrupted IPN' : '';
  if (verdict.forgeryAccepted) return { state: 'forgery-accepted', words: FORGED_IPN_ACCEPTED };
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

/** What the shop did in one attempt of an IPN, with the tone of that attempt. */
export function stateAt(delivery: Delivery, attempt: Attempt, parts: VerdictDependencies): ShopState {
  const verdict = verdictOnAttempt(delivery, attempt, signerOf(delivery, parts));
  return { ...stateOfAttempt(delivery, attempt, verdict, parts), tone: verdict.tone };
}

/** Records are immutable, and reading every response again is slow. */
const known = new WeakMap<Delivery, ShopState>();

/** What the shop did in the last attempt of an IPN; undefined before the first. */
function lastState(delivery: Delivery, parts: VerdictDependencies): ShopState | undefined {
  const before = known.get(delivery);
  if (before) return before;
  const last = parts.store.state.attemptsOf(delivery.id)[delivery.attemptCount - 1];
  if (!last) return undefined;
  const state = stateAt(delivery, last, parts);
  known.set(delivery, state);
  return state;
}

const isDelayed = ({ postponedBy, nextAttemptAt }: Delivery) =>
  postponedBy !== null && nextAttemptAt !== null;

/** What the shop did with an IPN, by its last attempt. */
export function stateOfDelivery(delivery: Delivery, parts: VerdictDependencies): ShopState {
  const { tone, times, isWithoutEffect } = verdictOnDelivery(delivery, parts);
  if (parts.courier.openAttempt(delivery.id))
    return { state: 'waiting', words: 'has not answered yet', tone: 'waiting' };
  if (isDelayed(delivery)) return { state: 'waiting', words: 'IPN delayed by your fault rule', tone };
  const { state, words } = lastState(delivery, parts) ?? { state: 'waiting', words: 'IPN due' };
  if (isWithoutEffect) return { state, words: 'accepted, changed nothing', tone };
  return { state, words: times === undefined ? words : `accepted ${inWords(times)}`, tone };
}

/**
 * The IPN of a payment that needs attention: its newest forged copy if the shop accepted it, otherwise its newest genuine
 * IPN if that went wrong, and not because of a fault rule. Fast: lists count these.
 */
export function attentionOf({ id }: Payment, parts: VerdictDependencies): Attention | undefined {
  const { forged, genuine } = newestOf(parts.store.state.deliveriesOf(id), parts);
  if (forged && lastState(forged, parts)?.state === 'forgery-accepted')
    return { delivery: forged, isForged: true };
  if (!genuine || isDelayed(genuine) || parts.courier.openAttempt(genuine.id)) return undefined;
  const last = lastState(genuine, parts);
  if (last?.tone !== 'bad') return undefined;
  return { delivery: genuine, isForged: last.state === 'forgery-accepted' };
}

export interface Attention {
  delivery: Delivery;
  /** Whether the shop accepted an IPN that it had to reject. */
  isForged: boolean;
}

/**
 * What the shop did with the IPNs of a payment: with its newest forged copy if the shop accepted that, otherwise with the
 * newest genuine IPN.
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
  const { forged, genuine } = newestOf(deliveries, parts);
  const ofForged = forged && stateOfDelivery(forged, parts);
  if (ofForged?.state === 'forgery-accepted' || !genuine) return ofForged ?? stateOfDelivery(newest, parts);
  const { attemptCount, nextAttemptAt } = genuine;
  const { words, ...rest } = stateOfDelivery(genuine, parts);
  const isRetried = nextAttemptAt !== null && attemptCount > 0 && rest.state !== 'waiting';
  const sent = deliveries.filter((delivery) => !verdictOnForgery(delivery, parts)).length;
  const times = sent > 1 ? `, ${sent} IPNs` : attemptCount > 1 ? `, ${attemptCount} attempts` : '';
  const isCounted = verdictOnDelivery(genuine, parts).times !== undefined;
  return { ...rest, words: `${words}${isCounted ? '' : times}${isRetried ? ', retry scheduled' : ''}` };
}
