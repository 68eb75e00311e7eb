import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import type { AuditGateway } from './gateway.ts';

/**
 * Makes the shop initiate a payment.
 *
 * @param givenUp ends what is under way, when nobody waits for it any more
 * @returns text or a number where it tells what the shop itself calls the order
 */
export type PlaceOrder = (givenUp: AbortSignal) => Promise<unknown>;

interface OrderLimits {
  /** For a payment to be initiated after the order was placed, in milliseconds. */
  limitMs: number;
  /** Orders in all. */
  max: number;
  /** Takes what the user should know. */
  notices: Set<string>;
  /** Whether a payment is one that an attacker made, and no order of the shop. */
  isOurs: (payment: Payment) => boolean;
  cancelled?: AbortSignal | undefined;
}

const POLL_MS = 20;
/** As many payments are looked through for the one that was just made. */
const RECENT = 10;

const SETTLES_ITSELF = () =>
  new GatewayError(
    'check_failed',
    'the emulator settles the payments of the shop by itself: run the audit against one without --auto, and without magic e-mails',
  );

/** The last line of what was printed or returned. */
function nameIn(said: unknown): string | undefined {
  const isText = typeof said === 'string' || typeof said === 'number';
  return isText ? String(said).trimEnd().split('\n').at(-1)?.trim() : undefined;
}

/** Where orders come from, one after another, each for one case. */
export class Orders {
  readonly #gateway: AuditGateway;
  readonly #place: PlaceOrder;
  readonly #limits: OrderLimits;
  /** What the shop itself calls an order, by the id of its payment. */
  readonly #names = new Map<string, string>();
  readonly #known = new Set<string>();
  /** Orders that nobody harmed, to be used again where there are no new ones. */
  readonly #untouched: Payment[] = [];
  readonly #waiting: ((order: Payment | undefined) => void)[] = [];
  #taken = 0;
  #isPlacing = false;
  #queue: Promise<unknown> = Promise.resolve();
  readonly made: Payment[] = [];
  /** Further payments that one order initiated. */
  readonly spare: Payment[] = [];

  constructor(gateway: AuditGateway, place: PlaceOrder, limits: OrderLimits) {
    this.#gateway = gateway;
    this.#place = place;
    this.#limits = limits;
  }

  /** What is there already is nobody's order here. */
  async begin(): Promise<void> {
    for (const { id } of await this.#recent()) this.#known.add(id);
  }

  /**
   * A pending order, a new one as long as there may be more of them.
   *
   * @returns undefined when no more may be made, and none is left to be used again
   * @throws GatewayError `timed_out` when the shop initiates nothing, `check_failed` when the order cannot be placed
   */
  async take(): Promise<Payment | undefined> {
    if (this.made.length < this.#limits.max || this.made.length === 0) {
      const next = this.#queue.then(() => (this.made.length < this.#limits.max ? this.#make() : undefined));
      this.#queue = next.catch(() => {});
      const made = await next;
      if (made) {
        this.#taken++;
        return made;
      }
    }
    return this.#again();
  }

  /** Whether another order has the same identifier. */
  isRepeated({ id, identifier }: Payment): boolean {
    return this.made.some((other) => other.identifier === identifier && other.id !== id);
  }

  /** What the shop itself calls an order; undefined where placing it did not tell. */
  nameOf({ id }: Payment): string | undefined {
    return this.#names.get(id);
  }

  /** Takes over what was initiated meanwhile by an order that nobody waits for any more, and by an attacker. */
  async abandon(): Promise<void> {
    const { data } = await this.#gateway.payments.list({ limit: RECENT });
    this.made.push(
      ...data.filter(
        (payment) => this.#limits.isOurs(payment) || (this.#isPlacing && !this.#known.has(payment.id)),
      ),
    );
  }

  /** Hands an order back: `untouched` when it is as it was. */
  release(order: Payment, untouched: boolean): void {
    this.#taken--;
    if (untouched) {
      const next = this.#waiting.shift();
      if (next) {
        this.#taken++;
        next(order);
      } else this.#untouched.push(order);
    }
    if (this.#taken === 0) for (const next of this.#waiting.splice(0)) next(undefined);
  }

  /** One that was used before; waits for it where somebody has it still. */
  #again(): Promise<Payment | undefined> {
    const found = this.#untouched.pop();
    if (found) {
      this.#taken++;
      return Promise.resolve(found);
    }
    if (this.#taken === 0) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #make(): Promise<Payment> {
    const givenUp = new AbortController();
    try {
      return await this.#placeUntil(givenUp.signal);
    } finally {
      givenUp.abort();
    }
  }

  async #placeUntil(givenUp: AbortSignal): Promise<Payment> {
    let isPlaced = false;
    this.#isPlacing = true;
    const placed = this.#place(givenUp).finally(() => {
      isPlaced = true;
    });
    // Its failure is told only when nothing was initiated: a shop may answer 500 after all went well.
    placed.catch(() => {});
    const deadline = performance.now() + this.#limits.limitMs;
    for (;;) {
      this.#limits.cancelled?.throwIfAborted();
      const wasPlaced = isPlaced;
      const fresh = (await this.#recent()).filter(({ id }) => !this.#known.has(id));
      const order = fresh.at(-1);
      // A shop that hangs after it has initiated has placed an order all the same.
      if (order && (wasPlaced || performance.now() > deadline)) {
        for (const { id } of fresh) this.#known.add(id);
        this.spare.push(...fresh.slice(0, -1));
        if (fresh.length > 1) {
          this.#limits.notices.add('one order initiated several payments at once: the first of them is used');
        }
        this.made.push(order);
        this.#isPlacing = false;
        const name = wasPlaced ? nameIn(await placed.catch(() => undefined)) : undefined;
        if (name !== undefined) this.#names.set(order.id, name);
        if (order.auto) throw SETTLES_ITSELF();
        return order;
      }
      if (wasPlaced) await placed;
      if (performance.now() > deadline) throw this.#nothingInitiated();
      const poll = new Promise((resolve) => setTimeout(resolve, POLL_MS));
      await (wasPlaced ? poll : Promise.race([placed.catch(() => {}), poll]));
    }
  }

  #nothingInitiated(): GatewayError {
    return new GatewayError(
      'timed_out',
      `the shop initiated no payment within ${this.#limits.limitMs / 1_000} s after the order was placed: no initiate reached ${this.#gateway.url}. Check the address and the public key (${this.#gateway.publicKey}) that the shop uses`,
    );
  }

  async #recent(): Promise<Payment[]> {
    const { data } = await this.#gateway.payments.list({ limit: RECENT });
    return data.filter((payment) => !this.#limits.isOurs(payment));
  }
}
