import type { Settings } from '../domain/settings.ts';
import type { Delivery, State } from '../domain/state.ts';

export interface Target {
  url: string;
  /** The ipn_url that `url` replaces; null when it replaces none. */
  original: string | null;
  /** The address whose host the request names: the original one when only its host is mapped. */
  named: string;
}

/**
 * Where a delivery goes: to the forwarding address, to the address that its host is mapped to, or to its own address.
 * Only a delivery to its payment's ipn_url is redirected. An address that the user entered stays as it is (chosen).
 */
export function targetOf(
  delivery: Delivery,
  state: State,
  { ipn: { forwardTo }, mapped }: Pick<Settings, 'ipn' | 'mapped'>,
): Target {
  const { url } = delivery;
  const payment = delivery.paymentId === null ? undefined : state.payments.get(delivery.paymentId);
  if (payment?.ipnUrl !== url) return { url, original: null, named: url };
  if (forwardTo !== null) {
    const target = withQueryOf(forwardTo, url);
    return { url: target, original: url, named: target };
  }
  const target = mapped(url);
  return { url: target, original: target === url ? null : url, named: url };
}

/**
 * Appends the query of another address to this address's query, byte for byte. Receivers rely on it (observed:
 * ipn-query, receiver-order-in-query).
 */
export function withQueryOf(url: string, other: string): string {
  const query = /^[^?#]*\?([^#]*)/.exec(other)?.[1];
  if (!query) return url;
  const [bare = '', fragment] = url.split('#', 2);
  const joint = !bare.includes('?') ? '?' : /[?&]$/.test(bare) ? '' : '&';
  return `${bare}${joint}${query}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** An address as a header value: percent-encoded if it is not ASCII. */
export function asHeader(url: string): string {
  return /^[\x21-\x7e]*$/.test(url) ? url : new URL(url).href;
}
