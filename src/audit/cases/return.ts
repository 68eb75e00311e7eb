import type { Payment } from '../../contract/payment.ts';
import { endpointOf } from '../../delivery/egress.ts';
import { type AuditCase, family, judgeRejected, sendAndLook, skipped, withOrder } from '../case.ts';
import type { ProbeRequest } from '../client.ts';
import { filledAddress, valuesOf } from '../command.ts';
import { withQuery } from '../ipn.ts';
import type { Shop } from '../shop.ts';

/** Parameters that an attacker knows from other gateways. */
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
  harm: 'Anyone who opens the success_url gets the order without paying. The URL is visible to the customer.',
  mistake: 'return-page-pays',
});

/**
 * Returns from an unpaid checkout, like a browser without a session.
 *
 * @param requestOf the request, or the reason to skip the case
 */
function returns(
  name: string,
  about: string,
  requestOf: (payment: Payment, shop: Shop) => ProbeRequest | string,
): AuditCase {
  return {
    ...text(name, about),
    run: async (shop) => {
      if (!shop.parts.hasOrders) {
        return skipped("the order is made up: only the shop's orders have a success_url");
      }
      return withOrder(shop, async (payment, before) => {
        const made = requestOf(payment, shop);
        if (typeof made === 'string') return skipped(made);
        const { host, port } = endpointOf(new URL(made.url));
        const own = new URL(shop.parts.gateway.url);
        if (host === own.hostname && String(port) === own.port) {
          return skipped('the success_url is a page of the emulator, not of the shop');
        }
        const refused = shop.parts.gateway.egress.unreachable(made.url);
        if (refused) return skipped(`${made.url} is not local: ${refused}`);
        const request = { headers: [['User-Agent', 'Mozilla/5.0'] as const], ...made };
        const { shown, after } = await sendAndLook(shop, payment, request);
        return judgeRejected(shop, before, after, shown);
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

/** Requests the confirmation URL that a shop has in addition to success_url. */
const confirms =
  (go: typeof opened) =>
  (payment: Payment, { parts: { confirmUrl, orders } }: Shop) =>
    confirmUrl === undefined
      ? 'use --confirm-url if a URL other than success_url confirms payments'
      : go(filledAddress(confirmUrl, valuesOf(payment, orders.nameOf(payment))), payment);

export const RETURN: readonly AuditCase[] = [
  returns(
    'return-get',
    'A GET request to the success_url without a payment, in a new session.',
    ({ successUrl }) => ({ url: successUrl }),
  ),
  returns('return-post', 'A POST request to the success_url without a payment.', ({ successUrl }) => ({
    url: successUrl,
    method: 'POST',
    body: '',
  })),
  returns('return-get-parameters', 'A GET request to the success_url with plausible parameters.', (payment) =>
    opened(payment.successUrl, payment),
  ),
  returns('return-post-parameters', 'A POST request to the success_url with plausible fields.', (payment) =>
    posted(payment.successUrl, payment),
  ),
  returns('confirm-get', 'A GET request to the confirmation URL without a payment.', confirms(opened)),
  returns('confirm-post', 'A POST request to the confirmation URL without a payment.', confirms(posted)),
];
