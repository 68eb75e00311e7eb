import type { AttemptUnderWay, EgressFailure } from '../contract/delivery.ts';
import { allowableHost, describeEgress } from '../contract/describe-delivery.ts';
import type { DiagnoseInput, Diagnosis } from '../contract/diagnosis.ts';
import { command, type ErrorCode, GatewayError, type Hint, hint, option } from '../contract/error.ts';
import { REDIRECT_WAIT_MS } from '../contract/time.ts';
import { stateAt, stateOfDelivery } from '../diagnosis/shop-state.ts';
import {
  type KnownAttempt,
  signerOf,
  verdictOnAttempt,
  verdictOnDelivery,
  verdictOnForgery,
} from '../diagnosis/verdict.ts';
import {
  egressFailure,
  type FireRequest,
  fire,
  newestGenuine,
  requireDelivery,
  resend,
} from '../domain/delivery.ts';
import type { Attempt, Delivery } from '../domain/state.ts';
import type { UseCaseDependencies } from './dependencies.ts';
import { deliveryEntries, storyOf } from './story.ts';

/** Maximum real time that `fire` waits: clients give up after five minutes (chosen). */
const LONGEST_FIRE_WAIT_MS = 240_000;

/** Runs calls for the same id one after another, whether the previous one succeeded or failed. */
function createQueues() {
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

type IpnDependencies = Pick<
  UseCaseDependencies,
  'store' | 'courier' | 'context' | 'settings' | 'orderProbe' | 'rows' | 'secrets'
>;

/** Sends and inspects IPNs on request. */
export function ipnUseCases(parts: IpnDependencies) {
  const { store, courier, context, settings } = parts;
  /** Maximum duration of an attempt, including the time to store it. */
  const attemptMs = settings.ipn.timeoutMs + REDIRECT_WAIT_MS;
  const inOrder = createQueues();
  const find = (deliveryId: string): Delivery => requireDelivery(store.state, deliveryId);

  async function afterAttempt({ id, attemptCount }: Delivery, limitMs: number): Promise<Delivery> {
    await courier.attemptAfter(attemptCount, id, limitMs);
    return find(id);
  }

  return {
    /** The address of its last or next attempt if that is not the delivery's own address; otherwise null. */
    forwardedTo(delivery: Delivery): string | null {
      const last = store.state.attemptsOf(delivery.id)[delivery.attemptCount - 1];
      const url = last?.url ?? courier.addressOf(delivery);
      return url === delivery.url ? null : url;
    },

    underWay: (deliveryId: string): AttemptUnderWay | null => courier.openAttempt(deliveryId),

    verdict: (delivery: Delivery) => verdictOnDelivery(delivery, parts),

    verdictOnAttempt: (delivery: Delivery, attempt: KnownAttempt) =>
      verdictOnAttempt(delivery, attempt, signerOf(delivery, parts)),

    /** The verdict on a forged IPN; undefined for a genuine one and before the first attempt. */
    verdictOnForgery: (delivery: Delivery) => verdictOnForgery(delivery, parts),

    /** The attempts of an IPN, as steps. */
    story: (delivery: Delivery) => storyOf(deliveryEntries(delivery, store.state), []),

    /** What the shop did in one attempt of an IPN. */
    shopStateAt: (delivery: Delivery, attempt: Attempt) => stateAt(delivery, attempt, parts),

    /** What the shop did with an IPN. */
    shopState: (delivery: Delivery) => stateOfDelivery(delivery, parts),

    /** The delivery with this id. @throws GatewayError `not_found` */
    require: find,

    /**
     * Resends a delivery, or sends a new one to another address, and waits for that attempt. Resends of one delivery run
     * one after another, each with its own attempt.
     *
     * @throws GatewayError `not_found`, `invalid_fields`, `egress_refused`; `timed_out` if it is still due
     */
    resend: (deliveryId: string, to?: string): Promise<Delivery> =>
      inOrder(deliveryId, async () => {
        // An attempt that is already in progress does not count as this resend.
        if (courier.isUnderWay(deliveryId)) await afterAttempt(find(deliveryId), attemptMs);
        const made = await store.commit((state) => resend(state, deliveryId, to, context()));
        const after = await afterAttempt(made, attemptMs);
        const blocked = egressFailure(store.state, after);
        if (blocked) throw notSent('egress_refused', after, blocked);
        requireAttempt(made, after, context().now, attemptMs);
        return after;
      }),

    /**
     * Finds out why the receiver does not accept a delivery, by asking it. One at a time for each delivery.
     *
     * @param reference an id, or the id or identifier of a payment
     * @param signal ends it before its next request
     * @throws GatewayError `not_found`, `wrong_state`, `usage`
     */
    diagnose: (reference: string, input: DiagnoseInput, signal: AbortSignal): Promise<Diagnosis> => {
      const { id } = newestGenuine(store.state, reference);
      return inOrder(id, async () => {
        // Loaded only when used, to keep the start fast.
        const { diagnose } = await import('../diagnosis/diagnose.ts');
        return diagnose(find(id), input, signal, parts);
      });
    },

    /**
     * Sends IPNs by hand and waits for their attempts, at most `LONGEST_FIRE_WAIT_MS`.
     *
     * @returns the deliveries in the order of sending
     * @throws GatewayError `not_found`, `invalid_fields`, or `forbidden` if the egress guard blocks one
     */
    async fire(request: FireRequest): Promise<Delivery[]> {
      const made = await store.commit((state) => fire(state, request, context()));
      const limit = Math.min((request.delayMs ?? 0) * made.length + attemptMs, LONGEST_FIRE_WAIT_MS);
      const fired = await Promise.all(made.map((delivery) => afterAttempt(delivery, limit)));
      for (const delivery of fired) {
        const blocked = egressFailure(store.state, delivery);
        if (blocked) throw notSent('forbidden', delivery, blocked);
      }
      return fired;
    },
  };
}

/** @throws GatewayError `timed_out` if it is still due. A delay by a fault rule is not a failure. */
function requireAttempt(made: Delivery, after: Delivery, now: number, limitMs: number): void {
  const isDue = after.nextAttemptAt !== null && Date.parse(after.nextAttemptAt) <= now;
  if (after.attemptCount > made.attemptCount || !isDue) return;
  throw new GatewayError('timed_out', `IPN ${made.id} was not attempted within ${limitMs / 1_000} s`, {
    hint: hint`It is still due. Unresponsive receivers delay it.`,
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
    ? hint`No option allows this address. Send the IPN to your handler: ${command('ipn resend', id, '--to', '<url>')}`
    : hint`Start the emulator with ${option('allowIpnHost', host)}, or send all IPNs to your handler with ${option('forwardIpn', '<url>')}.`;
}
