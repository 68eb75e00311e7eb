import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import { withQueryOf } from '../delivery/forward.ts';
import type { IpnTools } from '../wire/dialect.ts';
import type { AuditClient, Observation, ProbeRequest } from './client.ts';
import { valuesOf } from './command.ts';
import { shotText } from './describe-request.ts';
import type { AuditGateway } from './gateway.ts';
import { Ipn } from './ipn.ts';
import type { Orders } from './orders.ts';
import { MAX_MEASURES, measures, type OrderSnapshot, type Probe } from './probe.ts';

/** What is known of the shop under test. */
export interface ShopParts {
  gateway: AuditGateway;
  client: AuditClient;
  tools: IpnTools;
  orders: Orders;
  /** The address given by the user: what an attacker knows who never saw an order's own. */
  ipnUrl: string;
  /** Where IPNs of the attacker's own payments go. */
  attackerUrl: string;
  probe: Probe | undefined;
  isPaid: (text: string) => boolean;
  effects: ReadonlyMap<string, Probe>;
  /** Path of an order's total in what the probe says, such as `.total`. */
  orderAmount: string | undefined;
  /** Confirms a payment beside success_url, with placeholders; undefined where the shop has none. */
  confirmUrl: string | undefined;
  /** Whether orders are the shop's own, and not invented here. */
  hasOrders: boolean;
  notices: Set<string>;
  /** Nothing more is sent and looked at once it is aborted. */
  cancelled: AbortSignal | undefined;
}

/** How the control went: what all other cases are measured by. */
export interface Calibration {
  /** From the answer until the probe says that the order is paid, in milliseconds. */
  lagMs: number;
  /** From the request to the answer. */
  answerMs: number;
  /** By how much one payment changes the numbers that the probes say, by probe and place. */
  changes: ReadonlyMap<string, number>;
  amount: string;
  /** Where a genuine IPN was accepted, as `routeOf` gives it. */
  route: string;
  /** Where the emulator sends all IPNs instead (`--forward-ipn`), without the query of an order; null: nowhere. */
  forwardTo: string | null;
}

/** A handler that answers first and works later gets this long at most. */
const LONGEST_WAIT_MS = 5_000;
const POLL_MS = 15;
/** Without any change for this long a payment has had all its effects; what a queue does takes longer. */
const QUIET_MS = 500;
const QUIET_WITH_EFFECTS_MS = 1_000;
/** For a shop that is about to end to do so, and for all its connections to break. */
const BREAK_MS = 50;
const SHORTEST_GRACE_MS = 60;
const SHORTEST_PATIENCE_MS = 700;

/** The shop under test: places orders, sends requests, looks at what it did. */
export class Shop {
  readonly parts: ShopParts;
  /** Everything that was seen, for what must not leak. */
  readonly seen: { shot: ProbeRequest; observation: Observation; endedAt: number }[] = [];
  /** Whether what the probe says of an order changes without any doing. */
  changesByItself = false;
  /** Further probes that do. */
  readonly restless = new Set<string>();
  calibration: Calibration = {
    lagMs: 0,
    answerMs: 0,
    changes: new Map(),
    amount: '',
    route: '',
    forwardTo: null,
  };

  constructor(parts: ShopParts) {
    this.parts = parts;
  }

  get canLook(): boolean {
    return this.parts.probe !== undefined;
  }

  /** Whether a probe tells what one payment does: a further one, or a number or list of the order that grew with the control. */
  get hasEffectProbe(): boolean {
    return this.parts.effects.size > 0 || [...this.calibration.changes.values()].some((change) => change > 0);
  }

  /** The correct IPN that would tell of this payment. */
  ipnOf(payment: Payment): Ipn {
    return Ipn.of(this.parts.tools, payment, this.parts.gateway.secretKey);
  }

  /** The address of an order's own IPN, query included. */
  addressOf({ ipnUrl }: Payment): string {
    const { forwardTo } = this.calibration;
    return forwardTo === null ? ipnUrl : withQueryOf(forwardTo, ipnUrl);
  }

  /** What posts an IPN. */
  shot(url: string, ipn: Ipn): ProbeRequest {
    return { url, body: ipn.form };
  }

  see(shot: ProbeRequest, observation: Observation): void {
    this.seen.push({ shot, observation, endedAt: performance.now() });
  }

  async send(shot: ProbeRequest): Promise<Observation> {
    this.parts.cancelled?.throwIfAborted();
    const observation = await this.parts.client.send(shot);
    this.see(shot, observation);
    if (observation.status === null) await this.#requireAlive();
    return observation;
  }

  async sendTogether(shots: readonly ProbeRequest[]): Promise<Observation[]> {
    this.parts.cancelled?.throwIfAborted();
    const observations = await this.parts.client.sendTogether(shots);
    for (const [index, shot] of shots.entries()) {
      const observation = observations[index];
      if (observation) this.see(shot, observation);
    }
    if (observations.every(({ status }) => status === null)) await this.#requireAlive();
    return observations;
  }

  /** @throws GatewayError `check_failed` when a request has ended the shop */
  async #requireAlive(): Promise<void> {
    const ended = await this.outage();
    if (ended !== undefined) throw new GatewayError('check_failed', ended.text);
  }

  /** Whether the shop has ended since the control, and which requests probably did it. */
  async outage(): Promise<{ text: string; suspects: ProbeRequest[] } | undefined> {
    const { client, ipnUrl } = this.parts;
    await pause(BREAK_MS);
    if (!(await client.isDown(ipnUrl))) return undefined;
    const first = this.seen.findIndex(
      ({ observation }) => observation.failure?.code === 'connection_refused',
    );
    const before = this.seen.slice(0, first < 0 ? undefined : first);
    const last = before.slice(-SUSPECTS);
    const unanswered = last.filter(({ observation }) => observation.status === null);
    const until = unanswered[0]?.endedAt ?? 0;
    // What was sent after the first of them was lost met a shop that was about to end.
    const together = unanswered.filter(
      ({ observation, endedAt }) => endedAt - observation.durationMs < until,
    );
    const suspects = (together.length ? together : last.slice(-1)).map(({ shot }) => shot);
    const text = `the shop has ended: nothing listens at ${new URL(ipnUrl).host} any more. Probably ${suspects.length > 1 ? 'one of these requests' : 'this request'} ended it: ${suspects.map(shotText).join('; ')}`;
    return { text, suspects };
  }

  /** The customer pays, and nobody but the audit tells the shop. */
  async pay({ id }: Payment): Promise<void> {
    await this.parts.gateway.payments.approve(id, { delivery: 'redirect-only', by: 'audit' });
  }

  /** A sandbox payment of the attacker, paid: its genuine IPN went to the attacker. */
  async attackerIpn(fields: { identifier?: string; amount?: string; currency?: string }): Promise<Ipn> {
    const { gateway, attackerUrl, tools } = this.parts;
    const payment = await gateway.payments.create({ ...fields, ipnUrl: attackerUrl, mode: 'sandbox' });
    const { delivery } = await gateway.payments.approve(payment.id, {
      delivery: 'ipn-only',
      awaitDelivery: true,
      by: 'audit',
    });
    const body = delivery?.body;
    // Without a delivery the emulator was told to send nothing: what it would have sent is known all the same.
    return body === undefined || body.startsWith('{') ? this.ipnOf(payment) : Ipn.read(tools, body);
  }

  /** @throws GatewayError `check_failed` when a probe does not work */
  async look(payment: Payment): Promise<OrderSnapshot> {
    const { probe, isPaid, effects, orders, cancelled } = this.parts;
    cancelled?.throwIfAborted();
    const at = performance.now();
    const values = valuesOf(payment, orders.nameOf(payment));
    const text = probe ? await probe(values) : '';
    if (probe && text.trim() === '') {
      throw new GatewayError('check_failed', `the probe said nothing about "${payment.identifier}"`);
    }
    const looked = new Map<string, string>();
    for (const [name, effect] of effects) looked.set(name, await effect(values));
    return { paid: probe ? isPaid(text) : null, text, effects: looked, order: payment, at };
  }

  /** Waits until the order counts as paid. @returns how the shop looks then, or when time is up */
  async lookUntilPaid(payment: Payment): Promise<OrderSnapshot> {
    const deadline = performance.now() + this.#patienceMs;
    for (;;) {
      const look = await this.look(payment);
      if (look.paid !== false || performance.now() >= deadline) return look;
      await pause(POLL_MS);
    }
  }

  /** Waits until nothing changes any more after a payment. @returns how the shop looks then, and when that began */
  async lookUntilQuiet(
    payment: Payment,
    first: OrderSnapshot,
  ): Promise<{ look: OrderSnapshot; changedAt: number }> {
    const quietMs = this.parts.effects.size ? QUIET_WITH_EFFECTS_MS : QUIET_MS;
    const deadline = performance.now() + LONGEST_WAIT_MS;
    let [look, changedAt] = [first, first.at];
    while (performance.now() < Math.min(changedAt + quietMs, deadline)) {
      await pause(2 * POLL_MS);
      const next = await this.look(payment);
      const isOther = next.text !== look.text && !this.changesByItself;
      if (isOther || this.changedEffects(look, next).length) changedAt = next.at;
      look = next;
    }
    return { look, changedAt };
  }

  /** Which of the further probes say something else, by name; those that do so by themselves are left out. */
  changedEffects(before: OrderSnapshot, after: OrderSnapshot): string[] {
    const changed = [...after.effects].filter(([name, text]) => text !== before.effects.get(name));
    return changed.map(([name]) => name).filter((name) => !this.restless.has(name));
  }

  /** Far longer than the control took. */
  get #patienceMs(): number {
    const { lagMs, answerMs } = this.calibration;
    if (lagMs === 0) return LONGEST_WAIT_MS;
    return Math.min(SHORTEST_PATIENCE_MS + 10 * (lagMs + answerMs), LONGEST_WAIT_MS);
  }

  /** What the shop looks like when a payment that it took would have shown by now. */
  async lookAfterGrace(payment: Payment): Promise<OrderSnapshot> {
    await this.grace();
    return this.look(payment);
  }

  /** As long as the shop took for the control, and more. */
  grace(): Promise<void> {
    const { lagMs } = this.calibration;
    return pause(Math.min(SHORTEST_GRACE_MS + 3 * lagMs, LONGEST_WAIT_MS));
  }
}

/** An address without its query and what no two orders have in common: what tells one handler from another. */
export function routeOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/[^/]{16,}|\d+/g, '*');
}

/** As many requests as may have been under way when the shop ended. */
const SUSPECTS = 6;

/** By how much the numbers in what the probes say have changed, by probe and place; what did not change is left out. */
export function numericChanges(before: OrderSnapshot, after: OrderSnapshot): Map<string, number> {
  const texts = (look: OrderSnapshot): [string, string][] => [['', look.text], ...look.effects];
  const old = new Map(texts(before));
  const changes = new Map<string, number>();
  for (const [name, text] of texts(after)) {
    const was = measures(old.get(name) ?? '');
    // Where there was more than is measured, what is there now may have been there before.
    const isAll = was.size < MAX_MEASURES;
    for (const [place, value] of measures(text)) {
      const change = value - (was.get(place) ?? (isAll ? 0 : value));
      if (change !== 0) changes.set(`${name}${place}`, change);
    }
  }
  return changes;
}
