import type { Payment } from '../../contract/payment.ts';
import { type AuditCase, evidence, type Finding, withOrder } from '../case.ts';
import type { Observation } from '../client.ts';
import type { Look } from '../probe.ts';
import { numericChanges, pause, type Shop } from '../shop.ts';

/** Whether the handler broke. 501 is how plain servers refuse a method: Python's http.server, for one. */
export const isBroken = (status: number) => status >= 500 && status !== 501;

/** What is wrong with a correct IPN's answer, by what it looks like. */
export function answerProblem({ status, headers, body, error }: Observation): string | undefined {
  if (status === null) return `there was no answer: ${error}`;
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? '';
  if (status >= 300 && status < 400) {
    return /log-?in|sign-?in|auth/i.test(location)
      ? `it was sent to a login page (${location}): the address of an IPN must need no login`
      : `it was redirected to ${location || 'nowhere'}: a gateway follows no redirects`;
  }
  if (status === 405) return 'it was answered 405: the route takes no POST';
  if (status === 419) return 'it was answered 419: the framework wants a CSRF token, which no gateway has';
  if (status === 403 && /csrf/i.test(body)) {
    return 'it was answered 403: the framework wants a CSRF token, which no gateway has';
  }
  if (status === 404) return 'it was answered 404: there is no such route, or no such order';
  if (status >= 400) return `it was answered ${status}`;
  return undefined;
}

const ERROR_PAGES = [
  /(?:PHP )?(?:Fatal|Parse) error:.{0,160}/i,
  /Uncaught (?:\w*Error|\w*Exception).{0,160}/,
  /Traceback \(most recent call last\)/,
  /\bat (?:\S+ )?\(?(?:file:\/\/)?\/\S+\.(?:js|mjs|cjs|ts):\d+:\d+\)?/,
  /#\d+ \/\S+\.php\(\d+\)/,
];

/** The error that a page shows; undefined when it shows none. */
export function errorPage(body: string): string | undefined {
  for (const pattern of ERROR_PAGES) {
    const found = pattern.exec(body)?.[0];
    if (found) return found.trim();
  }
  return undefined;
}

/** A clock that tells whole seconds. */
const CLOCK = /\d\d:\d\d|\d{10}/;
const CLOCK_MS = 1_100;

/** Looks again at an order to which nothing happens. @returns the numbers that change by themselves */
async function restless(shop: Shop, payment: Payment, before: Look): Promise<ReadonlyMap<string, number>> {
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

async function runControl(shop: Shop): Promise<Finding> {
  return withOrder(shop, async (payment, before) => {
    const idle = await restless(shop, payment, before);
    const { delivery } = await shop.parts.gateway.payments.approve(payment.id, {
      delivery: 'ipn-only',
      awaitDelivery: true,
      by: 'audit',
    });
    const attempt = delivery?.attempts.at(-1);
    const answered = performance.now();
    const observation: Observation = {
      status: attempt?.responseStatus ?? null,
      headers: attempt?.responseHeaders ?? [],
      body: attempt?.responseBody ?? '',
      error: attempt?.error ?? delivery?.note ?? 'the emulator was told to send no IPN',
      durationMs: attempt?.durationMs ?? 0,
    };
    const shot = { url: attempt?.url ?? payment.ipnUrl, body: attempt?.requestBody ?? '' };
    shop.see(shot, observation);
    const shown = evidence(shot, observation);
    const problem = answerProblem(observation);
    // A shop that refuses an order that it does not know is right.
    const isUnknown = !shop.parts.hasOrders && (observation.status ?? 0) >= 400 && observation.status !== 405;
    if (
      problem !== undefined &&
      (!isUnknown || (observation.status ?? 0) >= 500 || observation.status === 419)
    ) {
      return { ...shown, verdict: 'fail', why: `The shop does not take a correct IPN: ${problem}.` };
    }
    if (!shop.canLook) {
      const why = isUnknown
        ? 'the order was invented, and the shop does not know it: let the shop place one'
        : 'no probe tells whether the order was paid: a status code alone proves little';
      return { ...shown, verdict: 'unproven', why };
    }
    const after = await shop.lookUntilPaid(payment);
    if (!after.paid) {
      const fault = errorPage(observation.body);
      const why = fault
        ? `The shop answered a correct IPN with an error of its program, and the order is not paid: ${fault}.`
        : shop.parts.hasOrders
          ? 'The shop answered a correct IPN, but the order is not paid afterwards: look at the handler, or at the condition of the probe.'
          : 'The shop did not pay an order that was invented here: let the shop place one.';
      return { ...shown, verdict: 'fail', why };
    }
    const { look: settled, changedAt } = await shop.lookUntilQuiet(payment, after);
    const changes = numericChanges(before, settled);
    for (const place of idle.keys()) changes.delete(place);
    const lagMs = Math.max(changedAt - answered, 1);
    shop.calibration = { lagMs, answerMs: observation.durationMs, changes, amount: payment.amount };
    return { ...shown, verdict: 'pass' };
  });
}

export const CONTROL: AuditCase = {
  name: 'control',
  class: 'control',
  group: 'control',
  about: 'A correct IPN of a real payment pays its order.',
  harm: 'Customers pay, and their orders are not fulfilled.',
  mend: 'handler',
  alone: true,
  run: runControl,
};
