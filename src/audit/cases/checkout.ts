import { FORM_TYPE, JSON_TYPE } from '../../contract/media-types.ts';
import type { Payment } from '../../contract/payment.ts';
import type { ExchangeRequest } from '../../delivery/exchange.ts';
import { DOCUMENTED_CURRENCIES } from '../../domain/money.ts';
import { filledAddress } from '../../shop/command.ts';
import { changedPlaces, valueAt } from '../../shop/probe.ts';
import {
  type AuditCase,
  afterPayment,
  attack,
  BAD_IPNS,
  type Finding,
  fail,
  family,
  IS_PAID,
  judgeStillPayable,
  NO_ORDERS,
  payByIpn,
  type Run,
  rejected,
  rejects,
  send,
  sentText,
  skipped,
  type Target,
  unproven,
  withOrder,
} from '../case.ts';
import { plainAmount, tokensIn, withQuery } from '../ipn.ts';
import type { Fix } from '../mistakes.ts';
import { curlOf, curlsOf } from '../request-text.ts';
import type { Shop } from '../shop.ts';

/*
 * The browser's way through the checkout: the shop initiates the payment, and the customer returns. These cases need
 * orders, but no IPNs.
 */

/** Parameters that an attacker knows from other gateways. */
const plausible = ({ identifier, id, trx, amount }: Payment): [string, string][] => [
  ['status', 'success'],
  ['success', '1'],
  ['paid', '1'],
  ['identifier', identifier],
  ['order_id', identifier],
  ['payment_id', id],
  ['trx', trx],
  ['ref', trx],
  ['reference', trx],
  ['txn_id', trx],
  ['transaction_id', trx],
  ['payment_status', 'completed'],
  ['amount', amount],
];

const opened = (url: string, payment: Payment): ExchangeRequest => ({
  // What is there already names the order.
  url: withQuery(url, ...plausible(payment).filter(([name]) => !new URL(url).searchParams.has(name))),
});

const posted = (url: string, payment: Payment): ExchangeRequest => ({
  url,
  method: 'POST',
  body: new URLSearchParams(plausible(payment)).toString(),
});

const BROWSER = ['User-Agent', 'Mozilla/5.0'] as const;

/**
 * Returns from an unpaid checkout, like a browser without a session. A visit may change the order, but must not pay it.
 *
 * @param requestsOf the requests, or the reason to skip the case
 */
const returns = (requestsOf: (target: Target) => readonly ExchangeRequest[] | string): Run =>
  rejects(
    (target) => {
      const made = requestsOf(target);
      if (typeof made === 'string') return made;
      const closed = target.shop.whyClosed(made[0]?.url ?? '');
      return closed ?? made.map((request) => ({ headers: [BROWSER], ...request }));
    },
    { mayChange: true },
  );

/**
 * Opens a page of a paid order twice. What the page of an unpaid order changes, too, only counts visits.
 *
 * @param pageOf the address of the page
 */
const afterwards = (pageOf: (payment: Payment) => string): Run =>
  afterPayment(async (target) => {
    const { shop, payment, paid } = target;
    const request = { url: pageOf(payment), headers: [BROWSER] };
    const closed = shop.whyClosed(request.url);
    if (closed !== undefined) return skipped(closed);
    await shop.try(request, payment);
    return attack(target, request, async (after) => {
      if (!after.paid) return fail('After it, the paid order is no longer paid.');
      const changed = await shop.changesOf(paid, after);
      if (!changed.length && !shop.changedEffects(paid, after).length) return { verdict: 'pass' };
      using other = await shop.takeAnother();
      if (!other) return unproven(NO_ORDERS);
      const before = await shop.look(other.payment);
      await shop.send({ ...request, url: pageOf(other.payment) });
      const visited = await shop.lookAfterRest(other.payment);
      const counted = changedPlaces(before.text, visited.text);
      const places = [
        ...changed.filter((place) => !counted.includes(place)),
        ...shop.changedEffects(paid, after),
      ];
      return places.length
        ? fail(`Each visit of a paid order has an effect: ${places.join(', ')} changed.`)
        : { verdict: 'pass' };
    });
  });

/** With parameters, by GET and by POST. */
const both = (url: string, payment: Payment) => [opened(url, payment), posted(url, payment)];

/** Returns with the transaction of another order, which its genuine IPN has paid. */
const withPaidTransaction = returns(({ shop, payment }) => {
  const paid = shop.settled.at(-1)?.payment;
  if (!paid) return 'no order is paid';
  return [opened(payment.successUrl, { ...payment, id: paid.id, trx: paid.trx })];
});

const noCookie = ({ options }: Shop) =>
  options.orderUrl === undefined
    ? 'no cookies are known: use --order-url, or let --order-cmd print the Set-Cookie headers, as curl -i does'
    : 'placing the order set no cookie';

const STRANGERS_CANCEL =
  'Anyone can guess the cancel_url of an order, and its customer then pays for nothing.';
const KEEP_CANCELED = {
  text: 'Let the cancel page change nothing, or let the genuine IPN of a canceled order pay it all the same.',
};
const STRANGERS_RETURN =
  'Anyone can guess the success_url of an order, and its customer then pays for nothing.';
const KEEP_PENDING = {
  text: 'Let the return page change nothing: only an IPN may. The genuine IPN must pay the order, whatever page was opened before.',
};

/** A page that a stranger opens before the payment: the genuine IPN must still pay the order. */
const staysPayable = (pageOf: (payment: Payment) => string, harm: string, fix: Fix): Run =>
  withOrder(async (target) => {
    const { shop, payment } = target;
    const request = { url: pageOf(payment), headers: [BROWSER] };
    const closed = shop.whyClosed(request.url);
    if (closed !== undefined) return skipped(closed);
    const { shown } = await send(target, request);
    const judged = await judgeStillPayable(target);
    if (judged.verdict !== 'fail') return { ...shown, ...judged };
    const other = shop.orders.made.find(({ id }) => id !== payment.id);
    const isSecret =
      other === undefined ||
      !isGuessable(other.identifier, payment.identifier) ||
      tokensIn(request.url, payment, pageOf(other)).length > 0;
    const why = `After ${request.url} was opened, the genuine IPN no longer pays this order.`;
    const because = { mistake: 'return-page-pays', harm } as const;
    return isSecret
      ? { ...shown, verdict: 'note', why: `${why} A customer who goes back and pays loses the money.` }
      : { ...shown, ...fail(`${why} ${harm}`, { because, fix, lost: payment }) };
  });

const RETURN = family({
  class: 'F',
  group: 'return',
  harm: 'A customer who opens the success_url gets the order without paying.',
  mistake: 'return-page-pays',
  needsOrders: "only the shop's orders have a success_url",
})({
  'return-unpaid': {
    about:
      'The success_url without a payment, in a new session: by GET, by POST, and with headers that name the gateway as its origin.',
    run: returns(({ shop: { gateway }, payment: { successUrl: url } }) => [
      { url },
      { url, method: 'POST', body: '' },
      {
        url,
        headers: [
          BROWSER,
          ['Referer', `${gateway.url}/`],
          ['Origin', gateway.url],
          ['X-Forwarded-For', '127.0.0.1'],
        ],
      },
    ]),
  },
  'return-own-session': {
    state: 'the session of the cookie placed the order',
    about:
      'A GET request to the success_url without a payment, in the session of the customer who placed the order.',
    run: returns(({ shop, payment }) => {
      const cookies = shop.orders.cookiesOf(payment);
      if (cookies === undefined) return noCookie(shop);
      return [{ url: payment.successUrl, headers: [BROWSER, ['Cookie', cookies]] }];
    }),
  },
  'return-other-session': {
    state: 'the session of the cookie placed an order that is not paid, and the order in the address is paid',
    about: 'The success_url of a paid order, opened in the session of a customer whose own order is unpaid.',
    run: returns(({ shop, payment }) => {
      const cookies = shop.orders.cookiesOf(payment);
      if (cookies === undefined) return noCookie(shop);
      const [paid] = shop.settled;
      return paid
        ? [{ url: paid.payment.successUrl, headers: [BROWSER, ['Cookie', cookies]] }]
        : 'no order is paid';
    }),
  },
  'return-second-order': {
    state: 'the session of the cookie placed two orders, and the genuine IPN has paid the other one',
    about:
      'The success_url of an unpaid order, opened in the session in which the customer has paid another one.',
    run: withOrder(async (target) => {
      const { shop, payment } = target;
      const { orderUrl: url } = shop.options;
      const { method } = shop.orders;
      const cookies = shop.orders.cookiesOf(payment);
      if (cookies === undefined || url === undefined) return skipped(noCookie(shop));
      const headers = [BROWSER, ['Cookie', cookies]] as const;
      const [second] = await shop.orders.placedBy(() => shop.sendOrder({ url, method, headers }));
      if (!second) return skipped('a second order in this session initiated no payment');
      const closed = shop.whyClosed(second.successUrl);
      if (closed !== undefined) return skipped(closed);
      const before = await shop.look(second);
      const { isPaid } = await payByIpn(shop, payment);
      if (!isPaid) return unproven('the genuine IPN did not pay the first order');
      const attacked = { ...target, payment: second, before };
      return attack(attacked, { url: second.successUrl, headers }, rejected(attacked));
    }),
  },
  'return-repeated': {
    state: IS_PAID,
    about: 'The success_url of a paid order, opened twice.',
    run: afterwards(({ successUrl }) => successUrl),
    harm: 'A customer who reloads the success_url gets credit or goods again.',
  },
  'cancel-paid': {
    state: IS_PAID,
    about: 'The cancel_url of a paid order, opened twice.',
    run: afterwards(({ cancelUrl }) => cancelUrl),
    harm: 'A customer who opens the cancel_url of a paid order changes it.',
  },
  'return-after-ipn': {
    about:
      'IPNs that must not pay (unsigned, incorrectly signed, for too little, failed), and then a visit of the success_url.',
    run: async (shop) => {
      let finding = skipped('there is nothing to send');
      for (const bad of BAD_IPNS) {
        finding = await withOrder(async (target) => {
          const page = { url: target.payment.successUrl, headers: [BROWSER] };
          const closed = shop.whyClosed(page.url);
          if (closed !== undefined) return skipped(closed);
          const request = target.post(bad(target.ipn, shop.gateway.secretKey));
          await shop.try(request, target.payment);
          if ((await shop.lookAfterRest(target.payment)).paid)
            return { ...skipped('the IPN itself pays the order'), verdict: 'pass' };
          const found = await attack(target, page, rejected(target));
          return {
            ...found,
            sent: sentText(shop, [request, page]),
            curl: curlsOf([request, page]),
          };
        })(shop);
        if (finding.verdict !== 'pass') break;
      }
      return finding;
    },
    harm: 'Anyone sends an IPN that the handler rejects, opens the success_url, and gets the order without paying.',
  },
  'return-before-payment': {
    about: 'The success_url of a pending order, opened by a stranger: its genuine IPN must still pay it.',
    run: staysPayable(({ successUrl }) => successUrl, STRANGERS_RETURN, KEEP_PENDING),
  },
  'cancel-before-payment': {
    state: 'the order is pending; after it, pay, and send the genuine IPN',
    about: 'The cancel_url of a pending order, opened by a stranger: its genuine IPN must still pay it.',
    run: staysPayable(({ cancelUrl }) => cancelUrl, STRANGERS_CANCEL, KEEP_CANCELED),
  },
  'return-ipn': {
    about:
      'IPNs that must not pay, sent to the success_url and the cancel_url: unsigned, incorrectly signed, for too little, or of another order.',
    run: rejects(
      async (target) => {
        const { shop, payment, ipn } = target;
        const bad = BAD_IPNS.map((change) => change(ipn, shop.gateway.secretKey));
        const ipns = [...bad, await shop.attackerIpn(payment)];
        const pages = [payment.successUrl, payment.cancelUrl];
        const open = pages.filter((page) => shop.whyClosed(page) === undefined);
        return open.length
          ? open.flatMap((url) =>
              ipns.flatMap((one) => [
                { url, body: one.form },
                { url: withQuery(url, ...one.pairs), headers: [BROWSER] },
              ]),
            )
          : (shop.whyClosed(payment.successUrl) ?? 'there is no page');
      },
      { mayChange: true },
    ),
  },
  'return-parameters': {
    about: 'The success_url with plausible parameters, by GET and by POST.',
    run: returns(({ payment }) => both(payment.successUrl, payment)),
  },
  'return-paid-transaction': {
    about: 'A GET request to the success_url with the transaction of another order, which is paid.',
    run: withPaidTransaction,
  },
  'confirm-unpaid': {
    about: 'The confirmation URL without a payment, by GET and by POST.',
    run: returns(({ shop, payment }) => {
      const { confirmUrl } = shop.options;
      return confirmUrl === undefined
        ? 'use --confirm-url if a URL other than success_url confirms payments'
        : both(filledAddress(confirmUrl, shop.orders.valuesOf(payment)), payment);
    }),
  },
});

const OWN_IDENTIFIER = {
  text: 'Give each order an identifier of its own: random, or from a sequence of the database, and not from the clock.',
};

/** Fields of an order request in which a shop must not trust the customer. */
const PRICES: [string, string][] = [
  ...['amount', 'price', 'total', 'order_total', 'unit_price'].map((name): [string, string] => [
    name,
    '0.01',
  ]),
  ['currency', 'JPY'],
  ['status', 'paid'],
  ['paid', '1'],
];
const QUANTITIES: [string, string][] = ['quantity', 'qty', 'count'].map((name) => [name, '0.01']);
/** Currencies in which the number of a price is worth far less. */
const WEAK_CURRENCIES = DOCUMENTED_CURRENCIES.filter(({ decimals }) => decimals === 0);

/** A host that no shop has. */
const OTHER_HOST = 'other-host.invalid';

/** A case that inspects the shop's initiate request and sends nothing. */
const inspects =
  (judge: (shop: Shop, payment: Payment) => Finding | Promise<Finding>): Run =>
  async (shop) => {
    using order = await shop.orders.take();
    if (!order) return skipped(NO_ORDERS);
    order.isUntouched = true;
    const finding = await judge(shop, order.payment);
    return finding.sent === null ? finding : { ...finding, curl: await curlOfInitiate(shop, order.payment) };
  };

/** The shop's initiate request as received; null if it is no longer in the request log. */
async function curlOfInitiate({ gateway }: Shop, { id }: Payment): Promise<string | null> {
  const { data } = await gateway.requests.list({ payment: id });
  // The list begins with the newest request.
  const initiate = data.at(-1);
  if (!initiate?.requestBody) return null;
  const { target, requestHeaders, requestBody: body } = initiate;
  const contentType = String(requestHeaders['content-type'] ?? FORM_TYPE);
  return curlOf({ url: gateway.url + target, body, contentType });
}

const found = (verdict: Finding['verdict'], observed: string): Finding => ({
  verdict,
  sent: "nothing: the audit read the shop's initiate request",
  observed,
  curl: null,
});

/** Whether both URLs open the same page. With a front controller (`/`, `index.php`) the query string selects the page. */
function same(one: string, other: string | null): boolean {
  if (other === null || !URL.canParse(one) || !URL.canParse(other)) return one === other;
  const [here, there] = [new URL(one), new URL(other)];
  if (here.origin + here.pathname !== there.origin + there.pathname) return false;
  if (/(?:\/|\.php)$/.test(here.pathname)) return here.search === there.search;
  return [...here.searchParams].every(([name, value]) => (there.searchParams.get(name) ?? value) === value);
}

/** Whether one identifier can be derived from another. */
function isGuessable(one: string, other: string): boolean {
  if (one === other) return true;
  const [, head = '', tail = ''] = /^(.*?)(\d{1,15})$/s.exec(one) ?? [];
  const [, otherHead = '', otherTail = ''] = /^(.*?)(\d{1,15})$/s.exec(other) ?? [];
  return (
    tail !== '' && otherTail !== '' && head === otherHead && Math.abs(Number(tail) - Number(otherTail)) <= 200
  );
}

const INITIATE = family({
  class: 'M',
  group: 'initiate',
  harm: 'Your shop asks the customer for an amount that is not the order total.',
  mistake: 'initiate-from-outside',
  needsOrders: "only the shop's orders have an initiate request to check",
})({
  'amount-of-initiate': {
    about: 'The amount in the initiate request, which must be the order total.',
    run: inspects(async (shop, payment) => {
      const { orderAmount } = shop.options;
      if (orderAmount === undefined) return skipped('specify --order-amount, such as .total or orders.total');
      const { text: output } = await shop.look(payment);
      const total = valueAt(output, orderAmount);
      if (total === undefined) return skipped(`the probe output has no ${orderAmount}`);
      const shown = `the order costs ${total}, and the shop initiated a payment of ${payment.amount}`;
      return found(plainAmount(String(total)) === plainAmount(payment.amount) ? 'pass' : 'fail', shown);
    }),
  },
  'key-in-browser': {
    about: "The origin of the initiate request, which must be the shop's server and not a browser.",
    run: inspects(async ({ gateway }, { id }) => {
      const { data } = await gateway.requests.list({ payment: id });
      const initiate = data.find(({ method }) => method === 'POST');
      if (!initiate) return skipped('the request is no longer in the request log');
      const { origin } = initiate.requestHeaders;
      return origin === undefined
        ? found('pass', 'the initiate request had no Origin header')
        : found('fail', `the initiate request had the header Origin: ${origin}`);
    }),
    harm: 'A customer can change the amount and the URLs, and anyone can read the public key.',
  },
  'identifier-guessable': {
    about: 'Sequential identifiers, without an unguessable token in the ipn_url.',
    run: inspects(({ orders }, payment) => {
      const other = orders.made.find(({ id }) => id !== payment.id);
      if (!other) return skipped('this case compares two orders, but there is only one');
      const hasToken = tokensIn(payment.ipnUrl, payment, other.ipnUrl).length > 0;
      const isSafe = !isGuessable(other.identifier, payment.identifier) || hasToken;
      const shown = `${other.identifier} and ${payment.identifier}, ${payment.ipnUrl}`;
      return found(isSafe ? 'pass' : 'at-risk', shown);
    }),
    harm: "An attacker can guess the identifier and ipn_url of another customer's order, and mark it as paid with the IPN of a sandbox payment.",
    mistake: 'no-token-in-ipn-url',
    last: true,
  },
  'identifier-repeated': {
    about: 'The identifiers of all orders, which must differ.',
    run: async ({ orders: { made, repeated: sameSecond } }) => {
      const all = [...made, ...sameSecond].map(({ identifier }) => identifier);
      const repeated = all.find((one, index) => all.indexOf(one) !== index);
      if (repeated === undefined) return found('pass', `${all.length} orders had different identifiers`);
      // An order that is initiated again keeps its identifier.
      const verdict = new Set(all).size === 1 ? 'at-risk' : 'fail';
      return { ...found(verdict, `several orders had the identifier "${repeated}"`), fix: OWN_IDENTIFIER };
    },
    harm: 'Orders that share an identifier cannot be told apart: the payment of one may pay the other, or none.',
    mistake: 'order-not-by-identifier',
    last: true,
  },
  'ipn-url-is-success-url': {
    about: 'The ipn_url, which must not be the success_url.',
    run: inspects((_, { ipnUrl, successUrl }) =>
      found(same(ipnUrl, successUrl) ? 'fail' : 'pass', `${ipnUrl}, ${successUrl}`),
    ),
    harm: 'The shop uses one URL for the gateway and for browsers, and cannot tell their requests apart.',
  },
  'ipn-url-is-logo': {
    about: 'The ipn_url, which must not be the URL of the logo.',
    run: inspects((_, { ipnUrl, siteLogo }) =>
      found(same(ipnUrl, siteLogo) ? 'fail' : 'pass', `${ipnUrl}, ${siteLogo ?? 'no logo'}`),
    ),
    harm: 'Every customer can see the ipn_url and its token.',
  },
  'initiate-other-host': {
    about: 'An order that is placed with headers of a proxy that name another host.',
    run: async (shop) => {
      const { orderUrl: url } = shop.options;
      const { method } = shop.orders;
      if (url === undefined)
        return skipped('give --order-url, so that the audit sees how the order is placed');
      const request = {
        url,
        method,
        headers: ['X-Forwarded-Host', 'X-Host', 'X-Original-Host'].map((name) => [name, OTHER_HOST] as const),
      };
      const made = await shop.orders.placedBy(() => shop.sendOrder(request), OTHER_HOST);
      if (!made.length) return skipped('the order initiated no payment');
      const [given] = made
        .flatMap(({ ipnUrl, successUrl }) => [ipnUrl, successUrl])
        .filter((one) => one.includes(OTHER_HOST));
      const shown = { sent: sentText(shop, [request]), curl: curlOf(request) };
      return given
        ? { ...shown, verdict: 'at-risk', observed: `the initiate request had the address ${given}` }
        : { ...shown, verdict: 'pass', observed: 'the initiate request had the addresses of the shop' };
    },
    harm: 'A customer can have its IPN, with its token, sent to another host, unless a proxy in front of the shop replaces these headers.',
    alone: 'disturbs',
  },
  'initiate-price-given': {
    about:
      'An order that is placed with a price, a currency, a quantity of 0.01 and a status of its own in the request.',
    run: async (shop) => {
      const { orderUrl: url } = shop.options;
      const { method } = shop.orders;
      const { control } = shop;
      if (url === undefined || method === 'GET' || !control)
        return skipped('give --order-url, so that the audit sees how the order is placed');
      const given = new URL(url).searchParams;
      if (PRICES.some(([name]) => given.has(name))) return skipped('the order request itself names a price');
      const usual = control.payment;
      // Only if every order costs the same, a lower price shows that something changed it.
      const isFixed = shop.orders.made.every(({ amount }) => amount === usual.amount);
      const isLower = (amount: string) => Number(amount) < Number(usual.amount);
      let shown: Pick<Finding, 'sent' | 'curl'> = { sent: null, curl: null };
      for (const request of [
        { url, method, body: new URLSearchParams(PRICES).toString() },
        { url, method, contentType: JSON_TYPE, body: JSON.stringify(Object.fromEntries(PRICES)) },
        { url, method, body: new URLSearchParams(QUANTITIES).toString() },
        ...WEAK_CURRENCIES.map(({ code }) => ({ url, method, body: `currency=${code}` })),
      ]) {
        shown = { sent: sentText(shop, [request]), curl: curlOf(request) };
        for (const payment of await shop.orders.placedBy(() => shop.sendOrder(request))) {
          const { amount, currency } = payment;
          const isLess = currency === usual.currency && (amount === '0.01' || (isFixed && isLower(amount)));
          if (isLess || (currency !== usual.currency && amount === usual.amount)) {
            const observed = `the shop initiated a payment of ${amount} ${currency}; without these fields, of ${usual.amount} ${usual.currency}`;
            return {
              ...shown,
              verdict: 'fail',
              observed,
              why: `The customer chooses the price: ${observed}.`,
            };
          }
          if ((await shop.look(payment)).paid)
            return {
              ...shown,
              ...fail('The new order is paid: your shop takes its status from the request.'),
              observed: 'the order is paid, and nobody paid it',
            };
        }
      }
      return { ...shown, verdict: 'pass', observed: 'the payments had the usual price' };
    },
    harm: 'A customer chooses the price of the order, or that it is paid.',
    alone: 'disturbs',
  },
  'success-url-public': {
    about: 'The success_url of a local shop, which must also be local.',
    run: inspects(({ gateway: { egress } }, { ipnUrl, successUrl }) => {
      const isElsewhere = !egress.looksLocal(successUrl) && egress.unreachable(successUrl) !== null;
      const isPublic = isElsewhere && egress.unreachable(ipnUrl) === null;
      return found(isPublic ? 'fail' : 'pass', successUrl);
    }),
    harm: 'Customers of the test shop return to a different shop, perhaps to production.',
  },
});

export const CHECKOUT: readonly AuditCase[] = [...RETURN, ...INITIATE];
