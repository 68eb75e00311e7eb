import type { Delivery, State } from '../domain/state.ts';

/** Where an attempt goes, and the ipn_url that it goes to instead of; null when it goes where it was meant to. */
export interface Target {
  url: string;
  original: string | null;
}

/**
 * Where a delivery goes: to its own address, or, when IPNs are forwarded, there. Only what is meant for the ipn_url
 * of its payment is forwarded: an address that somebody named by hand is meant as it is (chosen).
 */
export function targetOf(delivery: Delivery, state: State, forwardTo: string | null): Target {
  const payment = delivery.paymentId === null ? undefined : state.payments.get(delivery.paymentId);
  if (forwardTo === null || payment?.ipnUrl !== delivery.url) return { url: delivery.url, original: null };
  return { url: withQueryOf(forwardTo, delivery.url), original: delivery.url };
}

/** An address with the query of another one behind its own, character by character: receivers rely on it (observed: ipn-query, receiver-order-in-query). */
export function withQueryOf(url: string, other: string): string {
  const query = /^[^?#]*\?([^#]*)/.exec(other)?.[1];
  if (!query) return url;
  const [bare = '', fragment] = url.split('#', 2);
  const joint = !bare.includes('?') ? '?' : /[?&]$/.test(bare) ? '' : '&';
  return `${bare}${joint}${query}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** An address as a header can carry it: as it is, or percent-encoded where it holds more than ASCII. */
export function asHeader(url: string): string {
  return /^[\x21-\x7e]*$/.test(url) ? url : new URL(url).href;
}
