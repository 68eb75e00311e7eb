import { fixOfFailure } from '../../contract/describe-delivery.ts';
import type { Payment } from '../../contract/payment.ts';
import { duration } from '../../contract/time.ts';
import type { Observation } from '../../delivery/exchange.ts';
import { errorPage, ownWords, answerProblem as problemOfAnswer } from '../../diagnosis/receiver-answer.ts';
import {
  conditionProblem,
  differsAtPath,
  isCountOrLog,
  numericChanges,
  type OrderSnapshot,
  stablePart,
} from '../../shop/probe.ts';
import { pause, performance } from '../../system/real-time.ts';
import {
  type AuditCase,
  evidence,
  type Finding,
  fail,
  family,
  skipped,
  type Target,
  withOrder,
  withoutProbe,
} from '../case.ts';
import { type Fix, MISTAKES } from '../mistakes.ts';
import { originOf } from '../order-source.ts';
import type { AuditCheck } from '../report.ts';
import { curlOf } from '../request-text.ts';
import { routeOf, type Shop } from '../shop.ts';

/** Whether the handler crashed. Plain servers such as Python's http.server answer 501 to an unknown method. */
export const isBroken = (status: number) => status >= 500 && status !== 501;

/** The problem with the response to a correct IPN; undefined if there is none. */
export function answerProblem(observation: Observation): string | undefined {
  const { status, error } = observation;
  if (status === null) return `no response: ${error}`;
  if (status < 300) return undefined;
  const problem = problemOfAnswer(observation);
  if (problem) return problem.cause;
  if (status < 400) return undefined;
  const words = ownWords(observation.body);
  return `the handler answered ${status}${words === undefined ? '' : ` “${words}”`}`;
}

const REJECTED_SIGNATURE =
  'Check that your shop uses the secret key of this emulator. If it does, compute the HMAC over data.amount and identifier as received, as this code does.';

/** How to fix the handler, judging by its response. */
function fixOf(observation: Observation): Fix {
  const { failure, status } = observation;
  if (status === null) return { text: fixOfFailure(failure) };
  const known = problemOfAnswer(observation)?.fix;
  if (known !== undefined) return { text: known };
  return /\b(?:signature|hmac|hash)\b/i.test(observation.body)
    ? { ...MISTAKES['signature-not-checked'], text: REJECTED_SIGNATURE }
    : { text: "The response does not show the cause: check your shop's log and the code of its handler." };
}

/** A time in whole seconds. */
const CLOCK = /\d\d:\d\d|\d{10}/;
const CLOCK_MS = 1_100;

/** Probes an untouched order twice. @returns the numbers that change without a cause */
async function unstableNumbers({ shop, payment, before }: Target): Promise<ReadonlyMap<string, number>> {
  const { notices } = shop;
  if ([before.text, ...before.effects.values()].some((text) => CLOCK.test(text))) await pause(CLOCK_MS);
  const again = await shop.look(payment);
  if (again.text !== before.text) {
    shop.stablePart = stablePart(before.text, again.text);
    notices.add('the probe output changes without a payment: does it contain the time?');
  }
  for (const name of shop.changedEffects(before, again)) {
    shop.unstable.add(name);
    notices.add(
      `the probe output "${name}" changes without a payment, so it proves nothing: does it contain the time?`,
    );
  }
  return numericChanges(before, again);
}

/** Pays an order, and observes the response to the IPN that the emulator sends. */
async function payAndObserve(shop: Shop, payment: Payment) {
  const { ipnUrl } = payment;
  const delivery = await shop.payWithIpn(payment);
  const attempt = delivery?.attempts.at(-1);
  const forwardTo = attempt && attempt.url !== ipnUrl ? withoutQueryOf(attempt.url, ipnUrl) : null;
  shop.calibration = { ...shop.calibration, forwardTo };
  const observation: Observation = {
    status: attempt?.responseStatus ?? null,
    headers: attempt?.responseHeaders ?? [],
    body: attempt?.responseBody ?? '',
    failure: attempt?.failure ?? null,
    error: attempt?.error ?? delivery?.note ?? 'the emulator is configured to send no IPN',
    durationMs: attempt?.durationMs ?? 0,
  };
  const request = { url: attempt?.url ?? ipnUrl, body: attempt?.requestBody ?? '' };
  shop.see(request, observation);
  return { observation, shown: evidence(shop, request, observation) };
}

/** A shop is right to reject an order that it does not know. */
function isUnknownOrder(shop: Shop, { status }: Observation): boolean {
  return !shop.hasOrders && status !== null && status >= 400 && status < 500 && ![405, 419].includes(status);
}

function whyNotPaid({ body }: Observation): string {
  const fault = errorPage(body);
  return fault
    ? `Your shop answered a correct IPN with an error from its own code, and the order is not paid: ${fault}.`
    : 'Your shop answered a correct IPN, but the order is still unpaid: check what the handler does with it.';
}

const MADE_UP = 'the order is made up, and the shop does not know it: give the audit a way to place orders';

/** Words of a probe that does not find the order. */
const UNKNOWN_ORDER = /not.?found|unknown|no such|does not exist/i;

/** Words of a shop that did not accept a payment. */
const NOT_ACCEPTED = /cancel|declin|denied|error|fail|fraud|hold|invalid|mismatch|refus|reject|review/i;

/**
 * What shows that the probe or its condition is wrong, if the handler answered a correct IPN and its order seems unpaid;
 * undefined if the handler ignored the IPN.
 */
function setUpProblem({ shop, before }: Target, after: OrderSnapshot): SetUpProblem | undefined {
  const { paidWhen = '' } = shop.options;
  const problem = (part: SetUpProblem['part'], why: string) => ({ part, why });
  if (!shop.hasOrders) return problem('order', MADE_UP);
  if (after.status !== null && after.status >= 400)
    return problem(
      'probe',
      `the probe answered ${after.status}, even after a correct IPN: check its address`,
    );
  const unmet = conditionProblem(paidWhen, after.text);
  if (unmet !== undefined) return problem('condition', unmet);
  if (after.text === before.text && UNKNOWN_ORDER.test(after.text))
    return problem(
      'probe',
      `the probe does not know the order, even after a correct IPN: ${shop.gateway.mask(after.text, { most: 60 })}`,
    );
  const isAtPath = differsAtPath(paidWhen, before.text, after.text);
  if (!isAtPath && isCountOrLog(before.text, after.text)) return undefined;
  const change = shop.difference(before.text, after.text);
  return NOT_ACCEPTED.test(change)
    ? undefined
    : problem(
        'condition',
        `a correct IPN changed the order (${change}), but the condition ${paidWhen} still does not match`,
      );
}

interface SetUpProblem {
  part: NonNullable<AuditCheck['wrong']>;
  why: string;
}

/** The address that an IPN was forwarded to, without the query string of the order's ipn_url. */
function withoutQueryOf(url: string, ipnUrl: string): string {
  const { search } = new URL(ipnUrl);
  return search && url.endsWith(search.slice(1)) ? url.slice(0, -search.length) : url;
}

export const CONTROL: AuditCase = {
  name: 'control',
  class: 'control',
  group: 'control',
  about: 'A correct IPN for a real payment, which must mark its order as paid.',
  harm: 'Customers pay, but their orders are not fulfilled.',
  mistake: 'handler-breaks',
  alone: 'disturbs',
  run: withOrder(async (target): Promise<Finding> => {
    const { shop, payment, before } = target;
    const { ipnUrl } = shop.options;
    const { check } = shop;
    check.wrong = 'handler';
    check.before = shop.canLook ? shop.shown(before.text) : null;
    if (shop.hasOrders && routeOf(payment.ipnUrl) !== routeOf(ipnUrl)) {
      shop.notices.add(`the order's ipn_url is ${payment.ipnUrl}: the audit attacks it instead of ${ipnUrl}`);
    }
    const idle = await unstableNumbers(target);
    const { observation, shown } = await payAndObserve(shop, payment);
    check.answer = shown.observed;
    const answered = performance.now();
    const { status } = observation;
    const isRedirect = status !== null && status >= 300 && status < 400 && status !== 304;
    const isLate = observation.failure?.code === 'timed_out';
    // A shop that pays and then redirects, or answers late, has taken the IPN.
    const waitMs = isLate ? shop.timeoutMs - observation.durationMs : undefined;
    const isPaidAnyway =
      (isRedirect || isLate) && shop.canLook && (await shop.lookUntilPaid(payment, waitMs)).paid === true;
    if (isPaidAnyway) {
      shop.notices.add(
        isLate
          ? `your handler marks the order as paid, but answers after more than ${duration(observation.durationMs)}: a gateway may give up earlier, so answer first; the audit waits ${duration(shop.timeoutMs)} for each answer`
          : `your handler marks the order as paid and answers ${status}: a gateway does not follow redirects, so answer 200`,
      );
    }
    const problem = isPaidAnyway ? undefined : answerProblem(observation);
    const isUnknown = isUnknownOrder(shop, observation);
    if (problem !== undefined && !isUnknown) {
      return {
        ...shown,
        verdict: 'fail',
        why: `Your shop does not accept a correct IPN: ${problem.replace(/\.$/, '')}.`,
        fix: fixOf(observation),
      };
    }
    if (!shop.canLook) {
      check.wrong = isUnknown ? 'order' : 'probe';
      const why = isUnknown ? MADE_UP : withoutProbe('whether the order is paid').why;
      return { ...shown, verdict: 'unproven', why };
    }
    const after = await shop.lookUntilPaid(payment);
    check.after = shop.shown(after.text);
    if (!after.paid) {
      const wrong = setUpProblem(target, after);
      if (!wrong) return { ...shown, verdict: 'fail', why: whyNotPaid(observation) };
      check.wrong = wrong.part;
      return { ...shown, verdict: 'unproven', why: wrong.why };
    }
    check.wrong = null;
    const shownBy = shop.witness ? 'rows' : shop.probes.effects.size ? 'effects' : 'probe';
    const { look: settled, changedAt } = await shop.lookUntilAtRest(
      payment,
      shop.patience.unknownRestMs(shownBy),
    );
    const changes = numericChanges({ ...before, text: shop.stablePart(before.text) }, settled);
    for (const place of idle.keys()) changes.delete(place);
    shop.calibration = {
      ...shop.calibration,
      answerMs: observation.durationMs,
      changes,
      amount: payment.amount,
      route: routeOf(shown.answer.url),
    };
    shop.expectChanges({ ...before, text: shop.stablePart(before.text) }, settled);
    shop.patience.responded(observation.durationMs);
    shop.patience.tookEffect(Math.max(changedAt - answered, 0));
    shop.orders.origin = originOf(payment.ipnUrl);
    shop.control = { payment, before };
    shop.settled.push({ payment, at: answered });
    return { ...shown, verdict: 'pass' };
  }),
};

const STORE_IT = {
  text: 'Store the payment, and not only in an object in memory, before you answer the IPN.',
};

/** A genuine IPN that does not pay is a finding of its own, and not one of the case in which it was seen. */
export const EVERY_PAYMENT: readonly AuditCase[] = family({
  class: 'control',
  group: 'control',
  harm: 'Some customers pay and get nothing.',
  mistake: 'payments-lost',
  last: true,
})({
  'every-payment': {
    about:
      'The genuine IPNs of all orders that nothing else was sent to: each must pay its order, also when sent again.',
    run: async (shop) => {
      const named = ({ identifier, amount, currency }: Payment) => `"${identifier}" (${amount} ${currency})`;
      for (const { payment, observation, at } of shop.lost) {
        // A shop that has taken no payment since then was broken by something else.
        if (!shop.settled.some((other) => other.at > at)) continue;
        await shop.sendGenuine(payment);
        if ((await shop.lookUntilPaid(payment)).paid !== false) continue;
        const request = shop.postOf(payment)(shop.ipnOf(payment));
        const { answer: _, ...shown } = evidence(shop, request, observation);
        const [paid] = shop.settled;
        const working = paid && curlOf(shop.postOf(paid.payment)(shop.ipnOf(paid.payment)));
        const other = paid && `, while that of ${named(paid.payment)} did`;
        const why = `The genuine IPN of the order ${named(payment)} did not pay it, twice${other}. Of ${shop.settled.length + shop.lost.length} payments, ${shop.lost.length} were lost.`;
        const curl = [shown.curl, ...(working ? [`# This one paid its order:\n${working}`] : [])].join('\n');
        return { ...shown, ...fail(why), curl };
      }
      const observed = `${shop.settled.length} genuine IPNs paid their orders`;
      return { verdict: 'pass', sent: 'the genuine IPNs of the audit', observed, curl: null };
    },
  },
  'paid-after-restart': {
    needs: 'shop',
    about: 'A paid order after the shop was started again: it must still be paid.',
    run: async (shop) => {
      const paid = shop.settled.at(-1)?.payment;
      if (!paid || !shop.canLook) return skipped('no order is known to be paid');
      await shop.restart();
      const nothing = { sent: 'nothing: the audit started the shop again', curl: null };
      if ((await shop.lookUntilPaid(paid)).paid)
        return { ...nothing, verdict: 'pass', observed: 'the order is still paid' };
      const why = `The order "${paid.identifier}" was paid, and is not any more since the shop was started again.`;
      return { ...nothing, ...fail(why), observed: 'the order is not paid', fix: STORE_IT };
    },
  },
});
