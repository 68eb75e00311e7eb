import { setMaxListeners } from 'node:events';
import TinyQueue from 'tinyqueue';
import type { FaultRule } from '../contract/fault.ts';
import { describeEffects } from '../domain/fault.ts';
import type { Faults } from '../domain/faults.ts';
import { postpone, recordAttempt, recordExtraAttempt } from '../domain/ipn.ts';
import type { Context } from '../domain/settings.ts';
import { timestamp } from '../domain/settings.ts';
import type { Change, Delivery } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock, DueSource } from '../system/clock.ts';
import { asHeader, type Target, targetOf } from './forward.ts';
import { IpnFaults } from './ipn-faults.ts';
import type { Poster, PostRequest, PostResult } from './sender.ts';

/** So many attempts at one receiver at a time: a slow one holds up nobody but itself. */
const PER_RECEIVER = 16;
/** So many attempts in all at a time. */
const IN_ALL = 256;
/** When an attempt cannot be stored (a full disk), it is made again after this long. */
const STORE_RETRY_MS = 1_000;

interface Due {
  at: number;
  /** Counts up: of what is due at the same instant, the first planned goes first. */
  turn: number;
  deliveryId: string;
}

/** The deliveries that wait for one receiver (scheme, host and port), in order. */
interface Lane {
  waiting: Set<string>;
  active: number;
}

/** What the courier needs from the rest of the emulator. */
export interface CourierParts {
  store: Store;
  clock: Clock;
  poster: Poster;
  context: () => Context;
  /** The version that the User-Agent names. */
  version: string;
  /** What is to go wrong on purpose. */
  faults?: Faults;
}

/**
 * Brings due IPNs to their receivers. What is due stands in the state, so nothing is lost with the process: an
 * attempt counts only once it is stored, and what was not stored is attempted again.
 */
export class Courier implements DueSource {
  readonly #parts: CourierParts;
  readonly #faults: IpnFaults | undefined;
  readonly #due = new TinyQueue<Due>([], (a, b) => a.at - b.at || a.turn - b.turn);
  #planned = 0;
  readonly #lanes = new Map<string, Lane>();
  /** Payments with an attempt under way: attempts of one payment never overtake each other. */
  readonly #busy = new Set<string>();
  readonly #running = new Set<string>();
  /** Deliveries that became due while an attempt of them was under way. */
  readonly #cameTooSoon = new Set<string>();
  readonly #waiters = new Map<string, (() => void)[]>();
  #active = 0;
  #stopped = false;
  /** Ends what is under way: all of it on a stop, and what belongs to a state that was replaced. */
  #ending = endOfAttempts();

  constructor(parts: CourierParts) {
    this.#parts = parts;
    this.#faults = parts.faults && new IpnFaults(parts.faults);
  }

  /** Takes up what the last run left due, and listens for more. */
  start(): void {
    const { store, clock } = this.#parts;
    for (const delivery of store.state.deliveries.values()) this.#plan(delivery);
    store.onChange((change, replaced) => {
      if (replaced) this.#forget();
      this.#hear(change);
    });
    clock.add(this);
  }

  nextDue(): number | undefined {
    if (this.#stopped) return undefined;
    // What was delivered or moved meanwhile is due no more: it must not be told as the next thing.
    for (let next = this.#due.peek(); next; next = this.#due.peek()) {
      if (this.#stands(next)) return next.at;
      this.#due.pop();
    }
    return undefined;
  }

  async runDue(now: number): Promise<void> {
    const attempts: Promise<void>[] = [];
    for (let at = this.nextDue(); at !== undefined && at <= now; at = this.nextDue()) {
      const due = this.#due.pop();
      const delivery = this.#parts.store.state.deliveries.get(due?.deliveryId ?? '');
      if (!delivery) continue;
      if (this.#running.has(delivery.id)) {
        this.#cameTooSoon.add(delivery.id);
        continue;
      }
      attempts.push(this.#attempted(delivery.id));
      this.#enqueue(delivery);
    }
    await Promise.all(attempts);
  }

  /** Whether a plan still holds. A resend or a reset may have changed it: the record decides, not the queue. */
  #stands({ at, deliveryId }: Due): boolean {
    const delivery = this.#parts.store.state.deliveries.get(deliveryId);
    const due = delivery && dueAt(delivery);
    return due !== undefined && due <= at;
  }

  /** Resolves after the first attempt of a delivery is stored, or after `limitMs` of real time, whichever comes first. */
  firstAttempt(deliveryId: string, limitMs: number): Promise<void> {
    return this.attemptAfter(0, deliveryId, limitMs);
  }

  /** Whether an attempt of a delivery is on its way right now. */
  isUnderWay(deliveryId: string): boolean {
    return this.#running.has(deliveryId);
  }

  /**
   * Resolves after the attempt that follows the first `count` ones is stored, at once when that is so already or when
   * none is due, or after `limitMs` of real time.
   */
  async attemptAfter(count: number, deliveryId: string, limitMs: number): Promise<void> {
    const delivery = this.#parts.store.state.deliveries.get(deliveryId);
    if (!delivery || delivery.attemptCount > count || delivery.state !== 'pending') return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.#attempted(deliveryId), limit]);
    clearTimeout(timer);
  }

  /** Aborts what is under way: it stays due. */
  stop(): void {
    this.#stopped = true;
    this.#ending.abort();
    this.#parts.poster.close();
  }

  /** Another state is in force: what was under way ends, and who waits for it waits no longer. */
  #forget(): void {
    this.#ending.abort();
    this.#ending = endOfAttempts();
    this.#faults?.forget();
    for (const deliveryId of [...this.#waiters.keys()]) this.#announce(deliveryId);
  }

  #hear(change: Change): void {
    for (const delivery of change.deliveries ?? []) this.#plan(delivery);
    if (change.deliveries?.length) this.#parts.clock.wake();
  }

  #plan(delivery: Delivery): void {
    const at = dueAt(delivery);
    if (at !== undefined) this.#due.push({ at, turn: this.#planned++, deliveryId: delivery.id });
  }

  /** Plans what became due before its last attempt was wound up: without this it would be forgotten. */
  #planAgain(deliveryId: string): void {
    if (!this.#cameTooSoon.delete(deliveryId)) return;
    const delivery = this.#parts.store.state.deliveries.get(deliveryId);
    if (delivery) this.#plan(delivery);
    this.#parts.clock.wake();
  }

  #attempted(deliveryId: string): Promise<void> {
    return new Promise((resolve) => {
      const list = this.#waiters.get(deliveryId);
      if (list) list.push(resolve);
      else this.#waiters.set(deliveryId, [resolve]);
    });
  }

  #enqueue(delivery: Delivery): void {
    const { origin } = addressOf(this.#target(delivery).url);
    let lane = this.#lanes.get(origin);
    if (!lane) {
      lane = { waiting: new Set(), active: 0 };
      this.#lanes.set(origin, lane);
    }
    lane.waiting.add(delivery.id);
    this.#pump(lane);
  }

  #pump(lane: Lane): void {
    for (const deliveryId of lane.waiting) {
      if (lane.active >= PER_RECEIVER || this.#active >= IN_ALL) return;
      const delivery = this.#parts.store.state.deliveries.get(deliveryId);
      const turn = delivery?.paymentId ?? deliveryId;
      if (this.#busy.has(turn)) continue;
      lane.waiting.delete(deliveryId);
      if (delivery?.state !== 'pending') this.#announce(deliveryId);
      else void this.#run(lane, delivery, turn);
    }
  }

  async #run(lane: Lane, delivery: Delivery, turn: string): Promise<void> {
    lane.active++;
    this.#active++;
    this.#busy.add(turn);
    this.#running.add(delivery.id);
    try {
      await this.#attempt(delivery);
    } finally {
      lane.active--;
      this.#active--;
      this.#busy.delete(turn);
      this.#running.delete(delivery.id);
      this.#planAgain(delivery.id);
      this.#announce(delivery.id);
      this.#pump(lane);
      for (const [origin, other] of this.#lanes) {
        if (other.waiting.size) this.#pump(other);
        else if (!other.active) this.#lanes.delete(origin);
      }
    }
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { store, context } = this.#parts;
    const { signal } = this.#ending;
    if (this.#stopped) return;
    const fault = this.#faults?.take(delivery);
    const startedAt = timestamp(context().now);
    try {
      if (fault && (await this.#postpone(delivery, fault))) return;
      const { report, refused } = await this.#post(delivery, delivery.attemptCount + 1, fault, signal);
      // Aborted by a stop: nobody knows whether it arrived, so it stays due and goes out again.
      if (signal.aborted) return;
      await store.commit((state) =>
        recordAttempt(state, delivery.id, { ...report, startedAt, refused }, context()),
      );
      if (fault?.duplicate && report.error === null) await this.#duplicate(delivery, fault, signal);
      await this.#releaseHeld(delivery);
    } catch {
      this.#due.push({ at: context().now + STORE_RETRY_MS, turn: this.#planned++, deliveryId: delivery.id });
      this.#parts.clock.wake();
    }
  }

  #post(
    delivery: Delivery,
    number: number,
    fault: FaultRule | undefined,
    signal: AbortSignal,
  ): Promise<PostResult> {
    const { poster, context, version } = this.#parts;
    const { url, original } = this.#target(delivery);
    const request: PostRequest = {
      url,
      body: delivery.body,
      timeoutMs: context().settings.ipn.timeoutMs,
      signal,
      headers: [
        ['Host', addressOf(url).host],
        ['Content-Type', delivery.contentType],
        ['Content-Length', String(Buffer.byteLength(delivery.body))],
        ['User-Agent', `gateway-sim/${version}`],
        ['X-Gateway-Sim', '1'],
        ['X-Gateway-Sim-Delivery', delivery.id],
        ['X-Gateway-Sim-Attempt', String(number)],
        ...(original === null ? [] : [['X-Gateway-Sim-Original-Url', asHeader(original)] as const]),
        ['Connection', 'keep-alive'],
      ],
    };
    return fault && this.#faults ? this.#faults.post(poster, request, fault) : poster.post(request);
  }

  /** Lets a delivery wait when a fault rule wants it so, and tells whether it did. */
  async #postpone(delivery: Delivery, fault: FaultRule): Promise<boolean> {
    const wait = this.#faults?.postponeMs(delivery, fault);
    if (wait === undefined) return false;
    await this.#moveDue(delivery.id, wait, `put off by a fault rule: ${describeEffects(fault)}`);
    return true;
  }

  async #releaseHeld(delivery: Delivery): Promise<void> {
    const overtaken = this.#faults?.heldBehind(delivery);
    if (overtaken !== undefined) await this.#moveDue(overtaken, 0, 'a fault rule let another IPN go first');
  }

  #moveDue(deliveryId: string, wait: number, why: string): Promise<unknown> {
    const { store, context } = this.#parts;
    return store.commit((state) => postpone(state, deliveryId, context().now + wait, why));
  }

  /** The same bytes once more, right behind the first. */
  async #duplicate(delivery: Delivery, fault: FaultRule, signal: AbortSignal): Promise<void> {
    const { store, context } = this.#parts;
    const startedAt = timestamp(context().now);
    const { report } = await this.#post(delivery, delivery.attemptCount + 2, fault, signal);
    if (signal.aborted) return;
    await store.commit((state) =>
      recordExtraAttempt(state, delivery.id, { ...report, startedAt }, context()),
    );
  }

  #target(delivery: Delivery): Target {
    const { store, context } = this.#parts;
    return targetOf(delivery, store.state, context().settings.ipn.forwardTo);
  }

  #announce(deliveryId: string): void {
    const waiters = this.#waiters.get(deliveryId) ?? [];
    this.#waiters.delete(deliveryId);
    for (const resolve of waiters) resolve();
  }
}

function endOfAttempts(): AbortController {
  const ending = new AbortController();
  // Every attempt under way listens; the default limit would warn the user of a leak from the 11th on.
  setMaxListeners(IN_ALL, ending.signal);
  return ending;
}

/** When a delivery is to be attempted next; undefined when it is not. */
function dueAt({ state, nextAttemptAt }: Delivery): number | undefined {
  return state === 'pending' && nextAttemptAt !== null ? Date.parse(nextAttemptAt) : undefined;
}

/** The parts of an address. One that is none can only come from an edited state: its attempt will say so. */
function addressOf(url: string): { origin: string; host: string } {
  return URL.canParse(url) ? new URL(url) : { origin: '', host: '' };
}
