import { corrupted, retryAfterSeconds, statusOfFault } from '../contract/active-fault.ts';
import { parseDuration } from '../contract/duration.ts';
import type { FaultRule } from '../contract/fault.ts';
import type { Faults } from '../domain/faults.ts';
import type { IpnComposer } from '../domain/ipn.ts';
import type { AttemptReport } from '../domain/retry.ts';
import type { Delivery } from '../domain/state.ts';
import { realPause } from '../system/clock.ts';
import { type Poster, type PostRequest, reportOf } from './poster.ts';
import { failureOfStatus } from './sender.ts';

/** How long an IPN waits for another one to overtake it, on the emulator's clock (chosen). */
const REORDER_LIMIT_MS = 10_000;

/** Applies the fault rules to attempts. */
export class IpnFaults {
  readonly #faults: Faults;
  /** The rules of postponed deliveries. They apply when the delivery is due again, without another random draw. */
  readonly #kept = new Map<string, FaultRule>();
  /** The delivery that waits for the next one to overtake it. */
  #held: string | undefined;
  /** Postponed deliveries that are now being sent. They overtake no other delivery. */
  readonly #late = new Set<string>();

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** Forgets all postponed deliveries, because the state was replaced. */
  forget(): void {
    this.#kept.clear();
    this.#late.clear();
    this.#held = undefined;
  }

  /** The rule for this attempt, if any. */
  take(delivery: Delivery): FaultRule | undefined {
    const kept = this.#kept.get(delivery.id);
    if (!kept) return this.#faults.take({ route: 'ipn', path: null, identifier: delivery.identifier });
    this.#kept.delete(delivery.id);
    this.#late.add(delivery.id);
    if (this.#held === delivery.id) this.#held = undefined;
    const { delay: _delay, reorder: _reorder, ...rest } = kept;
    return rest;
  }

  /** How long to postpone this attempt, in milliseconds of the emulator's time; undefined if it is not postponed. */
  postponeMs(delivery: Delivery, rule: FaultRule): number | undefined {
    const overtaken = rule.reorder && this.#held === undefined;
    if (!overtaken && rule.delay === undefined) return undefined;
    this.#kept.set(delivery.id, rule);
    if (!overtaken) return parseDuration(rule.delay);
    this.#held = delivery.id;
    return REORDER_LIMIT_MS;
  }

  /** The delivery that this one has just overtaken, which can now be sent. */
  heldBehind(delivery: Delivery): string | undefined {
    if (this.#late.delete(delivery.id) || this.#held === delivery.id) return undefined;
    const held = this.#held;
    this.#held = undefined;
    return held;
  }

  /** Makes one attempt under a rule. */
  async post(poster: Poster, request: PostRequest, rule: FaultRule): Promise<AttemptReport> {
    // A stop ends the pause. The caller checks the signal.
    await realPause(this.#faults.latencyOf(rule), request.signal);
    if (rule.drop) return notSent(request, null, rule);
    const status = statusOfFault(rule);
    if (status !== undefined) return notSent(request, status, rule);
    return { ...(await poster.post(request)), fault: rule };
  }
}

/** The body to send instead of the delivery's own. */
export function faultyBody({ body, contentType }: Delivery, rule: FaultRule, ipn: IpnComposer): string {
  const signed = rule.corruptSignature ? ipn.corruptSignature(body) : body;
  return corrupted(signed, rule, contentType.includes('json'));
}

/** The report of an attempt that was never sent, as if it had been. */
function notSent(request: PostRequest, status: number | null, rule: FaultRule): AttemptReport {
  const seconds = retryAfterSeconds(rule);
  const headers: [string, string][] = seconds === undefined ? [] : [['Retry-After', seconds]];
  const isReceived = status !== null && failureOfStatus(status) === null;
  const report = reportOf(
    request,
    status === null ? null : { status, headers },
    isReceived ? null : { code: 'fault' },
  );
  return { ...report, fault: rule };
}
