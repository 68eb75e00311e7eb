import type { Payment } from '../../contract/payment.ts';
import { endpointOf } from '../../delivery/egress.ts';
import { type AuditCase, evidence, judgeRefused, skipped, withOrder } from '../case.ts';
import type { ProbeRequest } from '../client.ts';

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

function withQuery(url: string, pairs: readonly [string, string][]): string {
  const address = new URL(url);
  for (const [name, value] of pairs) address.searchParams.append(name, value);
  return address.href;
}

/** Comes back from a checkout at which nobody paid, as a browser without any session. */
function returns(name: string, about: string, shotOf: (payment: Payment) => ProbeRequest): AuditCase {
  return {
    name,
    class: 'F',
    group: 'return',
    about,
    harm: 'Whoever opens the success_url has the order without paying: it stands in the request that the browser made.',
    mend: 'returnPage',
    run: (shop) => {
      if (!shop.parts.hasOrders) {
        return Promise.resolve(
          skipped('the order was invented: only an order of the shop has its success_url'),
        );
      }
      return withOrder(shop, async (payment, before) => {
        const { host, port } = endpointOf(new URL(payment.successUrl));
        const own = new URL(shop.parts.gateway.url);
        if (host === own.hostname && String(port) === own.port) {
          return skipped('the success_url is a page of the emulator, not of the shop');
        }
        const refused = shop.parts.gateway.egress.unreachable(payment.successUrl);
        if (refused) return skipped(`the success_url is not local: ${refused}`);
        const shot = { headers: [['User-Agent', 'Mozilla/5.0'] as const], ...shotOf(payment) };
        const observation = await shop.send(shot);
        const after = await shop.lookAfterGrace(payment);
        return judgeRefused(shop, before, after, evidence(shot, observation));
      });
    },
  };
}

export const RETURN: readonly AuditCase[] = [
  returns(
    'return-get',
    'The success_url opened without a payment, from a fresh session.',
    ({ successUrl }) => ({
      url: successUrl,
    }),
  ),
  returns('return-post', 'The success_url posted to without a payment.', ({ successUrl }) => ({
    url: successUrl,
    method: 'POST',
    body: '',
  })),
  returns('return-get-parameters', 'The success_url with plausible parameters.', (payment) => ({
    url: withQuery(payment.successUrl, plausible(payment)),
  })),
  returns('return-post-parameters', 'The success_url with plausible fields posted.', (payment) => ({
    url: payment.successUrl,
    method: 'POST',
    body: new URLSearchParams(plausible(payment)).toString(),
  })),
];
