import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import { ask } from '../delivery/exchange.ts';
import { readText } from '../delivery/sender.ts';
import { errorPage, ownWords } from '../diagnosis/receiver-answer.ts';
import { callUserFunction, type OrderValues, readCommand, runCommand, valuesOf } from '../shop/command.ts';
import { disposable } from '../system/disposal.ts';
import { pause, performance } from '../system/real-time.ts';
import type { AuditGateway } from './gateway.ts';
import { areByHand, type CompleteOptions } from './options.ts';

const MAX_ORDERS = 150;
/** Maximum number of orders that replace changed ones: each case may find one. */
const MAX_REPLACED = 300;
/** Time for the shop to initiate a payment after the order; placing orders by hand takes longer. */
const INITIATE_LIMIT_MS = 15_000;
const BY_HAND_LIMIT_MS = 10 * 60_000;

const POLL_MS = 20;
/** The next second has begun after this time. */
const CLOCK_MS = 1_050;
/** The number of recent payments that may contain the new one. */
const RECENT = 10;

/** A pending order that a case uses, and releases when it is disposed. */
interface UsedOrder extends Disposable {
  readonly payment: Payment;
  /** Whether the case left it unchanged, so that another can use it. */
  isUntouched: boolean;
  /** What the probe last said of the unchanged order; undefined before the first look. */
  text: string | undefined;
}

type Untouched = Pick<UsedOrder, 'payment' | 'text'>;

/** Supplies orders, one for each case. */
export class Orders {
  readonly #gateway: AuditGateway;
  readonly #options: CompleteOptions;
  readonly #place: PlaceOrder;
  readonly #notices: Set<string>;
  readonly #attackerUrl: string;
  readonly #request: <Result>(run: () => Promise<Result>) => Promise<Result>;
  /** The shop's own names for its orders, by payment id. */
  readonly #names = new Map<string, string>();
  /** The cookies that the shop set when an order was placed, by payment id. */
  readonly #cookies = new Map<string, string>();
  readonly #known = new Set<string>();
  /** Unchanged orders, reused when no new ones are allowed. */
  readonly #untouched: Untouched[] = [];
  /** How many unchanged orders something changed before they were used again. */
  #replaced = 0;
  readonly #waiting: ((order: UsedOrder | undefined) => void)[] = [];
  #inUse = 0;
  #isPlacing = false;
  /** Whether two orders within a second have the same identifier. */
  #isClocked = false;
  /** The newest request to the emulator before the audit. */
  #lastRequest = 0;
  #queue: Promise<unknown> = Promise.resolve();
  /** The origin of the shop's ipn_urls, once the control knows it: other payments are no orders of this shop. */
  origin: string | undefined;
  /** How the order address is requested. Becomes GET when it does not accept POST. */
  method: 'POST' | 'GET' = 'POST';
  readonly made: Payment[] = [];
  /** Orders that were placed in the same second as another, and have its identifier. */
  readonly repeated: Payment[] = [];
  /** Additional payments that the same order initiated. */
  readonly spare: Payment[] = [];

  /**
   * @param notices collects messages for the user
   * @param attackerUrl the ipn_url of the attacker's own payments, which are no orders of the shop
   * @param request runs each request to the shop
   * @throws GatewayError `usage` for an order command with invalid placeholders
   */
  constructor(
    gateway: AuditGateway,
    options: CompleteOptions,
    notices: Set<string>,
    attackerUrl: string,
    request: <Result>(run: () => Promise<Result>) => Promise<Result> = (run) => run(),
  ) {
    this.#gateway = gateway;
    this.#request = request;
    this.#options = options;
    this.#place = placeOf(gateway, options, this);
    this.#notices = notices;
    this.#attackerUrl = attackerUrl;
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
  async take(): Promise<UsedOrder | undefined> {
    const order = await this.takeAnother();
    // Waits until a case releases an unchanged order.
    if (order || this.#inUse === 0) return order;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Like `take`, for a case that holds an order: it waits for no other, which may wait for its order. */
  async takeAnother(): Promise<UsedOrder | undefined> {
    const fresh = await this.takeNew();
    if (fresh) return fresh;
    const untouched = this.#untouched.pop();
    return untouched && this.#use(untouched);
  }

  /** A new pending order; undefined if the maximum is reached. Waits for no case. */
  async takeNew(): Promise<UsedOrder | undefined> {
    const next = this.#queue.then(() =>
      this.made.length < this.#most + this.#replaced ? this.#makeOwn() : undefined,
    );
    this.#queue = next.catch(() => {});
    const payment = await next;
    return payment && this.#use({ payment, text: undefined });
  }

  /** The maximum number of orders. */
  get #most(): number {
    return this.#options.orders ?? MAX_ORDERS;
  }

  /** An order that a case left unchanged, which no other case will use; undefined if there is none. */
  takeUntouched(): Untouched | undefined {
    return this.#untouched.shift();
  }

  /** Whether the user chose how many orders there are. */
  get areLimited(): boolean {
    return this.#options.orders !== undefined;
  }

  /** Allows one more order: for one that something else has changed, or to try again. @returns whether there may be another */
  allowAnother(): boolean {
    this.#replaced++;
    return this.#replaced < MAX_REPLACED;
  }

  #use({ payment, text }: Untouched): UsedOrder {
    this.#inUse++;
    const used: UsedOrder = { payment, text, isUntouched: false, ...disposable(() => this.#release(used)) };
    return used;
  }

  #release({ payment, isUntouched, text }: UsedOrder): void {
    this.#inUse--;
    if (isUntouched) {
      const next = this.#waiting.shift();
      if (next) next(this.#use({ payment, text }));
      else this.#untouched.push({ payment, text });
    }
    if (this.#inUse === 0) for (const next of this.#waiting.splice(0)) next(undefined);
  }

  /**
   * The payments that an order initiates which is placed in another way. They are canceled after the audit.
   *
   * @param host may be in their addresses instead of the shop's own
   */
  async placedBy(place: () => Promise<unknown>, host?: string): Promise<Payment[]> {
    const placed = this.#queue.then(async () => {
      await place();
      const { data } = await this.#gateway.payments.list({ limit: RECENT });
      const fresh = data.filter(
        (payment) =>
          !this.#known.has(payment.id) &&
          !this.#isAttackers(payment) &&
          (this.#isOfShop(payment) || (host !== undefined && payment.ipnUrl.includes(host))),
      );
      for (const { id } of fresh) this.#known.add(id);
      this.spare.push(...fresh);
      return fresh;
    });
    this.#queue = placed.catch(() => {});
    return placed;
  }

  /** Whether another order has the same identifier. */
  isRepeated({ id, identifier }: Payment): boolean {
    return this.made.some((other) => other.identifier === identifier && other.id !== id);
  }

  /** The known values of an order, with the shop's own name for it. */
  valuesOf(payment: Payment): OrderValues {
    return valuesOf(payment, this.#names.get(payment.id));
  }

  /** The cookies of the customer who placed an order, as a Cookie header; undefined if the shop set none. */
  cookiesOf({ id }: Payment): string | undefined {
    return this.#cookies.get(id);
  }

  /** Also records payments of an abandoned order and of the attacker, so that they can be canceled. */
  async abandon(): Promise<void> {
    const { data } = await this.#gateway.payments.list({ limit: RECENT });
    this.made.push(
      ...data.filter(
        (payment) => this.#isAttackers(payment) || (this.#isPlacing && !this.#known.has(payment.id)),
      ),
    );
  }

  /** Places an order. If its identifier is made of the time, and so that of another order, it waits and places the next. */
  async #makeOwn(): Promise<Payment> {
    if (this.#isClocked) await pause(CLOCK_MS);
    const order = await this.#make();
    if (this.#isClocked || areByHand(this.#options) || !this.isRepeated(order)) return order;
    await pause(CLOCK_MS);
    const next = await this.#make();
    if (this.isRepeated(next)) return next;
    this.#isClocked = true;
    this.made.splice(this.made.indexOf(order), 1);
    this.repeated.push(order);
    return next;
  }

  async #make(): Promise<Payment> {
    const { timeoutMs = INITIATE_LIMIT_MS, cancelled, onNotice } = this.#options;
    const isByHand = areByHand(this.#options);
    if (isByHand) {
      const count = `order ${this.made.length + 1} of at most ${this.#most}`;
      onNotice?.(`Place an order in the shop within 10 minutes (${count}).`);
    }
    const limitMs = isByHand ? BY_HAND_LIMIT_MS : timeoutMs;
    const deadline = performance.now() + limitMs;
    const givenUp = new AbortController();
    let result: Placed | { error: unknown } | undefined;
    this.#isPlacing = true;
    const placed = this.#request(() => this.#place(givenUp.signal)).then(
      (shown) => {
        result = shown;
      },
      (error: unknown) => {
        result = { error };
      },
    );
    try {
      for (;;) {
        cancelled?.throwIfAborted();
        const ended = result;
        const fresh = (await this.#recent()).filter(({ id }) => !this.#known.has(id));
        const order = fresh.at(-1);
        const isLate = performance.now() > deadline;
        // A failure counts only if no payment was initiated: a shop may answer 500 after a successful order, or hang.
        if (order && (ended || isLate))
          return this.#add(order, fresh, ended && !('error' in ended) ? ended : {});
        if (ended && 'error' in ended) await this.#failedToPlace(ended.error);
        if (isLate) {
          const text = `the shop initiated no payment within ${limitMs / 1_000} s of the order`;
          const why = ended || isByHand ? `: ${await this.#whyNone()}` : this.#stillRunning();
          throw new GatewayError('timed_out', `${text}${why}`);
        }
        const poll = pause(POLL_MS);
        await (ended ? poll : Promise.race([placed, poll]));
      }
    } finally {
      givenUp.abort();
    }
  }

  #add(order: Payment, fresh: readonly Payment[], { name, cookies }: Placed): Payment {
    for (const { id } of fresh) this.#known.add(id);
    this.spare.push(...fresh.slice(0, -1));
    if (fresh.length > 1) {
      this.#notices.add('one order initiated several payments: the audit uses the first');
    }
    this.made.push(order);
    this.#isPlacing = false;
    if (name !== undefined) this.#names.set(order.id, name);
    if (cookies !== undefined) this.#cookies.set(order.id, cookies);
    if (!order.auto) return order;
    throw new GatewayError(
      'check_failed',
      "the emulator settles the shop's payments automatically: run the audit without --auto and without magic e-mails",
    );
  }

  async #failedToPlace(error: unknown): Promise<never> {
    if (!(error instanceof GatewayError) || error.code !== 'check_failed') throw error;
    // No server listens there: no shop had a chance to initiate.
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED') throw error;
    throw new GatewayError('check_failed', `${error.message}, and ${await this.#whyNone()}`, {
      cause: error,
    });
  }

  /** Describes the order that has not ended in time. */
  #stillRunning(): string {
    const { orderCmd, orderUrl } = this.#options;
    const request = orderUrl === undefined ? 'the order function' : `${this.method} ${orderUrl}`;
    return `, and \`${this.#gateway.mask(orderCmd ?? request)}\` was still running. --timeout sets this limit`;
  }

  /** Describes what the emulator saw of an order that initiated no payment. */
  async #whyNone(): Promise<string> {
    const { url, publicKey, mask } = this.#gateway;
    const { data } = await this.#gateway.requests.list({});
    const refused = data.find(
      ({ id, method, target, paymentId }) =>
        id > this.#lastRequest && method === 'POST' && paymentId === null && target.includes('/initiate'),
    );
    return refused
      ? `the emulator at ${url} (public key ${publicKey}) rejected the initiate request ${mask(refused.requestBody ?? '', { most: 60 })} with ${refused.responseBody ?? 'no response'}`
      : `no initiate request reached ${url}. Check how the order is placed, and which gateway address and public key (${publicKey}) the shop uses. The command "keys env" prints both`;
  }

  async #recent(): Promise<Payment[]> {
    const { data } = await this.#gateway.payments.list({ limit: RECENT });
    return data.filter((payment) => !this.#isAttackers(payment) && this.#isOfShop(payment));
  }

  #isOfShop({ ipnUrl }: Payment): boolean {
    return this.origin === undefined || originOf(ipnUrl) === this.origin;
  }

  #isAttackers({ ipnUrl }: Payment): boolean {
    return ipnUrl === this.#attackerUrl;
  }
}

export const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : url);

/** What the shop shows of an order that was placed. */
interface Placed {
  /** The shop's own name for it. */
  name?: string | undefined;
  /** Those that the customer got, as a Cookie header. */
  cookies?: string | undefined;
}

const SET_COOKIE = /^set-cookie: *(.+?)\r?$/gim;

/** @param set Set-Cookie headers */
const cookieHeader = (set: readonly string[]): string | undefined =>
  set.length ? set.map((one) => one.split(';', 1)[0]).join('; ') : undefined;

/** The Set-Cookie headers in an output, as `curl -i` prints them, and its last line that is no header. */
function placedAs(output: unknown): Placed {
  if (typeof output !== 'string' && typeof output !== 'number') return {};
  const text = String(output);
  return {
    name: text.replace(SET_COOKIE, '').trimEnd().split('\n').at(-1)?.trim(),
    cookies: cookieHeader([...text.matchAll(SET_COOKIE)].map(([, one = '']) => one)),
  };
}

/** Makes the shop initiate a payment. @param givenUp aborts the order when the audit stops waiting for it */
type PlaceOrder = (givenUp: AbortSignal) => Promise<Placed>;

function placeOf(gateway: AuditGateway, options: CompleteOptions, orders: Orders): PlaceOrder {
  const { orderCmd, orderUrl, order, ipnUrl } = options;
  const { timeoutMs, cancelled } = options;
  const endedBy = (givenUp: AbortSignal) => (cancelled ? AbortSignal.any([cancelled, givenUp]) : givenUp);
  if (order) return async () => placedAs(await callUserFunction('placing an order', order));
  if (orderCmd !== undefined) {
    const command = readCommand('the order command', orderCmd, ['ipn_url']);
    const running = { environment: gateway.env, mask: gateway.mask, limitMs: timeoutMs };
    return async (givenUp) =>
      placedAs(await runCommand(command, { ipn_url: ipnUrl }, { ...running, cancelled: endedBy(givenUp) }));
  }
  if (orderUrl !== undefined) {
    const request = {
      url: orderUrl,
      guard: gateway.egress,
      timeoutMs: timeoutMs ?? INITIATE_LIMIT_MS,
    };
    return async (givenUp) => {
      const signal = endedBy(givenUp);
      const answer = await requestOrder({ ...request, method: orders.method, signal });
      if (orders.method === 'POST' && NO_POST.includes(answer.status)) {
        const byGet = await requestOrder({ ...request, method: 'GET', signal });
        if (byGet.status < 400) {
          orders.method = 'GET';
          return { cookies: byGet.cookies };
        }
      }
      const { status, body, cookies } = answer;
      if (status < 400) return { cookies };
      const words = errorPage(body) ?? ownWords(body);
      const what = `could not place an order: ${orders.method} ${orderUrl}`;
      throw new GatewayError('check_failed', `${what} answered ${status}${words ? ` “${words}”` : ''}`);
    };
  }
  return async () => {
    if (!areByHand(options)) await gateway.payments.create({ ipnUrl });
    return {};
  };
}

/** What a shop answers to a method that an address does not accept; some frameworks know only the first. */
const NO_POST: readonly number[] = [404, 405];

/** @throws GatewayError `forbidden`; `check_failed` if the shop does not respond */
async function requestOrder(request: Parameters<typeof ask>[0]) {
  const read = async (answer: IncomingMessage) => {
    const { statusCode: status = 0, headers } = answer;
    // The response may break off. Only that of an error is read.
    const body = status < 400 ? '' : await readText(answer).catch(() => '');
    return { status, cookies: cookieHeader(headers['set-cookie'] ?? []), body };
  };
  return ask(request, read, `could not place an order: ${request.method} ${request.url} failed`);
}
