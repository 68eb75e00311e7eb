import type { Payment } from '../../contract/payment.ts';
import { endpointOf } from '../../delivery/egress.ts';
import { type AuditCase, family, judgeRefused, sendAndLook, skipped, withOrder } from '../case.ts';
import type { ProbeRequest } from '../client.ts';
import { filledAddress, valuesOf } from '../command.ts';
import { withQuery } from '../ipn.ts';
import type { Shop } from '../shop.ts';

/** What a return page may be given by an attacker who has seen other gateways. */
const plausible = ({ identifier, id, trx, amount }: Payment): [string, string][] => [
  ['status', 'success'],
  ['success', '1'],
  ['paid', '1'],
  ['identifier', identifier],
  ['order_id', identifier],
  ['payment_id', id],
  ['trx', trx],
  ['amount', amount],
];

const text = family({
  class: 'F',
  group: 'return',
  harm: 'Whoever opens the success_url has the order without paying: it stands in the request that the browser made.',
  mistake: 'return-page-pays',
});

/**
 * Comes back from a checkout at which nobody paid, as a browser without any session.
 *
 * @param shotOf a text says why it is skipped
 */
function returns(
  name: string,
  about: string,
  shotOf: (payment: Payment, shop: Shop) => ProbeRequest | string,
): AuditCase {
  return {
    ...text(name, about),
    run: async (shop) => {
      if (!shop.parts.hasOrders) {
        return skipped('the order was invented: only an order of the shop has its success_url');
      }
      return withOrder(shop, async (payment, before) => {
        const made = shotOf(payment, shop);
        if (typeof made === 'string') return skipped(made);
        const { host, port } = endpointOf(new URL(made.url));
        const own = new URL(shop.parts.gateway.url);
        if (host === own.hostname && String(port) === own.port) {
          return skipped('the success_url is a page of the emulator, not of the shop');
        }
        const refused = shop.parts.gateway.egress.unreachable(made.url);
        if (refused) return skipped(`${made.url} is not local: ${refused}`);
        const shot = { headers: [['User-Agent', 'Mozilla/5.0'] as const], ...made };
        const { shown, after } = await sendAndLook(shop, payment, shot);
        return judgeRefused(shop, before, after, shown);
      });
    },
  };
}

const opened = (url: string, payment: Payment): ProbeRequest => ({
  url: withQuery(url, ...plausible(payment)),
});

const posted = (url: string, payment: Payment): ProbeRequest => {
  return { url, method: 'POST', body: new URLSearchParams(plausible(payment)).toString() };
};

/** Goes to the address that confirms a payment beside success_url. */
const confirms =
  (go: typeof opened) =>
  (payment: Payment, { parts: { confirmUrl, orders } }: Shop) =>
    confirmUrl === undefined
      ? '--confirm-url names the address beside success_url that confirms a payment'
      : go(filledAddress(confirmUrl, valuesOf(payment, orders.nameOf(payment))), payment);

export const RETURN: readonly AuditCase[] = [
  returns(
    'return-get',
    'The success_url opened without a payment, from a fresh session.',
    ({ successUrl }) => ({ url: successUrl }),
  ),
  returns('return-post', 'The success_url posted to without a payment.', ({ successUrl }) => ({
    url: successUrl,
    method: 'POST',
    body: '',
  })),
  returns('return-get-parameters', 'The success_url with plausible parameters.', (payment) =>
    opened(payment.successUrl, payment),
  ),
  returns('return-post-parameters', 'The success_url with plausible fields posted.', (payment) =>
    posted(payment.successUrl, payment),
  ),
  returns('confirm-get', 'The address that confirms a payment, opened without one.', confirms(opened)),
  returns('confirm-post', 'The address that confirms a payment, posted to without one.', confirms(posted)),
];
