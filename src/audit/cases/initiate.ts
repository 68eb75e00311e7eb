import type { Payment } from '../../contract/payment.ts';
import { type AuditCase, type CaseText, type Finding, NO_ORDERS, skipped } from '../case.ts';
import { FORM } from '../client.ts';
import { curlOf } from '../describe-request.ts';
import { valueAt } from '../probe.ts';
import type { Shop } from '../shop.ts';
import { hasToken } from '../tokens.ts';

/** A case that inspects the shop's initiate request and sends nothing. */
const inspects = (
  info: Pick<CaseText, 'name' | 'about' | 'harm'> & Partial<CaseText>,
  judge: (shop: Shop, payment: Payment) => Finding | Promise<Finding>,
): AuditCase => ({
  class: 'M',
  group: 'initiate',
  mistake: 'initiate-from-outside',
  ...info,
  run: async (shop) => {
    const { hasOrders, orders } = shop.parts;
    if (!hasOrders)
      return skipped("the order is made up: only the shop's orders have an initiate request to check");
    const payment = await orders.take();
    if (!payment) return skipped(NO_ORDERS);
    try {
      const finding = await judge(shop, payment);
      return finding.sent === null ? finding : { ...finding, curl: await curlOfInitiate(shop, payment) };
    } finally {
      orders.release(payment, true);
    }
  },
});

/** The shop's initiate request as received; null if it is no longer in the request log. */
async function curlOfInitiate({ parts: { gateway } }: Shop, { id }: Payment): Promise<string | null> {
  const { data } = await gateway.requests.list({ payment: id });
  // The list begins with the newest request.
  const initiate = data.at(-1);
  if (!initiate?.requestBody) return null;
  const { target, requestHeaders, requestBody: body } = initiate;
  const contentType = String(requestHeaders['content-type'] ?? FORM);
  return curlOf({ url: gateway.url + target, body, contentType });
}

const found = (verdict: Finding['verdict'], observed: string, why?: string): Finding => ({
  verdict,
  sent: "nothing: the audit read the shop's initiate request",
  observed,
  curl: null,
  ...(why !== undefined && { why }),
});

/** Whether both URLs open the same page. With a front controller (`/`, `index.php`) the query string selects the page. */
function same(one: string, other: string | null): boolean {
  if (other === null || !URL.canParse(one) || !URL.canParse(other)) return one === other;
  const [here, there] = [new URL(one), new URL(other)];
  if (here.origin + here.pathname !== there.origin + there.pathname) return false;
  if (/(?:\/|\.php)$/.test(here.pathname)) return here.search === there.search;
  return [...here.searchParams].every(([name, value]) => (there.searchParams.get(name) ?? value) === value);
}

/** A decimal amount without insignificant zeros. */
const plain = (amount: string) =>
  amount
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');

/** Whether one identifier can be derived from another. */
function isGuessable(one: string, other: string): boolean {
  if (one === other) return true;
  const [, head = '', tail = ''] = /^(.*?)(\d{1,15})$/s.exec(one) ?? [];
  const [, otherHead = '', otherTail = ''] = /^(.*?)(\d{1,15})$/s.exec(other) ?? [];
  return (
    tail !== '' && otherTail !== '' && head === otherHead && Math.abs(Number(tail) - Number(otherTail)) <= 200
  );
}

async function guessable(shop: Shop, payment: Payment): Promise<Finding> {
  const other = shop.parts.orders.made.find(({ id }) => id !== payment.id);
  if (!other) return skipped('this case compares two orders, but there is only one');
  const shown = `${other.identifier} and ${payment.identifier}, ${payment.ipnUrl}`;
  if (!isGuessable(other.identifier, payment.identifier) || hasToken(payment, other))
    return found('pass', shown);
  return found('at-risk', shown);
}

async function fromBrowser(shop: Shop, payment: Payment): Promise<Finding> {
  const { data } = await shop.parts.gateway.requests.list({ payment: payment.id });
  const initiate = data.find(({ method }) => method === 'POST');
  if (!initiate) return skipped('the request is no longer in the request log');
  const { origin } = initiate.requestHeaders;
  return origin === undefined
    ? found('pass', 'the initiate request had no Origin header')
    : found('fail', `the initiate request had the header Origin: ${origin}`);
}

export const INITIATE: readonly AuditCase[] = [
  inspects(
    {
      name: 'amount-of-initiate',
      about: 'The amount in the initiate request, which must be the order total.',
      harm: 'Your shop asks the customer for an amount that is not the order total.',
    },
    async (shop, payment) => {
      const { orderAmount } = shop.parts;
      if (orderAmount === undefined)
        return skipped('use --order-amount to locate the order total in the probe output');
      const { text: output } = await shop.look(payment);
      const total = valueAt(output, orderAmount);
      if (total === undefined) return skipped(`the probe output has no ${orderAmount}`);
      const shown = `the order costs ${total}, and the shop initiated a payment of ${payment.amount}`;
      return found(plain(String(total)) === plain(payment.amount) ? 'pass' : 'fail', shown);
    },
  ),
  inspects(
    {
      name: 'key-in-browser',
      about: "The origin of the initiate request, which must be the shop's server and not a browser.",
      harm: 'A customer can change the amount and the URLs, and anyone can read the public key.',
    },
    fromBrowser,
  ),
  inspects(
    {
      name: 'identifier-guessable',
      about: 'Sequential identifiers, without an unguessable token in the ipn_url.',
      harm: "An attacker can guess the identifier and ipn_url of another customer's order, and mark it as paid with the IPN of a sandbox payment.",
      mistake: 'no-token-in-ipn-url',
      last: true,
    },
    guessable,
  ),
  inspects(
    {
      name: 'ipn-url-is-success-url',
      about: 'The ipn_url, which must not be the success_url.',
      harm: 'The shop uses one URL for the gateway and for browsers, and cannot tell their requests apart.',
    },
    (_, { ipnUrl, successUrl }) =>
      found(same(ipnUrl, successUrl) ? 'fail' : 'pass', `${ipnUrl}, ${successUrl}`),
  ),
  inspects(
    {
      name: 'ipn-url-is-logo',
      about: 'The ipn_url, which must not be the URL of the logo.',
      harm: 'Every customer can see the ipn_url and its token.',
    },
    (_, { ipnUrl, siteLogo }) =>
      found(same(ipnUrl, siteLogo) ? 'fail' : 'pass', `${ipnUrl}, ${siteLogo ?? 'no logo'}`),
  ),
  inspects(
    {
      name: 'success-url-public',
      about: 'The success_url of a local shop, which must also be local.',
      harm: 'Customers of the test shop return to a different shop, perhaps to production.',
    },
    ({ parts }, { ipnUrl, successUrl }) => {
      const { egress } = parts.gateway;
      const isElsewhere = !egress.looksLocal(successUrl) && egress.unreachable(successUrl) !== null;
      const isPublic = isElsewhere && egress.unreachable(ipnUrl) === null;
      return found(isPublic ? 'fail' : 'pass', successUrl);
    },
  ),
];
