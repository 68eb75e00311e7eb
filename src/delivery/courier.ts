import { setMaxListeners } from 'node:events';
import { describeEffects } from '../contract/active-fault.ts';
import { withoutPassword } from '../contract/address.ts';
import type { AttemptUnderWay } from '../contract/delivery.ts';
import type { FaultRule } from '../contract/fault.ts';
import { REDIRECT_WAIT_MS, timestamp } from '../contract/time.ts';
import { type AttemptReport, postpone, recordAttempt } from '../domain/delivery.ts';
import type { Faults } from '../domain/faults.ts';
import type { IpnRequest } from '../domain/ipn.ts';
import type { Context } from '../domain/settings.ts';
import type { Delivery } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock, DueWork } from '../system/clock.ts';
import { asHeader, type Target, targetOf, withQueryOf } from './forward.ts';
import { faultyBody, postponement, postUnder } from './ipn-faults.ts';
import { addressOf, attemptHeader, deliveryHeader, ipnHeaders } from './ipn-headers.ts';
import { Lanes } from './lanes.ts';
import type { Poster, PostRequest } from './poster.ts';

/** The parts of the emulator that the courier needs. */
interface CourierDependencies {
  store: Store;
  clock: Clock;
  poster: Poster;
  context: () => Context;
  faults: Faults;
  /** Runs an attempt, and sees what changes around it. Default: only runs it. */
  around?: <Result>(deliveryId: string, run: () => Promise<Result>) => Promise<Result>;
  /** Called with an attempt that has no response after a while. */
  onWaiting: (delivery: Delivery, attempt: AttemptUnderWay) => void;
}

/**
 * Sends due IPNs to their receivers. The state records what is due, so a crash loses nothing: an attempt counts only
 * once it is stored, and an attempt that was not stored is repeated.
 */
export class Courier {
  readonly #parts: CourierDependencies;
  /** The attempts that wait for a response, by delivery. */
  readonly #open = new Map<string, AttemptUnderWay>();
  readonly #work: DueWork = {
    isDue: (deliveryId, at) => dueAt(this.#find(deliveryId)) <= at,
    run: (deliveryId) => this.#deliver(deliveryId),
  };
  readonly #lanes = new Lanes(
    (deliveryId) => this.#attempt(deliveryId),
    (deliveryId) => this.#ended(deliveryId),
  );
  /** Deliveries that became due during one of their attempts. */
  readonly #dueAgain = new Set<string>();
  readonly #waiters = new Map<string, (() => void)[]>();
  /** The delivery that waits for the next one to overtake it. */
  #held: string | undefined;
  #stopped = false;
  /** Aborts the attempts in progress, on a stop and when the state is replaced. */
  #abort = abortOfAttempts();

  constructor(parts: CourierDependencies) {
    this.#parts = parts;
  }

  /** Schedules the deliveries that the last run left pending, and all later ones. */
  start(): void {
    const { store } = this.#parts;
    for (const delivery of store.state.deliveries.values()) this.#plan(delivery);
    store.onChange(({ deliveries = [] }, replaced) => {
      if (replaced) this.#forget();
      for (const delivery of deliveries) this.#plan(delivery);
    });
  }

  #deliver(deliveryId: string): Promise<void> | undefined {
    const delivery = this.#find(deliveryId);
    if (this.#stopped || !delivery) return undefined;
    if (this.#lanes.isRunning(deliveryId)) {
      this.#dueAgain.add(deliveryId);
      return undefined;
    }
    const attempted = new Promise<void>((resolve) => this.#afterAttempt(deliveryId, resolve));
    const { origin } = addressOf(this.#target(delivery).url);
    this.#lanes.enqueue(origin, delivery.paymentId ?? deliveryId, deliveryId);
    return attempted;
  }

  isUnderWay(deliveryId: string): boolean {
    return this.#lanes.isRunning(deliveryId);
  }

  /** The attempt of this delivery that waits for a response, or null. */
  openAttempt(deliveryId: string): AttemptUnderWay | null {
    return this.#open.get(deliveryId) ?? null;
  }

  /** The URL of a delivery's next attempt. */
  addressOf(delivery: Delivery): string {
    return this.#target(delivery).url;
  }

  /**
   * Resolves when attempt number `count + 1` is stored, or after `limitMs` of real time. Resolves immediately when that
   * attempt is already stored or no attempt is due.
   */
  async attemptAfter(count: number, deliveryId: string, limitMs: number): Promise<void> {
    const delivery = this.#find(deliveryId);
    if (!delivery || delivery.attemptCount > count || delivery.state !== 'pending') return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#afterAttempt(deliveryId, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Sends a request to the receiver of a delivery that is not one of its attempts. Always resolves. */
  ask(
    delivery: Delivery,
    { method, query, contentType, body, headers: more = [] }: IpnRequest,
    limits: Pick<PostRequest, 'timeoutMs' | 'signal' | 'localOnly'>,
  ): Promise<AttemptReport> {
    const target = this.#target(delivery);
    const url = query === undefined ? target.url : withQueryOf(target.url, `?${query}`);
    const { hostname: name } = addressOf(target.named);
    const headers = [...ipnHeaders(target, { contentType, body }), deliveryHeader(delivery.id), ...more];
    return this.#parts.poster.post({ url, name, method, headers, body, ...limits });
  }

  /** Aborts the attempts in progress. They stay due. */
  stop(): void {
    this.#stopped = true;
    this.#abort.abort();
    this.#parts.poster.close();
  }

  #find(deliveryId: string): Delivery | undefined {
    return this.#parts.store.state.deliveries.get(deliveryId);
  }

  /** Aborts the attempts in progress and releases their waiters, because the state was replaced. */
  #forget(): void {
    this.#abort.abort();
    this.#abort = abortOfAttempts();
    this.#held = undefined;
    for (const deliveryId of [...this.#waiters.keys()]) this.#announce(deliveryId);
  }

  #plan(delivery: Delivery): void {
    const at = dueAt(delivery);
    if (at < NEVER) this.#parts.clock.plan(at, delivery.id, this.#work);
  }

  #ended(deliveryId: string): void {
    const delivery = this.#dueAgain.delete(deliveryId) && this.#find(deliveryId);
    if (delivery) this.#plan(delivery);
    this.#announce(deliveryId);
  }

  #afterAttempt(deliveryId: string, listener: () => void): void {
    this.#waiters.set(deliveryId, [...(this.#waiters.get(deliveryId) ?? []), listener]);
  }

  #announce(deliveryId: string): void {
    const waiters = this.#waiters.get(deliveryId) ?? [];
    this.#waiters.delete(deliveryId);
    for (const listener of waiters) listener();
  }

  async #attempt(deliveryId: string): Promise<void> {
    const delivery = this.#find(deliveryId);
    if (this.#stopped || delivery?.state !== 'pending') return;
    const { store, clock, context, around = (_, run) => run(), onWaiting } = this.#parts;
    const { signal } = this.#abort;
    const fault = this.#takeFault(delivery);
    const { timeoutMs } = context().settings.ipn;
    const begin = (number: number) => ({ number, startedAt: timestamp(context().now), timeoutMs });
    const number = delivery.attemptCount + 1;
    try {
      // Only one delivery at a time waits to be overtaken.
      const canWait = fault && !(fault.reorder && this.#held !== undefined);
      const wait = canWait ? postponement(fault) : undefined;
      if (fault && wait !== undefined) {
        if (fault.reorder) this.#held = deliveryId;
        await this.#moveDue(deliveryId, wait, fault);
        return;
      }
      // An attempt with a shorter timeout is reported when it times out.
      const isLong = timeoutMs > REDIRECT_WAIT_MS;
      await around(deliveryId, async () => {
        const attempt = begin(number);
        this.#open.set(deliveryId, attempt);
        const timer = isLong ? setTimeout(onWaiting, REDIRECT_WAIT_MS, delivery, attempt) : undefined;
        const report = await this.#post(delivery, attempt, fault, signal).finally(() => {
          clearTimeout(timer);
          this.#open.delete(deliveryId);
        });
        // Aborted: the IPN may or may not have arrived, so it stays due and is sent again.
        if (signal.aborted) return;
        // What watches the attempt may take a while, or be stopped. It is stored before.
        await store.commit((state) => recordAttempt(state, deliveryId, report, context()));
        if (!fault?.duplicate || report.failure !== null) return;
        // The same bytes a second time, right after the first.
        const second = await this.#post(delivery, begin(number + 1), fault, signal);
        if (signal.aborted) return;
        await store.commit((state) => recordAttempt(state, deliveryId, second, context(), true));
      });
      if (signal.aborted) return;
      const held = this.#held;
      // A postponed delivery overtakes no other.
      if (held !== undefined && !delivery.postponedBy) {
        this.#held = undefined;
        await this.#moveDue(held, 0);
      }
    } catch {
      clock.retry(deliveryId, this.#work);
    }
  }

  /** The fault rule for this attempt. The rule of a postponed delivery has its other effects when it is due again. */
  #takeFault(delivery: Delivery): FaultRule | undefined {
    const { id, identifier, postponedBy } = delivery;
    if (this.#held === id) this.#held = undefined;
    if (!postponedBy) return this.#parts.faults.take({ route: 'ipn', path: null, identifier });
    const { delay: _delay, reorder: _reorder, ...rest } = postponedBy;
    return rest;
  }

  #moveDue(deliveryId: string, wait: number, rule?: FaultRule): Promise<unknown> {
    const { store, context } = this.#parts;
    return store.commit((state) => postpone(state, deliveryId, context().now + wait, rule));
  }

  #target(delivery: Delivery): Target {
    return targetOf(delivery, this.#parts.store.state, this.#parts.context().settings);
  }

  async #post(
    delivery: Delivery,
    { number, startedAt, timeoutMs }: AttemptUnderWay,
    fault: FaultRule | undefined,
    signal: AbortSignal,
  ): Promise<AttemptReport & { startedAt: string }> {
    const { poster, faults, context } = this.#parts;
    const target = this.#target(delivery);
    const body = fault ? faultyBody(delivery, fault, context().ipn) : delivery.body;
    const headers = ipnHeaders(target, { contentType: delivery.contentType, body });
    headers.push(deliveryHeader(delivery.id), attemptHeader(number));
    if (target.original !== null)
      headers.push(['X-Gateway-Sim-Original-Url', asHeader(withoutPassword(target.original))]);
    // A rule that only postponed the IPN has no effect on its content.
    const effects = fault && describeEffects(fault);
    if (effects) headers.push(['X-Gateway-Sim-Fault', effects]);
    const { url } = target;
    const { hostname: name } = addressOf(target.named);
    const request = { url, name, headers, body, timeoutMs, signal };
    const report = await (fault ? postUnder(fault, faults, poster, request) : poster.post(request));
    return { ...report, startedAt };
  }
}

function abortOfAttempts(): AbortController {
  const abort = new AbortController();
  // Each attempt in progress listens. By default, Node warns of a leak from the 11th listener on.
  setMaxListeners(0, abort.signal);
  return abort;
}

const NEVER = Number.POSITIVE_INFINITY;

function dueAt(delivery: Delivery | undefined): number {
  const at = delivery?.state === 'pending' ? delivery.nextAttemptAt : null;
  return at === null ? NEVER : Date.parse(at);
}
