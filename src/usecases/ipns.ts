import type { AttemptUnderWay } from '../contract/delivery.ts';
import { allowableHost, describeEgress } from '../contract/describe-delivery.ts';
import { REDIRECT_WAIT_MS } from '../contract/duration.ts';
import { type ErrorCode, GatewayError } from '../contract/error.ts';
import type { EgressFailure } from '../contract/failure.ts';
import { command, type Hint, hint, option } from '../contract/hint.ts';
import { type FireRequest, fire, requireDelivery, resend } from '../domain/delivery.ts';
import { egressFailure } from '../domain/retry.ts';
import type { Delivery } from '../domain/state.ts';
import { type UseCaseParts, verdictParts } from './parts.ts';
import {
  type KnownAttempt,
  signerOf,
  verdictOnAttempt,
  verdictOnDelivery,
  verdictOnForgery,
} from './verdict.ts';

/** Maximum real time that `fire` waits: clients give up at five minutes (chosen). */
const LONGEST_FIRE_WAIT_MS = 240_000;

/** Runs what concerns one thing after what was asked for it before has ended, however that ended. */
function turns() {
  const last = new Map<string, Promise<unknown>>();
  return <Result>(id: string, run: () => Promise<Result>): Promise<Result> => {
    const mine = (last.get(id) ?? Promise.resolve()).then(run, run);
    const clear = () => {
      if (last.get(id) === mine) last.delete(id);
    };
    last.set(id, mine);
    mine.then(clear, clear);
    return mine;
  };
}

/** What is told of a delivery beside its record. */
function shownOf(store: UseCaseParts['store'], courier: UseCaseParts['courier']) {
  return {
    /** Where it goes instead of its own address, by its last attempt, else by its next one; null for neither. */
    forwardedTo(delivery: Delivery): string | null {
      const last = store.state.attemptsOf(delivery.id)[delivery.attemptCount - 1];
      const url = last?.url ?? courier.addressOf(delivery);
      return url === delivery.url ? null : url;
    },

    /** The attempt that waits for its answer; null when none does. */
    underWay: (deliveryId: string): AttemptUnderWay | null => courier.underWay.get(deliveryId),
  };
}

/** IPNs that somebody asks for. */
export function ipnUseCases(parts: UseCaseParts) {
  const { store, courier, context, settings } = parts;
  /** How long an attempt can take, with its way to the store. */
  const attemptMs = settings.ipn.timeoutMs + REDIRECT_WAIT_MS;
  const inTurn = turns();
  const find = (deliveryId: string): Delivery => requireDelivery(store.state, deliveryId);

  /** A delivery after its next attempt, or as it is when time is up. */
  async function afterAttempt({ id, attemptCount }: Delivery, limitMs: number): Promise<Delivery> {
    await courier.attemptAfter(attemptCount, id, limitMs);
    return find(id);
  }

  return {
    ...shownOf(store, courier),

    /** What became of it, by its last attempt. */
    verdict: (delivery: Delivery) => verdictOnDelivery(delivery, verdictParts(parts)),

    /** What became of one attempt at it. */
    verdictOnAttempt: (delivery: Delivery, attempt: KnownAttempt) =>
      verdictOnAttempt(delivery, attempt, signerOf(delivery, verdictParts(parts)), parts.dialect),

    /** What became of a forged one; undefined for a genuine one, and before its first attempt. */
    verdictOnForgery: (delivery: Delivery) => verdictOnForgery(delivery, verdictParts(parts)),

    /** The delivery with this id. @throws GatewayError `not_found` */
    require: find,

    /**
     * Sends a delivery once more, or a new one to another address, and waits for that attempt. Resends of one delivery
     * come one after another: each has an attempt of its own.
     *
     * @throws GatewayError `not_found`, `invalid_fields`, `egress_refused`; `timed_out` where it stays due
     */
    resend: (deliveryId: string, to?: string): Promise<Delivery> =>
      inTurn(deliveryId, async () => {
        // An attempt that is on its way now was not asked for by this resend.
        if (courier.isUnderWay(deliveryId)) await afterAttempt(find(deliveryId), attemptMs);
        const made = await store.commit((state) => resend(state, deliveryId, to, context()));
        const after = await afterAttempt(made, attemptMs);
        const refused = egressFailure(store.state, after);
        if (refused) throw notSent('egress_refused', after, refused);
        requireAttempt(made, after, context().now, attemptMs);
        return after;
      }),

    /**
     * Makes IPNs by hand, in the order in which they go out, and waits for their attempts, up to `LONGEST_FIRE_WAIT_MS`.
     *
     * @throws GatewayError `not_found`, `invalid_fields`, or `forbidden` when the egress guard refuses it
     */
    async fire(request: FireRequest): Promise<Delivery[]> {
      const made = await store.commit((state) => fire(state, request, context()));
      const limit = Math.min((request.delayMs ?? 0) * made.length + attemptMs, LONGEST_FIRE_WAIT_MS);
      const fired = await Promise.all(made.map((delivery) => afterAttempt(delivery, limit)));
      for (const delivery of fired) {
        const refused = egressFailure(store.state, delivery);
        if (refused) throw notSent('forbidden', delivery, refused);
      }
      return fired;
    },
  };
}

/** @throws GatewayError `timed_out` where it is still due now; a fault rule may have put it off, which is no failure */
function requireAttempt(made: Delivery, after: Delivery, now: number, limitMs: number): void {
  const isDue = after.nextAttemptAt !== null && Date.parse(after.nextAttemptAt) <= now;
  if (after.attemptCount > made.attemptCount || !isDue) return;
  throw new GatewayError('timed_out', `IPN ${made.id} was not attempted within ${limitMs / 1_000} s`, {
    hint: hint`It stays due: receivers that do not answer hold it up.`,
  });
}

function notSent(code: ErrorCode, { id }: Delivery, failure: EgressFailure): GatewayError {
  return new GatewayError(code, `IPN ${id} was not sent: ${describeEgress(failure)}`, {
    hint: fixOf(id, failure),
  });
}

function fixOf(id: string, failure: EgressFailure): Hint {
  const host = allowableHost(failure);
  return host === null
    ? hint`No option allows that. Send it to your receiver: ${command('ipn resend', id, '--to', '<url>')}`
    : hint`Start the emulator with ${option('allowIpnHost', host)}, or send IPNs somewhere else with ${option('forwardIpn', '<url>')}.`;
}
