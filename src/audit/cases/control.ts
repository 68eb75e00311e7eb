import { setTimeout as pause } from 'node:timers/promises';
import { FIXES } from '../../contract/describe-delivery.ts';
import type { Payment } from '../../contract/payment.ts';
import { errorPage, answerProblem as problemOfAnswer } from '../../contract/receiver-answer.ts';
import { type AuditCase, evidence, type Finding, withOrder, withoutProbe } from '../case.ts';
import type { Observation } from '../client.ts';
import type { OrderSnapshot } from '../probe.ts';
import { numericChanges, routeOf, type Shop } from '../shop.ts';

/** Whether the handler broke. 501 is how plain servers refuse a method: Python's http.server, for one. */
export const isBroken = (status: number) => status >= 500 && status !== 501;

/** What is wrong with a correct IPN's answer, by what it looks like. */
export function answerProblem(observation: Observation): string | undefined {
  const { status, error } = observation;
  if (status === null) return `there was no answer: ${error}`;
  if (status < 300) return undefined;
  const problem = problemOfAnswer(observation);
  if (problem) return problem.cause;
  return status >= 400 ? `it was answered ${status}` : undefined;
}

/** What to do about it, as far as the answer shows. */
function fixOf(observation: Observation): string {
  const { failure, status } = observation;
  if (status === null) return failure ? FIXES[failure.code] : FIXES.other;
  return (
    problemOfAnswer(observation)?.fix ??
    'Not known: look at the log of the shop, and at what its handler answered.'
  );
}

/** A clock that tells whole seconds. */
const CLOCK = /\d\d:\d\d|\d{10}/;
const CLOCK_MS = 1_100;

/** Looks again at an order to which nothing happens. @returns the numbers that change by themselves */
async function restless(
  shop: Shop,
  payment: Payment,
  before: OrderSnapshot,
): Promise<ReadonlyMap<string, number>> {
  const { notices } = shop.parts;
  if ([before.text, ...before.effects.values()].some((text) => CLOCK.test(text))) await pause(CLOCK_MS);
  const again = await shop.look(payment);
  if (again.text !== before.text) {
    shop.changesByItself = true;
    notices.add('what the probe says changes by itself between two looks: is there a clock in it?');
  }
  for (const name of shop.changedEffects(before, again)) {
    shop.restless.add(name);
    notices.add(
      `what the probe "${name}" says changes by itself between two looks, and proves nothing: is there a clock in it?`,
    );
  }
  return numericChanges(before, again);
}

/** The customer pays, and the emulator itself tells the shop. */
async function payByCourier(shop: Shop, { id, ipnUrl }: Payment) {
  const { delivery } = await shop.parts.gateway.payments.approve(id, {
    delivery: 'ipn-only',
    awaitDelivery: true,
    by: 'audit',
  });
  const attempt = delivery?.attempts.at(-1);
  const forwardTo = attempt && attempt.url !== ipnUrl ? withoutQueryOf(attempt.url, ipnUrl) : null;
  shop.calibration = { ...shop.calibration, forwardTo };
  const observation: Observation = {
    status: attempt?.responseStatus ?? null,
    headers: attempt?.responseHeaders ?? [],
    body: attempt?.responseBody ?? '',
    failure: attempt?.failure ?? null,
    error: attempt?.error ?? delivery?.note ?? 'the emulator was told to send no IPN',
    durationMs: attempt?.durationMs ?? 0,
  };
  const shot = { url: attempt?.url ?? ipnUrl, body: attempt?.requestBody ?? '' };
  shop.see(shot, observation);
  return { observation, shown: evidence(shot, observation) };
}

/** A shop that refuses an order that it does not know is right. */
function isUnknownOrder(shop: Shop, { status }: Observation): boolean {
  return (
    !shop.parts.hasOrders && status !== null && status >= 400 && status < 500 && ![405, 419].includes(status)
  );
}

function whyUnproven(shop: Shop, observation: Observation): string {
  return isUnknownOrder(shop, observation)
    ? 'the order was invented, and the shop does not know it: let the shop place one'
    : withoutProbe('whether the order was paid').why;
}

function whyNotPaid(shop: Shop, { body }: Observation): string {
  const fault = errorPage(body);
  if (fault) {
    return `The shop answered a correct IPN with an error of its program, and the order is not paid: ${fault}.`;
  }
  return shop.parts.hasOrders
    ? 'The shop answered a correct IPN, but the order is not paid afterwards: look at the handler, or at the condition of the probe.'
    : 'The shop did not pay an order that was invented here: let the shop place one.';
}

async function runControl(shop: Shop): Promise<Finding> {
  return withOrder(shop, async (payment, before) => {
    const { ipnUrl, notices, hasOrders } = shop.parts;
    if (hasOrders && routeOf(payment.ipnUrl) !== routeOf(ipnUrl)) {
      notices.add(`the order gave ${payment.ipnUrl} as its ipn_url: that is attacked, not ${ipnUrl}`);
    }
    const idle = await restless(shop, payment, before);
    const { observation, shown } = await payByCourier(shop, payment);
    const answered = performance.now();
    const problem = answerProblem(observation);
    if (problem !== undefined && !isUnknownOrder(shop, observation)) {
      return {
        ...shown,
        verdict: 'fail',
        why: `The shop does not take a correct IPN: ${problem.replace(/\.$/, '')}.`,
        fix: fixOf(observation),
      };
    }
    if (!shop.canLook) return { ...shown, verdict: 'unproven', why: whyUnproven(shop, observation) };
    const after = await shop.lookUntilPaid(payment);
    if (!after.paid) return { ...shown, verdict: 'fail', why: whyNotPaid(shop, observation) };
    const { look: settled, changedAt } = await shop.lookUntilQuiet(payment, after);
    const changes = numericChanges(before, settled);
    for (const place of idle.keys()) changes.delete(place);
    shop.calibration = {
      ...shop.calibration,
      lagMs: Math.max(changedAt - answered, 1),
      answerMs: observation.durationMs,
      changes,
      amount: payment.amount,
      route: routeOf(shown.answer.url),
    };
    return { ...shown, verdict: 'pass' };
  });
}

/** Where an IPN was forwarded to, without the query that the order's own address put behind it. */
function withoutQueryOf(url: string, ipnUrl: string): string {
  const { search } = new URL(ipnUrl);
  return search && url.endsWith(search.slice(1)) ? url.slice(0, -search.length) : url;
}

export const CONTROL: AuditCase = {
  name: 'control',
  class: 'control',
  group: 'control',
  about: 'A correct IPN of a real payment pays its order.',
  harm: 'Customers pay, and their orders are not fulfilled.',
  mistake: 'handler-breaks',
  alone: true,
  run: runControl,
};
