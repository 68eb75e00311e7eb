import { GatewayError, usage } from '../contract/error.ts';
import type { Payment, Settled } from '../contract/payment.ts';
import { Database } from '../database/database.ts';
import { endpointOf } from '../delivery/egress.ts';
import { ExchangeClient, type ExchangeRequest, type Observation } from '../delivery/exchange.ts';
import { withQueryOf } from '../delivery/forward.ts';
import { invent } from '../service/ipn.ts';
import { Patience } from '../shop/patience.ts';
import {
  changedPlaces,
  comparedBy,
  differenceOf,
  numericChanges,
  type OrderSnapshot,
  probesOf,
} from '../shop/probe.ts';
import { Turns } from '../shop/turns.ts';
import { Witness } from '../shop/witness.ts';
import { pause, performance } from '../system/real-time.ts';
import type { AuditGateway } from './gateway.ts';
import { guessProbe } from './guess-probe.ts';
import { Ipn, UNKNOWN_ORDER } from './ipn.ts';
import { areByHand, type CompleteOptions, hasOrders } from './options.ts';
import { Orders } from './order-source.ts';
import type { AuditCheck } from './report.ts';
import { requestText } from './request-text.ts';
import type { ShopProcess } from './shop-process.ts';

/** A request and the response. */
interface Exchange {
  request: ExchangeRequest;
  observation: Observation;
  /** Whether the shop was still running shortly after a request without a response. */
  isSurvived?: true;
}

/** Maximum requests that may have been running when the shop crashed. */
const SUSPECTS = 6;
/** Maximum wait for the response to a request while another is not whole. Only a shop that handles one at a time needs it. */
const OVERLAP_WAIT_MS = 2_000;
/** Time for a crashing shop to exit and close its connections. */
const BREAK_MS = 50;

/** The default limit for a response, in milliseconds: a slow handler that takes the payment is no failure. */
export const TIMEOUT_MS = 30_000;

/** Stands for the response to a request that was held back. */
const HELD_BACK: Observation = {
  status: 200,
  headers: [],
  body: '',
  failure: null,
  error: null,
  durationMs: 0,
};

/** The shop under test, and everything that the audit knows about it. */
export class Shop {
  readonly gateway: AuditGateway;
  options: CompleteOptions;
  /** Receives the IPNs of the attacker's own payments. */
  readonly attackerUrl: string;
  readonly orders: Orders;
  probes: ReturnType<typeof probesOf>;
  readonly database: Database | undefined;
  /** The shop's database, if it shows the state of orders. */
  readonly witness: Witness | undefined;
  /** Whether a probe was looked for. */
  #hasLookedForProbe = false;
  /** Whether no other case is running, so that an effect on shared rows has one cause. */
  isAlone = true;
  /** Messages for the user. */
  readonly notices = new Set<string>();
  /** All requests and responses, to search for leaks. */
  readonly seen: Exchange[] = [];
  /** The first request since the shop was started again. */
  #startedAt = 0;
  /** The shop's own process, if the audit started it. */
  process: ShopProcess | undefined;
  /** The limit for a response, in milliseconds. */
  readonly timeoutMs: number;
  readonly #client: ExchangeClient;
  readonly patience = new Patience();
  /** What each payment is expected to change: places of its order, and the output of further probes. */
  #expected = { places: new Set<string>(), effects: new Set<string>() };
  /** What is learned is not learned from the attacks of other cases. */
  readonly #turns = new Turns();
  /** The part of the probe's output for an order that changes only with a cause. */
  stablePart = (text: string) => text;
  #overlaps: Promise<boolean> | undefined;
  #learning: Promise<ReadonlySet<string>> | undefined;
  /** Places that only record IPNs; empty until they are learned. */
  #learned: ReadonlySet<string> = new Set();
  /** What the control saw of the set-up, without secrets. */
  readonly check: AuditCheck = { wrong: 'order', order: null, before: null, answer: null, after: null };
  /** The order of the control, paid by its IPN; null until then. */
  control: { payment: Payment; before: OrderSnapshot } | null = null;
  /** The orders that their genuine IPN has paid, the first one first, and when. */
  readonly settled: { payment: Payment; at: number }[] = [];
  /** Payments whose customer has paid, and when the genuine IPN of each was first sent. */
  readonly #paid = new Map<string, number | undefined>();
  /** Orders to which something else than their genuine IPN was sent. */
  readonly #attacked = new Set<string>();
  /** Orders to which nothing else was sent, and that their genuine IPN did not pay, and when. */
  readonly lost: { payment: Payment; observation: Observation; at: number }[] = [];
  /** Whether requests on trial are held back: what happens all the same has another cause. */
  holdsBack = false;
  /** Other probes whose output changes without a cause. */
  readonly unstable = new Set<string>();
  /** What ended before the audit did; null if nothing did. */
  cutShort: string | null = null;
  /** The names of the cases that are running. */
  readonly running = new Set<string>();
  /** Measurements of the control, which all other cases are compared with. */
  calibration = {
    /** From the request to the response, in milliseconds. */
    answerMs: 0,
    /** How much one payment changes the numbers in the probes' output, by probe and place. */
    changes: new Map<string, number>(),
    amount: '',
    /** The route that accepted a genuine IPN (`routeOf`). */
    route: '',
    /** Where the emulator forwards all IPNs (`--forward-ipn`), without the order's query string; null if it does not. */
    forwardTo: null as string | null,
  };

  /** @throws GatewayError `usage` for an invalid command or condition */
  constructor(gateway: AuditGateway, options: CompleteOptions, attackerUrl: string) {
    const { timeoutMs = TIMEOUT_MS, cancelled } = options;
    this.gateway = gateway;
    this.timeoutMs = timeoutMs;
    this.options = options;
    this.attackerUrl = attackerUrl;
    const { db, dbCmd, dbSkip, effects } = options;
    if ((db ?? dbCmd) !== undefined) {
      this.database = new Database({ db, dbCmd, dbSkip }, (host, port) => gateway.egress.resolve(host, port));
      this.witness = new Witness(this.database, this.patience, effects);
    }
    this.orders = new Orders(gateway, options, this.notices, attackerUrl, (run) => this.#request(run));
    this.probes = probesOf(options, gateway);
    this.#client = new ExchangeClient(gateway.egress, timeoutMs, { cancelled });
  }

  /** Runs a request to the shop, but not while its database is read. */
  #request<Result>(run: () => Promise<Result>): Promise<Result> {
    return this.witness ? this.witness.request(run) : run();
  }

  /** Learns from the database what an order and a payment are. @throws GatewayError `usage` if it shows neither */
  async #learn(witness: Witness): Promise<void> {
    this.options.onNotice?.('learning from your database: a few orders are placed, and two of them paid');
    // If its identifier is made of the time, the next order has it, too, and neither can be learned from.
    if (!areByHand(this.options)) (await this.orders.takeNew())?.[Symbol.dispose]();
    const found = await witness.learn(this).catch((error: unknown) => {
      // Nothing is proven if the set-up does not work.
      if (error instanceof GatewayError && error.code === 'check_failed') throw usage(error.message);
      throw error;
    });
    if ('missing' in found) throw usage(`nothing can be learned from the database: ${found.missing}`);
    const paidWhen = this.options.paidWhen ?? found.paidWhen;
    this.options = { ...this.options, paidWhen };
    this.probes = probesOf(this.options, this.gateway);
    for (const notice of [witness.describe(paidWhen), ...witness.notices]) this.notices.add(notice);
  }

  /** Learns from the database, if there is one. @throws GatewayError `usage` if it shows neither orders nor payments */
  async learn(): Promise<void> {
    if (this.witness) await this.#learn(this.witness);
  }

  /** Looks for a probe and a condition if the user gave neither, and the shop places orders without help. */
  async #guessProbe(payment: Payment): Promise<void> {
    const { gateway, notices, options } = this;
    if (this.#hasLookedForProbe) return;
    this.#hasLookedForProbe = true;
    if (this.canLook || !this.hasOrders || areByHand(options)) return;
    const found = await guessProbe(payment, options.orderUrl, gateway.egress);
    if (!found) return;
    this.options = { ...options, ...found };
    this.probes = probesOf(this.options, gateway);
    const { probeUrl, paidWhen } = found;
    notices.add(
      `no probe was given: ${probeUrl} shows each order, so it is the probe, with --paid-when '${paidWhen}'`,
    );
  }

  /** Whether the shop places the orders. Otherwise the audit invents them. */
  get hasOrders(): boolean {
    return hasOrders(this.options);
  }

  /** Whether a probe shows the state of an order. */
  get canLook(): boolean {
    return this.probes.probe !== undefined || this.witness !== undefined;
  }

  /**
   * Whether any probe output shows the effects of a payment: a further probe, or a number or list that grew with the
   * control.
   */
  get hasEffectProbe(): boolean {
    if (this.witness) return true;
    const isStable = [...this.probes.effects.keys()].some((name) => !this.unstable.has(name));
    return isStable || [...this.calibration.changes.values()].some((change) => change > 0);
  }

  /** The body of a payment's correct IPN, as the emulator would send it. */
  #bodyOf(
    { identifier, amount, currency, trx, charge, customerName, createdAt }: Payment,
    format: 'form' | 'json',
  ): string {
    const { secretKey } = this.gateway;
    const set = { 'data.charge': charge, 'data.account_holder': customerName };
    const made = { trx, now: Date.parse(createdAt), secretKey };
    return invent({ identifier, amount, currency }, made, { format, set }).body;
  }

  /** The correct IPN of a payment. */
  ipnOf(payment: Payment): Ipn {
    return Ipn.read(this.#bodyOf(payment, 'form'));
  }

  /** The correct IPN of a payment as JSON. */
  jsonOf(payment: Payment): Record<string, unknown> {
    return JSON.parse(this.#bodyOf(payment, 'json'));
  }

  /** The address for IPNs of an order, including its query string. */
  addressOf({ ipnUrl }: Payment): string {
    const { forwardTo } = this.calibration;
    return forwardTo === null ? ipnUrl : withQueryOf(forwardTo, ipnUrl);
  }

  /** The request that posts an IPN to an order's ipn_url. */
  postOf(payment: Payment): (ipn: Ipn) => ExchangeRequest {
    return (ipn) => ({ url: this.addressOf(payment), body: ipn.form });
  }

  /** Requests that no payment explains: of the first page, of one that is not there, and of the return page of an order. */
  foreignRequests(payment: Payment): ExchangeRequest[] {
    const address = this.addressOf(payment);
    const { successUrl } = payment;
    return [
      { url: new URL('/', address).href },
      { url: new URL('/no-such-page', address).href },
      ...(this.hasOrders && this.whyClosed(successUrl) === undefined ? [{ url: successUrl }] : []),
    ];
  }

  /** Why a page cannot be opened; undefined if it can. */
  whyClosed(page: string): string | undefined {
    const { egress, url } = this.gateway;
    const { host, port } = endpointOf(new URL(page));
    const own = new URL(url);
    if (host === own.hostname && String(port) === own.port)
      return `${page} is a page of the emulator, not of the shop`;
    const refused = egress.unreachable(page);
    return refused ? `${page} is not local: ${refused}` : undefined;
  }

  /** Records a request and the response. */
  see(request: ExchangeRequest, observation: Observation): Exchange {
    const exchange = { request, observation };
    this.seen.push(exchange);
    return exchange;
  }

  send(request: ExchangeRequest): Promise<Observation> {
    return this.#turns.request(() => this.#send(request));
  }

  /** Sends a request that places an order, also while the audit learns: that may wait for orders. */
  sendOrder(request: ExchangeRequest): Promise<Observation> {
    return this.#send(request);
  }

  async #send(request: ExchangeRequest): Promise<Observation> {
    this.options.cancelled?.throwIfAborted();
    const observation = await this.#request(() => this.#client.send(request));
    await this.#requireAlive([this.see(request, observation)]);
    return observation;
  }

  sendTogether(requests: readonly ExchangeRequest[]): Promise<Observation[]> {
    return this.#turns.request(() => this.#sendTogether(requests));
  }

  async #sendTogether(requests: readonly ExchangeRequest[]): Promise<Observation[]> {
    this.options.cancelled?.throwIfAborted();
    const observations = await this.#request(() => this.#client.sendTogether(requests));
    const exchanges = requests.flatMap((request, index) => {
      const observation = observations[index];
      return observation ? [this.see(request, observation)] : [];
    });
    await this.#requireAlive(exchanges);
    return observations;
  }

  /**
   * Whether the shop answers a request while another is still arriving. If it handles one at a time, copies never meet, and
   * prove nothing. True if it cannot be told.
   */
  overlaps(): Promise<boolean> {
    this.#overlaps ??= this.#tryOverlap();
    return this.#overlaps;
  }

  async #tryOverlap(): Promise<boolean> {
    const { control } = this;
    const limitMs = OVERLAP_WAIT_MS + 2 * this.calibration.answerMs;
    if (!control) return true;
    // About no order: a shop may undo a payment for a wrong signature.
    const ipn = this.ipnOf(control.payment).set('identifier', UNKNOWN_ORDER).badlySigned();
    const request = this.postOf(control.payment)(ipn);
    return this.#request(() => this.#client.answersDuring(request, limitMs));
  }

  /** @throws GatewayError `check_failed` if a request without a response has crashed the shop */
  async #requireAlive(sent: readonly Exchange[]): Promise<void> {
    const unanswered = sent.filter(({ observation }) => observation.status === null);
    if (!unanswered.length) return;
    const ended = await this.outage();
    if (ended !== undefined) throw new GatewayError('check_failed', `the shop stopped: ${ended}`);
    for (const exchange of unanswered) exchange.isSurvived = true;
  }

  /** Whether nothing listens at the address of the handler. */
  isDown(): Promise<boolean> {
    return this.#client.isDown(this.options.ipnUrl);
  }

  /** Which requests were running when the shop stopped, in words; undefined if it has not stopped. */
  async outage(): Promise<string | undefined> {
    await pause(BREAK_MS);
    if (!(await this.isDown())) return undefined;
    const first = this.seen.findIndex(
      ({ observation }) => observation.failure?.code === 'connection_refused',
    );
    const before = this.seen.slice(this.#startedAt, first < 0 ? undefined : first);
    const last = before.slice(-SUSPECTS);
    const unanswered = last.filter(
      ({ observation, isSurvived }) => observation.status === null && !isSurvived,
    );
    const running = (unanswered.length ? unanswered : last.slice(-1)).map(({ request }) =>
      requestText(request, this.gateway.mask),
    );
    const { host } = new URL(this.options.ipnUrl);
    return `nothing is listening on ${host} since these requests were running: ${running.join('; ') || 'none'}`;
  }

  /** Starts the shop again after it stopped. Does nothing without a command for it. */
  async restart(): Promise<boolean> {
    if (!this.process) return false;
    await this.process.restart(() => this.isDown());
    this.#startedAt = this.seen.length;
    return true;
  }

  /** Sends a request that is on trial: to find out whether it caused what was seen, a case runs again without it. */
  try(request: ExchangeRequest, { id }: Pick<Payment, 'id'>): Promise<Observation> {
    if (this.holdsBack) return Promise.resolve(HELD_BACK);
    this.#attacked.add(id);
    return this.send(request);
  }

  /** Like `try`, for requests that must arrive at the same time. @param genuine the one that is not on trial */
  async tryTogether(requests: readonly ExchangeRequest[], genuine: ExchangeRequest, payment: Payment) {
    this.#genuine(payment);
    if (!this.holdsBack) return this.sendTogether(requests);
    const observation = await this.send(genuine);
    return requests.map((request) => (request === genuine ? observation : HELD_BACK));
  }

  /** The customer pays, and the emulator sends no IPN. */
  async pay({ id }: Payment): Promise<void> {
    if (this.#paid.has(id)) return;
    this.#paid.set(id, undefined);
    await this.gateway.payments.approve(id, { delivery: 'redirect-only', by: 'audit' });
  }

  /** Sends an IPN with a wrong signature. */
  sendRefused(payment: Payment, status: string): Promise<Observation> {
    return this.send(this.#refused(payment, status));
  }

  #refused(payment: Payment, status: string): ExchangeRequest {
    return this.postOf(payment)(this.ipnOf(payment).badlySigned().set('status', status));
  }

  /** Sends the genuine IPN of an order whose customer pays, if that has not happened yet. */
  async sendGenuine(payment: Payment): Promise<Observation> {
    await this.pay(payment);
    this.#genuine(payment);
    return this.send(this.postOf(payment)(this.ipnOf(payment)));
  }

  /** From now on, the effects of a payment are expected. */
  #genuine({ id }: Payment): void {
    this.#paid.set(id, this.#paid.get(id) ?? performance.now());
  }

  /** Records that a genuine IPN did not pay its order, if nothing else explains it. */
  noteLoss(payment: Payment, observation: Observation): void {
    const isKnown = this.lost.some(({ payment: { id } }) => id === payment.id);
    if (!isKnown && !this.#attacked.has(payment.id)) {
      this.lost.push({ payment, observation, at: performance.now() });
    }
  }

  /**
   * Whether a change of a number that orders share, such as the stock, is that of the payments whose genuine IPNs were
   * sent between two looks.
   */
  #isExplained(place: string, before: OrderSnapshot, after: OrderSnapshot): boolean {
    const sent = [...this.#paid.values()].filter(
      (at) => at !== undefined && at >= before.at && at <= after.at,
    ).length;
    const one = this.calibration.changes.get(place);
    const change = numericChanges(before, after).get(place);
    if (!sent || one === undefined || change === undefined) return false;
    // How much an order of another price changes is not known.
    const haveOnePrice = new Set(this.orders.made.map(({ amount }) => Number(amount))).size === 1;
    return haveOnePrice ? change === sent * one : Math.sign(change) === Math.sign(one);
  }

  /** The customer pays, and the emulator sends the IPN. @returns its delivery; null if it sends none */
  async payWithIpn({ id }: Payment): Promise<Settled['delivery']> {
    this.#paid.set(id, undefined);
    const how = { delivery: 'ipn-only', awaitDelivery: true, by: 'audit' } as const;
    return (await this.#request(() => this.gateway.payments.approve(id, how))).delivery;
  }

  /**
   * Initiates and pays a sandbox payment of the attacker, who receives its genuine IPN.
   *
   * @param identifier default: an identifier of the attacker's own
   */
  async attackerIpn(
    { amount, currency }: Pick<Payment, 'amount' | 'currency'>,
    identifier?: string,
  ): Promise<Ipn> {
    const { gateway, attackerUrl: ipnUrl } = this;
    const fields = { amount, currency, ipnUrl, mode: 'sandbox', ...(identifier && { identifier }) } as const;
    const payment = await gateway.payments.create(fields);
    const body = (await this.payWithIpn(payment))?.body;
    // Without a delivery, the emulator is configured to send no IPN: reconstruct it.
    return body === undefined || body.startsWith('{') ? this.ipnOf(payment) : Ipn.read(body);
  }

  /** @throws GatewayError `check_failed` if a probe fails */
  async look(payment: Payment): Promise<OrderSnapshot> {
    const { probe, isPaid, effects } = this.probes;
    this.options.cancelled?.throwIfAborted();
    const at = performance.now();
    const values = this.orders.valuesOf(payment);
    const seen = await this.witness?.look(values);
    const { text, status } = probe ? await probe(values) : { text: seen?.text ?? '', status: null };
    if (probe && text.trim() === '') {
      throw new GatewayError('check_failed', `the probe returned nothing for "${payment.identifier}"`);
    }
    const looked = new Map<string, string>(this.isAlone ? seen?.effects : []);
    for (const [name, effect] of effects) looked.set(name, (await effect(values)).text);
    const paid = this.canLook ? isPaid(text) : null;
    return { paid, text: this.stablePart(text), status, effects: looked, at };
  }

  /**
   * A pending order: new, or unchanged since another case left it. An order that something else has changed may be closed,
   * and would convict the case that uses it.
   *
   * @returns undefined if no order is left
   */
  takeOrder(): ReturnType<Orders['take']> {
    return this.#takeUnchanged(() => this.orders.take());
  }

  /** Like `takeOrder`, for a case that holds an order. */
  takeAnother(): ReturnType<Orders['take']> {
    return this.#takeUnchanged(() => this.orders.takeAnother());
  }

  async #takeUnchanged(take: () => ReturnType<Orders['take']>): ReturnType<Orders['take']> {
    for (;;) {
      const order = await take();
      if (order) await this.#guessProbe(order.payment);
      if (order?.text === undefined) return order;
      if (this.isSame(order.text, (await this.look(order.payment)).text)) return order;
      order[Symbol.dispose]();
      if (!this.orders.areLimited && !this.orders.allowAnother()) return undefined;
    }
  }

  /** Waits until the order is paid. @param waitMs default: much longer than any payment took */
  lookUntilPaid(payment: Payment, waitMs?: number): Promise<OrderSnapshot> {
    return this.patience.until(
      () => this.look(payment),
      ({ paid }) => paid !== false,
      waitMs,
    );
  }

  /** Waits until nothing changes any more, and returns also when something last changed. */
  async lookUntilAtRest(payment: Payment, restMs = this.patience.restMs, limitMs?: number) {
    const isSame = (before: OrderSnapshot, after: OrderSnapshot) =>
      before.text === after.text && !this.#changedProbes(before, after).length;
    const { reading, changedAt } = await this.patience.untilAtRest(
      () => this.look(payment),
      isSame,
      restMs,
      limitMs,
    );
    return { look: reading, changedAt };
  }

  /**
   * Waits until a paid order shows everything that the payment of the control changed. What comes later would look like an
   * effect of the next request.
   *
   * @returns the order; undefined if something did not come in time
   */
  async lookUntilComplete(payment: Payment, before: OrderSnapshot): Promise<OrderSnapshot | undefined> {
    const { places, effects } = this.#expected;
    const missing = (look: OrderSnapshot) => {
      const [changed, others] = this.#changed(before, look);
      const late = [...effects].filter((name) => look.effects.has(name) && !others.includes(name));
      return [...[...places].filter((place) => !changed.includes(place)), ...late];
    };
    const began = performance.now();
    let readings = 0;
    const look = await this.patience.until(
      () => this.look(payment),
      (reading) => {
        readings++;
        return !missing(reading).length;
      },
    );
    const late = missing(look);
    if (!late.length && readings > 1) this.patience.tookEffect(performance.now() - began);
    // Not every payment does what the first one did, such as creating the account of a customer.
    for (const name of late) {
      places.delete(name);
      effects.delete(name);
    }
    return late.length ? undefined : look;
  }

  /** The places of the order, and the further probes, that changed. */
  #changed(before: OrderSnapshot, after: OrderSnapshot): [places: string[], effects: string[]] {
    return [changedPlaces(before.text, after.text), this.#changedProbes(before, after)];
  }

  /** Remembers what the payment of the control changed. */
  expectChanges(before: OrderSnapshot, after: OrderSnapshot): void {
    const [places, effects] = this.#changed(before, after);
    this.#expected = { places: new Set(places), effects: new Set(effects) };
  }

  /** The places of an order that changed, except those that only record IPNs. */
  async changesOf(before: OrderSnapshot, after: OrderSnapshot): Promise<string[]> {
    const places = changedPlaces(before.text, after.text);
    if (!places.length) return [];
    const isRecord = await this.records();
    const changed = places.filter((place) => !isRecord(place) && !this.#isExplained(place, before, after));
    const { witness } = this;
    if (!witness) return changed;
    return witness.placesOf(await witness.withoutTidied(changed, before.text, after.text));
  }

  /** Where the state of an order is stored, for SQL: learned from its database, or guessed. */
  orderColumns(): { table: string; column: string; value: string; named: string } {
    const [name = '', value = 'paid'] = comparedBy(this.options.paidWhen ?? '') ?? ['status'];
    const [table = 'orders'] = this.witness ? (this.options.paidWhen ?? '').split('.').slice(1) : [];
    const tie = this.witness?.learned?.order.find((one) => one.startsWith(`${table}.`) && !one.endsWith('*'));
    return { table, column: name, value, named: tie?.slice(table.length + 1) ?? 'identifier' };
  }

  /** Whether the genuine IPN of an order was sent. */
  isPaying({ id }: Payment): boolean {
    return this.#paid.get(id) !== undefined;
  }

  /** Whether a place in the database changes with a payment. */
  isEffect(place: string): boolean {
    return this.witness?.learned?.payment.includes(place) === true;
  }

  /** Whether a place counts what a payment does: a number or list that grew with the control, or new rows. */
  isCounted(place: string): boolean {
    const isRow = this.isEffect(place) && place.endsWith('.*');
    return isRow || this.calibration.changes.has(place.replace(/\[\]$/, '.length'));
  }

  /** The places that the payment of the control changed, except the state of the order. */
  async paidPlaces(): Promise<string[]> {
    const { control } = this;
    const { paidWhen = '' } = this.options;
    if (!control || !paidWhen.startsWith('.')) return [];
    const places = changedPlaces(control.before.text, (await this.look(control.payment)).text);
    return places.filter((place) => !paidWhen.startsWith(`${place}=`));
  }

  /** What differs between two outputs of the probe, for a report. */
  difference(before: string, after: string): string {
    return this.witness?.difference(before, after) ?? differenceOf(before, after, this.gateway.mask);
  }

  /** An output of the probe, for a report. */
  shown(text: string): string {
    return this.witness?.masked(text) ?? text;
  }

  /** Returns a function that tells whether a place of the probe's output only records IPNs. */
  async records(): Promise<(place: string) => boolean> {
    this.#learning ??= this.#learnRecords();
    this.#learned = await this.#learning;
    return (place) => this.#isRecord(place);
  }

  /** Whether a place only records IPNs, as far as is known. */
  #isRecord(given: string): boolean {
    // What is in a list, or its length, belongs to the list.
    const place = given.replace(/\.(?:length$|\d+(?:\.|$).*)/s, '[]');
    return this.isNamedLog(place) || this.#learned.has(place);
  }

  /** Whether the user says that a place only records IPNs. A `*` stands for any part of a name. */
  isNamedLog(place: string): boolean {
    return (this.options.log ?? []).some((log) => {
      const path = log.replace(/^\.|\[\]$|\.\*$/g, '').replace(/[.+?^${}()|[\]\\]/g, '\\$&');
      return new RegExp(`^\\.?${path.replaceAll('*', '[^.]*')}(?:$|[.[])`).test(place);
    });
  }

  /** Whether two outputs of the probe for an order differ only in what is known to record IPNs. */
  isSame(before: string, after: string): boolean {
    return changedPlaces(before, after).every((place) => this.#isRecord(place));
  }

  /**
   * Learns which places of the probe's output only record IPNs: those that rejected IPNs change for a paid order, and for
   * a pending one. An effect of a payment follows from neither, and the state of an order is no record. What moves only
   * with the orders of others, such as their number, is no effect of an IPN either.
   */
  async #learnRecords(): Promise<ReadonlySet<string>> {
    const { control } = this;
    // A case that waits for this holds an order, so this waits for none.
    using pending = control && this.hasOrders ? await this.takeAnother() : undefined;
    // The control's order is also looked at for other reasons, so it is not put at risk.
    using other = pending && (await this.takeAnother());
    if (!control || !pending) return new Set();
    return await this.#turns.read(() => this.#experiment(pending.payment, other?.payment, control.payment));
  }

  /** @param own an order that may be paid; without one, what the paid order of the control shows must do */
  async #experiment(
    pending: Payment,
    own: Payment | undefined,
    ofControl: Payment,
  ): Promise<ReadonlySet<string>> {
    const paid = own ?? ofControl;
    if (own) {
      await this.pay(paid);
      await this.#send(this.postOf(paid)(this.ipnOf(paid)));
      await this.lookUntilPaid(paid);
      await this.patience.rest();
    }
    const changedBy = async (payment: Payment, status: string) => {
      const before = await this.look(payment);
      await this.#send(this.#refused(payment, status));
      return changedPlaces(before.text, (await this.lookAfterRest(payment)).text);
    };
    // A place that holds the last status changes with another status only.
    const ofPaid = [...(await changedBy(paid, 'success')), ...(own ? await changedBy(paid, 'failed') : [])];
    const ofPending = await changedBy(pending, 'failed');
    const start = await this.look(pending);
    using another = await this.orders.takeNew();
    const refuse = another && (() => changedBy(another.payment, 'failed'));
    await refuse?.();
    const middle = await this.look(pending);
    await refuse?.();
    const still = changedPlaces(middle.text, (await this.look(pending)).text);
    const ofOthers = changedPlaces(start.text, middle.text).filter((place) => !still.includes(place));
    const { paidWhen = '' } = this.options;
    const learned = [...ofPaid.filter((place) => ofPending.includes(place)), ...ofOthers];
    return new Set(learned.filter((place) => !paidWhen.startsWith(`${place}=`)));
  }

  /** The names of further probes whose output changed, except unstable ones. */
  #changedProbes(before: OrderSnapshot, after: OrderSnapshot): string[] {
    const changed = [...after.effects].filter(([name, text]) => text !== before.effects.get(name));
    return changed.map(([name]) => name).filter((name) => !this.unstable.has(name) && !this.isNamedLog(name));
  }

  /** The names of further probes whose output changed by more than the genuine IPNs explain. */
  changedEffects(before: OrderSnapshot, after: OrderSnapshot): string[] {
    return this.#changedProbes(before, after).filter((name) => !this.#areExplained(name, before, after));
  }

  /** Whether all numbers of a further probe changed only as the genuine IPNs explain. */
  #areExplained(name: string, before: OrderSnapshot, after: OrderSnapshot): boolean {
    const effectOf = (look: OrderSnapshot) => ({
      ...look,
      text: '',
      effects: new Map([[name, look.effects.get(name) ?? '']]),
    });
    const [was, is] = [effectOf(before), effectOf(after)];
    const places = [...numericChanges(was, is).keys()];
    return places.length > 0 && places.every((place) => this.#isExplained(place, was, is));
  }

  /** Probes an order after the shop has had time to process a request. */
  async lookAfterRest(payment: Payment): Promise<OrderSnapshot> {
    await this.patience.rest();
    return this.look(payment);
  }
}

/** Identifies a handler: an address without its query string and its order-specific parts. */
export function routeOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/[^/]{16,}|\d+/g, '*');
}
