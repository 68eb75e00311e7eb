import { type ActiveFault, describeFault, isSpent } from '../../contract/active-fault.ts';
import type { Card } from '../../contract/card.ts';
import type { Clock } from '../../contract/clock.ts';
import { Delivery } from '../../contract/delivery.ts';
import { attemptView, noteOf } from '../../contract/describe-delivery.ts';
import type { RecordedRequest, SimEvent } from '../../contract/event.ts';
import type { Fault } from '../../contract/fault.ts';
import { project } from '../../contract/field.ts';
import type { InboxMessage } from '../../contract/message.ts';
import { type MappedAddresses, Payment, type Settled } from '../../contract/payment.ts';
import { DEFAULT_LIMIT } from '../../contract/request-fields.ts';
import { maskedCardNumber, maskedIn, shownHeader, shownHeaders } from '../../contract/secrets.ts';
import { timestamp } from '../../contract/time.ts';
import { verdictFields, verdictView } from '../../diagnosis/verdict.ts';
import type { ReadonlyCollection } from '../../domain/collection.ts';
import type * as stored from '../../domain/state.ts';
import { maskCards } from '../../service/cards.ts';
import { checkoutUrlOf } from '../../service/names.ts';
import type { ClockReading } from '../../system/clock.ts';
import type * as happened from '../../usecases/event-log.ts';
import type { Settled as SettledPayment } from '../../usecases/payments.ts';
import type { AppDependencies, ServerRuntime } from '../environment.ts';

/*
 * Converts stored records to records and lists of the control API.
 */

/**
 * A page of a collection, newest first.
 *
 * @param query the page, and the required values by field; undefined matches any value
 * @param view converts a record for the response
 * @param selects another condition
 */
export function listPage<Item extends { id: string }, View>(
  collection: ReadonlyCollection<Item>,
  query: { limit?: number | undefined; cursor?: number | undefined } & {
    [Name in keyof Item]?: Item[Name] | undefined;
  },
  view: (item: Item) => View,
  selects: (item: Item) => boolean = () => true,
): { data: View[]; nextCursor: string | null } {
  const { limit = DEFAULT_LIMIT, cursor, ...wanted } = query;
  const filters = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const fits = (item: Item) =>
    filters.every(([name, value]) => item[name as keyof Item] === value) && selects(item);
  const page = collection.page(limit, cursor === undefined ? undefined : String(cursor), fits);
  return { ...page, data: page.data.map(view) };
}

/** A list without further pages. */
export function wholeList<View>(data: View[]): { data: View[]; nextCursor: null } {
  return { data, nextCursor: null };
}

export function paymentView(payment: stored.Payment, { runtime, payments }: AppDependencies): Payment {
  return {
    ...project(Payment, payment),
    checkoutUrl: checkoutUrlOf(payment, runtime.baseUrl()),
    mappedTo: mappedAddresses(payment, runtime),
    verdict: verdictView(payments.verdict(payment)),
    shop: payments.shopState(payment).words,
  };
}

/** The mapped addresses of a payment; null if none is mapped. */
export function mappedAddresses(
  payment: stored.Payment,
  { settings }: ServerRuntime,
): MappedAddresses | null {
  const elsewhere = (url: string | null) => {
    const target = url && settings.mapped(url);
    return target === url ? null : target;
  };
  const addresses = {
    ipnUrl: elsewhere(payment.ipnUrl),
    successUrl: elsewhere(payment.successUrl),
    cancelUrl: elsewhere(payment.cancelUrl),
    siteLogo: elsewhere(payment.siteLogo),
  };
  return Object.values(addresses).some((url) => url !== null) ? addresses : null;
}

/** @param underWay default: the current attempt, if any */
export function deliveryView(
  delivery: stored.Delivery,
  { ipns, rows, store }: Pick<AppDependencies, 'ipns' | 'rows' | 'store'>,
  underWay = ipns.underWay(delivery.id),
): Delivery {
  const { id, attemptCount } = delivery;
  // A record from the event log has only the attempts that had been made by then.
  const attempts = store.state.attemptsOf(id).slice(0, attemptCount).map(attemptView);
  return {
    ...project(Delivery, delivery),
    attempts,
    underWay,
    forwardedTo: ipns.forwardedTo(delivery),
    note: noteOf(delivery, attempts.at(-1)),
    changes: rows.of(id),
    changesUnknown: attemptCount > 0 ? rows.whyUnknown(id) : null,
    ...verdictFields(ipns.verdict(delivery)),
  };
}

export function settledView(settled: SettledPayment, parts: AppDependencies): Settled {
  const payment = paymentView(settled.payment, parts);
  const delivery = settled.delivery && deliveryView(settled.delivery, parts);
  return { ...settled, payment, delivery, verdict: payment.verdict };
}

export function cardView(card: stored.Card): Card {
  return { ...card, maskedNumber: maskedCardNumber(card.number) };
}

export function inboxMessage({ id: _id, ...message }: stored.Message): InboxMessage {
  return message;
}

export function faultView(fault: ActiveFault): Fault {
  return { ...fault.rule, used: fault.used, spent: isSpent(fault), summary: describeFault(fault) };
}

export function clockView({ now, frozen, ahead, nextDue }: ClockReading): Clock {
  return {
    now: timestamp(now),
    frozen,
    aheadMs: ahead,
    nextDue: nextDue === null ? null : timestamp(nextDue),
  };
}

/** An event of the control API, with all secrets masked. */
export function simEventView(event: happened.SimEvent, parts: AppDependencies): SimEvent {
  return maskedIn(openEventView(event, parts), parts.secrets.mask);
}

function openEventView(event: happened.SimEvent, parts: AppDependencies): SimEvent {
  const { seq, at } = event;
  switch (event.type) {
    case 'request':
      return { seq, at, type: 'request', request: requestView(event.request) };
    case 'payment': {
      const { payment, before } = event;
      // What the change added to the payment.
      const steps = parts.payments.steps(payment).slice(before ? before.history.length + 1 : 0);
      const warnings = payment.warnings.slice(before?.warnings.length ?? 0);
      return { seq, at, type: 'payment', steps, warnings, payment: paymentView(payment, parts) };
    }
    case 'delivery': {
      const delivery = deliveryView(event.delivery, parts, event.underWay);
      const attempts = delivery.attempts.map((attempt) => ({
        ...attempt,
        requestHeaders: shownHeaders(attempt.requestHeaders),
      }));
      return { seq, at, type: 'delivery', step: event.step, delivery: { ...delivery, attempts } };
    }
    case 'message':
      return { seq, at, type: 'message', message: inboxMessage(event.message) };
    case 'cardTransaction':
    case 'notice':
      return event;
  }
}

/** Masks credentials in headers, card numbers and card codes. `secrets` masks the others. */
function requestView(request: RecordedRequest): RecordedRequest {
  const headers = Object.entries(request.requestHeaders).map(([name, value]) => [
    name,
    shownHeader(name, value),
  ]);
  const responseBody = request.responseBody && maskCards(request.responseBody);
  return { ...request, responseBody, requestHeaders: Object.fromEntries(headers) };
}

/** A recorded request with all secrets masked. */
export function maskedRequest(request: RecordedRequest, parts: AppDependencies): RecordedRequest {
  return maskedIn(requestView(request), parts.secrets.mask);
}
