import type { Payment } from '../../contract/payment.ts';
import { type AuditCase, type CaseText, type Finding, NO_ORDERS, skipped } from '../case.ts';
import { FORM } from '../client.ts';
import { curlOf } from '../describe-request.ts';
import { valueAt } from '../probe.ts';
import type { Shop } from '../shop.ts';
import { hasToken } from '../tokens.ts';

/** Looks at what the shop asked for; nothing is sent. */
const looks = (
  info: Pick<CaseText, 'name' | 'about' | 'harm'> & Partial<CaseText>,
  judge: (shop: Shop, payment: Payment) => Finding | Promise<Finding>,
): AuditCase => ({
  class: 'M',
  group: 'initiate',
  mistake: 'initiate-from-outside',
  ...info,
  run: async (shop) => {
    const { hasOrders, orders } = shop.parts;
    if (!hasOrders) return skipped('the order was invented: only what the shop initiates can be looked at');
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

/** The initiate of the shop as it came; null where it is no longer remembered. */
async function curlOfInitiate({ parts: { gateway } }: Shop, { id }: Payment): Promise<string | null> {
  const { data } = await gateway.requests.list({ payment: id });
  const initiate = data.find(({ method, requestBody }) => method === 'POST' && requestBody);
  if (!initiate?.requestBody) return null;
  const { target, requestHeaders, requestBody: body } = initiate;
  const contentType = String(requestHeaders['content-type'] ?? FORM);
  return curlOf({ url: gateway.url + target, body, contentType });
}

const found = (verdict: Finding['verdict'], observed: string, why?: string): Finding => ({
  verdict,
  sent: 'nothing: the initiate of the shop was looked at',
  observed,
  curl: null,
  ...(why !== undefined && { why }),
});

/** Whether both lead to the same page. Behind a front controller (`/`, `index.php`) the query says which page it is. */
function same(one: string, other: string | null): boolean {
  if (other === null || !URL.canParse(one) || !URL.canParse(other)) return one === other;
  const [here, there] = [new URL(one), new URL(other)];
  if (here.origin + here.pathname !== there.origin + there.pathname) return false;
  if (/(?:\/|\.php)$/.test(here.pathname)) return here.search === there.search;
  return [...here.searchParams].every(([name, value]) => (there.searchParams.get(name) ?? value) === value);
}

/** Two amounts as decimals, without the zeros that say nothing. */
const plain = (amount: string) =>
  amount
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');

/** Whether the next identifier follows from the last one. */
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
  if (!other) return skipped('it takes two orders to see whether identifiers can be guessed');
  const shown = `${other.identifier} and ${payment.identifier}, ${payment.ipnUrl}`;
  if (!isGuessable(other.identifier, payment.identifier) || hasToken(payment, other))
    return found('pass', shown);
  return found('at-risk', shown);
}

async function fromBrowser(shop: Shop, payment: Payment): Promise<Finding> {
  const { data } = await shop.parts.gateway.requests.list({ payment: payment.id });
  const initiate = data.find(({ method }) => method === 'POST');
  if (!initiate) return skipped('the request is no longer remembered');
  const { origin } = initiate.requestHeaders;
  return origin === undefined
    ? found('pass', 'initiate came without an Origin')
    : found('fail', `initiate came with Origin: ${origin}`);
}

export const INITIATE: readonly AuditCase[] = [
  looks(
    {
      name: 'amount-of-initiate',
      about: 'The amount that the shop initiates is the total of its order.',
      harm: 'What the customer is asked to pay is not what the order costs.',
    },
    async (shop, payment) => {
      const { orderAmount } = shop.parts;
      if (orderAmount === undefined)
        return skipped('--order-amount names where the probe says what the order costs');
      const { text: said } = await shop.look(payment);
      const total = valueAt(said, orderAmount);
      if (total === undefined) return skipped(`the probe says nothing at ${orderAmount}`);
      const shown = `the order costs ${total}, initiate asked for ${payment.amount}`;
      return found(plain(String(total)) === plain(payment.amount) ? 'pass' : 'fail', shown);
    },
  ),
  looks(
    {
      name: 'key-in-browser',
      about: 'Initiate comes from the server of the shop, not from a browser.',
      harm: 'Amount and addresses come from the customer, who can change them, and the public key is known to everybody.',
    },
    fromBrowser,
  ),
  looks(
    {
      name: 'identifier-guessable',
      about: 'Identifiers that follow one another, and no token of the order in ipn_url.',
      harm: 'An attacker knows identifier and address of an order that he has not made, and can send the IPN of a sandbox payment to it.',
      mistake: 'no-token-in-ipn-url',
      last: true,
    },
    guessable,
  ),
  looks(
    {
      name: 'ipn-url-is-success-url',
      about: 'The ipn_url is not the page to which the browser comes back.',
      harm: 'One address takes the word of the gateway and that of every browser: it cannot tell them apart.',
    },
    (_, { ipnUrl, successUrl }) =>
      found(same(ipnUrl, successUrl) ? 'fail' : 'pass', `${ipnUrl}, ${successUrl}`),
  ),
  looks(
    {
      name: 'ipn-url-is-logo',
      about: 'The ipn_url is not given as the logo.',
      harm: 'Every customer sees the address to which IPNs are sent, with the token in it.',
    },
    (_, { ipnUrl, siteLogo }) =>
      found(same(ipnUrl, siteLogo) ? 'fail' : 'pass', `${ipnUrl}, ${siteLogo ?? 'no logo'}`),
  ),
  looks(
    {
      name: 'success-url-public',
      about: 'The success_url of a shop on this machine is on this machine, too.',
      harm: 'Customers of the shop under test come back to another one, perhaps to the one in production.',
    },
    ({ parts }, { ipnUrl, successUrl }) => {
      const { egress } = parts.gateway;
      const isElsewhere = !egress.looksLocal(successUrl) && egress.unreachable(successUrl) !== null;
      const isPublic = isElsewhere && egress.unreachable(ipnUrl) === null;
      return found(isPublic ? 'fail' : 'pass', successUrl);
    },
  ),
];
