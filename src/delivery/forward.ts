import type { Settings } from '../domain/settings.ts';
import type { Delivery, State } from '../domain/state.ts';

export interface Target {
  url: string;
  /** The ipn_url that it goes to instead of; null when it goes where it was meant to. */
  original: string | null;
  /** The address whose host it is spoken to by: the original one where the same receiver is only reached elsewhere. */
  named: string;
}

/**
 * Where a delivery goes: to its own address, or, when IPNs are forwarded, there, or where its host is mapped to. Only
 * what is meant for the ipn_url of its payment goes elsewhere: an address that somebody named by hand is meant as it
 * is (chosen).
 */
export function targetOf(
  delivery: Delivery,
  state: State,
  { ipn: { forwardTo }, mapped }: TargetSettings,
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

interface TargetSettings extends Pick<Settings, 'mapped'> {
  ipn: Pick<Settings['ipn'], 'forwardTo'>;
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
