import { shorten } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import type { AuditGateway } from './gateway.ts';

/**
 * Makes the shop initiate a payment.
 *
 * @param givenUp aborts the order when the audit stops waiting for it
 * @returns optionally the shop's own name for the order, as text or a number
 */
export type PlaceOrder = (givenUp: AbortSignal) => Promise<unknown>;

interface OrderLimits {
  /** Time for the shop to initiate a payment after the order was placed, in milliseconds. */
  limitMs: number;
  /** Maximum number of orders. */
  max: number;
  /** Collects notices for the user. */
  notices: Set<string>;
  /** Whether a payment is the attacker's, and not an order of the shop. */
  isOurs: (payment: Payment) => boolean;
  cancelled?: AbortSignal | undefined;
}

const POLL_MS = 20;
/** The number of recent payments that may contain the new one. */
const RECENT = 10;

const SETTLES_ITSELF = () =>
  new GatewayError(
    'check_failed',
    "the emulator settles the shop's payments automatically: run the audit without --auto and without magic e-mails",
  );

/** The last line of the output. */
function nameIn(output: unknown): string | undefined {
  const isText = typeof output === 'string' || typeof output === 'number';
  return isText ? String(output).trimEnd().split('\n').at(-1)?.trim() : undefined;
}

/** Supplies orders, one for each case. */
export class Orders {
  readonly #gateway: AuditGateway;
  readonly #place: PlaceOrder;
  readonly #limits: OrderLimits;
  /** The shop's own names for its orders, by payment id. */
  readonly #names = new Map<string, string>();
  readonly #known = new Set<string>();
  /** Unchanged orders, reused when no new ones are allowed. */
  readonly #untouched: Payment[] = [];
  readonly #waiting: ((order: Payment | undefined) => void)[] = [];
  #inUse = 0;
  #isPlacing = false;
  /** The newest request to the emulator before the audit. */
  #lastRequest = 0;
  #queue: Promise<unknown> = Promise.resolve();
  readonly made: Payment[] = [];
  /** Additional payments that the same order initiated. */
  readonly spare: Payment[] = [];

  constructor(gateway: AuditGateway, place: PlaceOrder, limits: OrderLimits) {
    this.#gateway = gateway;
    this.#place = place;
    this.#limits = limits;
  }

  /** Ignores existing payments. */
  async begin(): Promise<void> {
    for (const { id } of await this.#recent()) this.#known.add(id);
    const { data } = await this.#gateway.requests.list({});
    this.#lastRequest = data[0]?.id ?? 0;
  }

  /**
   * Returns a pending order, new until the maximum is reached.
   *
   * @returns undefined if the maximum is reached and no order can be reused
   * @throws GatewayError `timed_out` if the shop initiates no payment, `check_failed` if the order cannot be placed
   */
  async take(): Promise<Payment | undefined> {
    if (this.made.length < this.#limits.max || this.made.length === 0) {
      const next = this.#queue.then(() => (this.made.length < this.#limits.max ? this.#make() : undefined));
      this.#queue = next.catch(() => {});
      const made = await next;
      if (made) {
        this.#inUse++;
        return made;
      }
    }
    return this.#again();
  }

  /** Whether another order has the same identifier. */
  isRepeated({ id, identifier }: Payment): boolean {
    return this.made.some((other) => other.identifier === identifier && other.id !== id);
  }

  /** The shop's own name for an order; undefined if it is unknown. */
  nameOf({ id }: Payment): string | undefined {
    return this.#names.get(id);
  }

  /** Also records payments of an abandoned order and of the attacker, so that they can be canceled. */
  async abandon(): Promise<void> {
    const { data } = await this.#gateway.payments.list({ limit: RECENT });
    this.made.push(
      ...data.filter(
        (payment) => this.#limits.isOurs(payment) || (this.#isPlacing && !this.#known.has(payment.id)),
      ),
    );
  }

  /** Returns an order. An `untouched` one can be reused. */
  release(order: Payment, untouched: boolean): void {
    this.#inUse--;
    if (untouched) {
      const next = this.#waiting.shift();
      if (next) {
        this.#inUse++;
        next(order);
      } else this.#untouched.push(order);
    }
    if (this.#inUse === 0) for (const next of this.#waiting.splice(0)) next(undefined);
  }

  /** Reuses an unchanged order. If none is free, waits until a case releases one. */
  #again(): Promise<Payment | undefined> {
    const found = this.#untouched.pop();
    if (found) {
      this.#inUse++;
      return Promise.resolve(found);
    }
    if (this.#inUse === 0) return Promise.resolve(undefined);
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
    // A failure counts only if no payment was initiated: a shop may answer 500 after a successful order.
    placed.catch(() => {});
    const deadline = performance.now() + this.#limits.limitMs;
    for (;;) {
      this.#limits.cancelled?.throwIfAborted();
      const wasPlaced = isPlaced;
      const fresh = (await this.#recent()).filter(({ id }) => !this.#known.has(id));
      const order = fresh.at(-1);
      // A shop that hangs after it initiated a payment has placed its order.
      if (order && (wasPlaced || performance.now() > deadline)) {
        for (const { id } of fresh) this.#known.add(id);
        this.spare.push(...fresh.slice(0, -1));
        if (fresh.length > 1) {
          this.#limits.notices.add('one order initiated several payments: the audit uses the first');
        }
        this.made.push(order);
        this.#isPlacing = false;
        const name = wasPlaced ? nameIn(await placed.catch(() => undefined)) : undefined;
        if (name !== undefined) this.#names.set(order.id, name);
        if (order.auto) throw SETTLES_ITSELF();
        return order;
      }
      if (wasPlaced) await placed.catch((error: unknown) => this.#failedToPlace(error));
      if (performance.now() > deadline) {
        const text = `the shop initiated no payment within ${this.#limits.limitMs / 1_000} s of the order`;
        throw new GatewayError('timed_out', `${text}: ${await this.#whyNone()}`);
      }
      const poll = new Promise((resolve) => setTimeout(resolve, POLL_MS));
      await (wasPlaced ? poll : Promise.race([placed.catch(() => {}), poll]));
    }
  }

  async #failedToPlace(error: unknown): Promise<never> {
    if (!(error instanceof GatewayError) || error.code !== 'check_failed') throw error;
    // No server listens there: no shop had a chance to initiate.
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED') throw error;
    throw new GatewayError('check_failed', `${error.message}, and ${await this.#whyNone()}`, {
      cause: error,
    });
  }

  /** Describes what the emulator saw of an order that initiated no payment. */
  async #whyNone(): Promise<string> {
    const { url, publicKey } = this.#gateway;
    const { data } = await this.#gateway.requests.list({});
    const refused = data.find(
      ({ id, method, target, paymentId }) =>
        id > this.#lastRequest && method === 'POST' && paymentId === null && target.includes('/initiate'),
    );
    return refused
      ? `the emulator at ${url} (public key ${publicKey}) rejected the initiate request ${shorten(refused.requestBody ?? '')} with ${refused.responseBody ?? 'no response'}`
      : `no initiate request reached ${url}. Check how the order is placed, and which gateway address and public key (${publicKey}) the shop uses. The command "keys env" prints both`;
  }

  async #recent(): Promise<Payment[]> {
    const { data } = await this.#gateway.payments.list({ limit: RECENT });
    return data.filter((payment) => !this.#limits.isOurs(payment));
  }
}
