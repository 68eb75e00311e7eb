import { gzipSync } from 'node:zlib';
import { GatewayError } from '../../contract/error.ts';
import { FORM_TYPE, JSON_TYPE } from '../../contract/media-types.ts';
import { masked } from '../../contract/secrets.ts';
import type { ExchangeRequest, Observation } from '../../delivery/exchange.ts';
import { errorPage, shownError } from '../../diagnosis/receiver-answer.ts';
import { IPN_NAMES } from '../../service/names.ts';
import { sign } from '../../service/signature.ts';
import { filledAddress } from '../../shop/command.ts';
import { comparedBy } from '../../shop/probe.ts';
import {
  type AuditCase,
  accepts,
  attack,
  evidence,
  type Finding,
  type Flaw,
  fail,
  family,
  type Judgement,
  judgeAccepted,
  PAYS_BY_ANY_STATUS,
  PAYS_ORDERS,
  PAYS_OTHER_ORDERS,
  passesWith,
  type Run,
  rejected,
  rejects,
  send,
  skipped,
  type Target,
  withOrder,
} from '../case.ts';
import { type Pair, UNKNOWN_ORDER } from '../ipn.ts';
import { curlOf, decoded } from '../request-text.ts';
import type { Shop } from '../shop.ts';
import { answerProblem, isBroken } from './control.ts';

/*
 * Untrusted text, malformed requests, and what responses reveal.
 */

/** The cost of a handler that unusual input breaks. */
export const BREAKS = 'Unusual input breaks the handler, and a payment is lost.';
const INJECTED = 'Untrusted text reaches the database or a page as code.';

const MARKUP = ['<script>alert(1)</script>', '<img src=x onerror=alert(1)>'];

/** Errors of databases, as their drivers word them. */
const DATABASE_ERROR =
  /SQLSTATE|\bSQL(?:ite)?\b.{0,40}(?:error|syntax|exception)|(?:syntax error|unterminated|unrecognized token).{0,80}(?:near|quoted|at or)|sqlite3?\.|psycopg|mysqli?|\bORA-\d{5}/i;

/** A response that takes this much longer shows that an injected sleep ran. */
const DELAY_MS = 4_000;

const isCrash = ({ status }: Observation) => status !== null && status >= 500;

/**
 * A sign that the shop read the text as code, which its response to a plain unknown identifier does not have. An error
 * alone shows only that the handler breaks: a path or a length may cause it, too.
 */
function flaw(observation: Observation, plain: Observation): Flaw | undefined {
  const { status, body, headers, durationMs } = observation;
  const [error] = DATABASE_ERROR.exec(body) ?? [];
  if (error !== undefined && !DATABASE_ERROR.test(plain.body))
    return `The response shows an error of the database (${error}). ${INJECTED}`;
  const because = { mistake: 'handler-breaks', harm: BREAKS } as const;
  if (status === null && plain.status !== null)
    return { why: `Your handler sent no response. ${BREAKS}`, because };
  if (isCrash(observation) && !isCrash(plain))
    return { why: `Your handler crashed and answered ${status}. ${BREAKS}`, because };
  const fault = errorPage(body);
  if (fault !== undefined && errorPage(plain.body) === undefined)
    return { why: `The response shows an error from your code: ${fault}. ${BREAKS}`, because };
  if (durationMs > plain.durationMs + DELAY_MS)
    return `The response took ${Math.round(durationMs)} ms, compared with ${Math.round(plain.durationMs)} ms for a plain identifier. ${INJECTED}`;
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const isPage = !/json|text\/plain/.test(type);
  if (isPage && MARKUP.some((markup) => body.includes(markup))) {
    return `The response repeats the markup unescaped. ${INJECTED}`;
  }
  if (headers.some(([name]) => name.toLowerCase() === 'x-injected'))
    return `A line break in the identifier became a response header. ${INJECTED}`;
  return undefined;
}

/** A validly signed IPN with each of these identifiers, none of which can identify an order. */
const hostile = (...identifiers: readonly string[]): Run => {
  const signedFor = (names: readonly string[]) =>
    rejects(
      ({ ipn, shop }) => names.map((name) => ipn.set('identifier', name).signedWith(shop.gateway.secretKey)),
      { findFlaw: flaw },
    );
  const all = signedFor([UNKNOWN_ORDER, ...identifiers]);
  return passesWith(all, async (shop) => {
    const finding = await all(shop);
    if (!finding.unpaid || !(await signedFor([UNKNOWN_ORDER])(shop)).unpaid) return finding;
    // Any identifier pays the order, so what these contain does not matter.
    return { ...finding, because: { mistake: 'order-not-by-identifier', harm: PAYS_OTHER_ORDERS } };
  });
};

/** One quotation mark breaks a query that the identifier is part of, and two do not. */
const oneQuote = hostile("x'");
const quotes = passesWith(oneQuote, async (shop) => {
  const finding = await oneQuote(shop);
  if (finding.because?.mistake !== 'handler-breaks') return finding;
  const doubled = await hostile("x''")(shop);
  if (doubled.verdict !== 'pass') return finding;
  const { because: _, ...rest } = finding;
  return { ...rest, why: `Your handler fails at one quotation mark, and not at two. ${INJECTED}` };
});

const OTHER_FIELDS = ['status', 'trx', 'amount', 'currency', 'holder', 'charge', 'signature'] as const;

/** A shop may write what it rejects into a log. */
const inEveryField = rejects(
  ({ ipn, shop, payment: { identifier } }) => {
    const { table, column, value, named } = shop.orderColumns();
    const update = `UPDATE ${table} SET ${column}='${value}' WHERE ${named}='${identifier}'`;
    const texts = [
      "x'",
      `x', ${column}='${value}`,
      `x', ${column}='${value}' WHERE ${named}='${identifier}' -- `,
      // The query may insert a log, and be able to run several statements.
      `x'; ${update}; -- `,
      `x'); ${update}; -- `,
    ];
    const forged = ipn.badlySigned();
    return [
      forged.set('status', 'x'),
      ...OTHER_FIELDS.flatMap((field) => texts.map((text) => forged.set(field, text))),
    ];
  },
  { findFlaw: flaw },
);

/** Names by which a parser of nested fields reaches what all objects have in common. */
const PROTOTYPES = ['__proto__', 'constructor[prototype]'];

/** Fields of a forged IPN that become properties of every object of the shop. Nothing runs after it. */
export const PROTOTYPE = family({
  class: 'J',
  group: 'sender',
  harm: 'Anyone who knows the ipn_url can change every object of the running shop, and all its orders are paid.',
  mistake: 'fields-not-required',
  last: true,
})({
  'prototype-changed': {
    about:
      'A forged IPN with fields such as __proto__[status]: afterwards, the order and a new one must not be paid.',
    run: withOrder(async (target) => {
      const { shop, ipn, post } = target;
      const compared = comparedBy(shop.options.paidWhen ?? '');
      if (!compared) return { ...skipped('the condition names no field'), verdict: 'pass' };
      const [name, value] = compared;
      const forged = ipn.badlySigned();
      const inForm = forged.and(...PROTOTYPES.map((one): Pair => [`${one}[${name}]`, value]));
      const nested = `"__proto__":{${JSON.stringify(name)}:${JSON.stringify(value)}}`;
      const inJson = `{${nested},${JSON.stringify(forged.fields).slice(1)}`;
      await shop.try({ ...post(forged), contentType: JSON_TYPE, body: inJson }, target.payment);
      const finding = await attack(target, inForm, rejected(target));
      if (finding.verdict !== 'fail') return finding;
      using another = await shop.takeAnother();
      // The second observation: an order for which nothing was sent.
      const isProven = another && (await shop.look(another.payment)).paid;
      const { answer: _, ...proven } = finding;
      if (isProven)
        return { ...proven, why: 'The order is paid, and so is every new one.', fix: NO_PROTOTYPE };
      // The forgery itself paid the order.
      return { ...finding, because: { mistake: 'signature-not-checked', harm: PAYS_ORDERS } };
    }),
  },
});

const INJECTION = family({ class: 'K', group: 'robustness', harm: INJECTED, mistake: 'input-not-escaped' })({
  'identifier-quote': {
    about: 'A validly signed IPN whose identifier contains a quotation mark.',
    run: quotes,
  },
  'identifier-sql': {
    about: 'A validly signed IPN whose identifier contains SQL.',
    run: hostile("' OR '1'='1", "x' OR 1=1 -- ", '" OR ""="'),
  },
  'identifier-markup': {
    about: 'A validly signed IPN whose identifier contains markup or template code.',
    run: hostile(
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      '{{7*7}}',
      '#{7*7}',
      '<%= 7*7 %>',
    ),
  },
  'identifier-newline': {
    about: 'A validly signed IPN whose identifier contains control characters.',
    run: hostile('a\r\nX-Injected: 1', 'a\u0000b'),
  },
  'name-markup': {
    about: 'A genuine IPN with quotes and markup in the customer name.',
    run: accepts(({ ipn }) => ipn.set('holder', `O'Brien "<script>alert(1)</script>"`)),
  },
  'fields-sql': {
    about:
      'Incorrectly signed IPNs whose other fields contain a quotation mark, or SQL that marks the order as paid.',
    run: inEveryField,
    group: 'sender',
  },
  'name-newline': {
    about: 'A genuine IPN with a line break in the customer name.',
    run: accepts(({ ipn }) => ipn.set('holder', 'Ada\r\nBcc: everybody@example.com')),
  },
});

const INCOMPLETE = {
  mistake: 'fields-not-required',
  harm: 'An incomplete IPN marks an order as paid, or breaks the handler.',
} as const;
const MEBIBYTE = 2 ** 20;
/** Known servers redirect the customer after the response; others give up earlier and send a copy. */
const SLOW_MS = 5_000;

/** A sign that the handler crashed. @param refusal how it refuses an IPN: some drop the connection */
function breakdown({ status, error, body }: Observation, refusal: Observation): string | undefined {
  if (status === null && refusal.status === null) return undefined;
  if (status === null) return `Your handler sent no response: ${error}. ${BREAKS}`;
  if (isBroken(status)) return `Your handler crashed and answered ${status}. ${BREAKS}`;
  const fault = errorPage(body);
  return fault && `The response is an error from your code: ${fault}. ${BREAKS}`;
}

/** A genuine IPN in an unusual form: the handler may reject it, but must accept the next correct IPN. */
const survives = (changed: (target: Target) => Omit<ExchangeRequest, 'url'>): Run =>
  withOrder(async (target) => {
    const { shop, payment, ipn, post } = target;
    await shop.pay(payment);
    const { shown } = await send(target, { ...post(ipn), ...changed(target) });
    await shop.sendGenuine(payment);
    const judged = await judgeAccepted(shop, payment);
    const why = `Afterwards, your shop does not accept the correct IPN of the same order. ${BREAKS}`;
    return { ...shown, ...judged, ...(judged.verdict === 'fail' && { why }) };
  });

const stillAlive = accepts(({ ipn }) => ipn);

const ROBUST = family({ class: 'robustness', group: 'robustness', harm: BREAKS, mistake: 'handler-breaks' })({
  'status-unknown': {
    about: 'A validly signed IPN with an unknown status.',
    run: rejects(
      ({ ipn }) => [
        ipn.badlySigned(),
        ...['refunded', 'pending', '', 'SUCCESSFUL', 'unsuccessful', 'success_pending'].map((status) =>
          ipn.set('status', status),
        ),
      ],
      { findFlaw: breakdown },
    ),
    mistake: 'status-not-checked',
    harm: PAYS_BY_ANY_STATUS,
    group: 'status',
  },
  'fields-missing': {
    about: 'An IPN without its status, identifier or amount.',
    run: rejects(
      ({ ipn }) => [ipn.badlySigned(), ipn.unset('status'), ipn.unset('identifier'), ipn.unset('amount')],
      { findFlaw: breakdown },
    ),
    ...INCOMPLETE,
  },
  'body-empty': {
    about: 'A POST request without a body.',
    run: rejects(
      ({ ipn, payment, shop }) => [ipn.badlySigned(), { url: shop.addressOf(payment), body: '' }],
      {
        findFlaw: breakdown,
      },
    ),
    ...INCOMPLETE,
  },
  'fields-extra': {
    about: 'A correct IPN with unknown fields.',
    run: async (shop) => {
      const finding = await accepts(({ ipn }) => ipn.and(['version', '2'], ['data[note]', 'a new field']))(
        shop,
      );
      if (finding.verdict !== 'fail' || isBroken(finding.answer?.status ?? 500)) return finding;
      const why =
        'Your shop rejects an IPN with a field that it does not know: if the gateway ever adds one, payments are lost.';
      return { ...finding, verdict: 'note', why };
    },
  },
  charset: {
    about: 'A correct IPN with a charset in its content type.',
    run: accepts(({ ipn, post }) => ({ ...post(ipn), contentType: `${FORM_TYPE}; charset=UTF-8` })),
  },
  json: {
    about: 'The IPN as JSON.',
    run: survives(({ shop, payment }) => ({
      contentType: JSON_TYPE,
      body: JSON.stringify(shop.jsonOf(payment)),
    })),
  },
  chunked: {
    about: 'The IPN in chunks, without a Content-Length.',
    run: survives(() => ({ manner: 'chunked' })),
  },
  gzip: {
    about: 'The IPN compressed with gzip.',
    run: survives(({ ipn }) => ({ body: gzipSync(ipn.form), headers: [['Content-Encoding', 'gzip']] })),
  },
  'one-megabyte': {
    about: 'The IPN with a field of 1 MiB.',
    run: survives(({ ipn }) => ({ body: ipn.and(['padding', 'x'.repeat(MEBIBYTE)]).form })),
  },
  truncated: {
    about: 'The IPN, cut off in the middle.',
    run: survives(() => ({ manner: 'truncated' })),
    alone: 'disturbs',
  },
  'early-disconnect': {
    about: 'A sender that disconnects before the response.',
    run: survives(() => ({ manner: 'disconnected' })),
    alone: 'disturbs',
  },
  'slow-body': {
    about: 'A correct IPN whose body comes in small, slow parts, as a network may deliver it.',
    run: accepts(({ ipn, post }) => ({ ...post(ipn), manner: 'slow' })),
    harm: 'An IPN that the network delivers in parts does not pay its order, and the gateway sends it only once.',
    mistake: 'payments-lost',
    alone: 'disturbs',
  },
  'still-alive': {
    about: 'A new order and its correct IPN after all other cases.',
    run: async (shop) => {
      try {
        return await stillAlive(shop);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        // A shop that stopped is not blamed on this case.
        if ((await shop.outage()) !== undefined) throw error;
        const why = `Your shop no longer works: ${error.message}.`;
        return { verdict: 'fail', sent: null, observed: error.message, why, curl: null };
      }
    },
    last: true,
  },
  answer: {
    about: 'The status and duration of the response to a correct IPN.',
    harm: 'A gateway counts the IPN as failed, or sends it again.',
    run: withOrder(async (target) => {
      const { shop, payment, ipn } = target;
      await shop.pay(payment);
      const { shown, observation } = await send(target, ipn);
      const failed = (why: string) => ({ ...shown, ...fail(why) });
      const fault = errorPage(observation.body);
      if (fault !== undefined) {
        return failed(
          `The response is an error from your code: ${fault}. A gateway sees only the status, so the error goes unnoticed.`,
        );
      }
      // A payment that was taken is not lost.
      const isTaken = shop.canLook && (await shop.lookUntilPaid(payment)).paid === true;
      const noted = (why: string) => (isTaken ? { ...shown, verdict: 'note' as const, why } : failed(why));
      const { status } = observation;
      const problem = shop.hasOrders ? answerProblem(observation) : undefined;
      if (problem !== undefined) {
        const why = `A gateway sees a failure: ${problem.replace(/\.$/, '')}.`;
        return status !== null && status < 400 ? noted(why) : failed(why);
      }
      if (observation.durationMs > SLOW_MS) {
        const seconds = (observation.durationMs / 1_000).toFixed(1);
        return noted(
          `Your handler took ${seconds} s. The customer waits that long for the redirect, and a gateway may give up and send a copy in the meantime.`,
        );
      }
      return { ...shown, verdict: 'pass' };
    }),
  },
});

/** Judges a response, which must not reveal a secret. */
function judgeLeak({ gateway }: Shop, request: ExchangeRequest, { body, headers }: Observation): Judgement {
  const response = `${headers.map((pair) => pair.join(': ')).join('\n')}\n${body}`;
  if (gateway.secretKey.length >= 6 && response.includes(gateway.secretKey))
    return fail('The response contains the secret key.');
  const form = typeof request.body === 'string' ? new URLSearchParams(request.body) : undefined;
  const [amount, identifier] = [form?.get(IPN_NAMES.amount), form?.get(IPN_NAMES.identifier)];
  if (amount && identifier) {
    const expected = sign(amount, identifier, gateway.secretKey);
    const isOwn = form?.getAll(IPN_NAMES.signature).includes(expected);
    if (!isOwn && response.toUpperCase().includes(expected))
      return fail('The response contains the expected signature.');
  }
  const fault = shownError(body);
  return fault ? fail(`The response contains an error from your code: ${fault}.`) : { verdict: 'pass' };
}

/** A request that anyone can send to the handler. */
const plainRequest = (method: string): Run =>
  withOrder(async (target) => {
    const { shop, payment } = target;
    const request = { url: shop.addressOf(payment), method };
    const { shown, observation } = await send(target, request);
    return { ...shown, ...judgeLeak(shop, request, observation) };
  });

async function inInitiate({ orders, gateway: { secretKey } }: Shop): Promise<Finding> {
  // The emulator masks the key in payments.
  const isIn = (text: string) => text.includes(secretKey) || text.includes(masked(secretKey));
  for (const payment of orders.made) {
    const isExposed = (value: unknown) => typeof value === 'string' && isIn(decoded(value));
    const [name] = Object.entries(payment).find(([, value]) => isExposed(value)) ?? [];
    if (name === undefined) continue;
    const observed = `the field ${name} of an initiate request contains the secret key`;
    const why = `The shop sends the secret key in ${name} of its initiate request.`;
    return { verdict: 'fail', sent: null, observed, why, curl: null };
  }
  const observed = `none of ${orders.made.length} initiate requests contained the secret key`;
  return { verdict: 'pass', sent: null, observed, curl: null };
}

const LEAKS = family({
  class: 'L',
  group: 'leaks',
  harm: 'Anyone who has the secret key or an expected signature can mark orders as paid. A stack trace shows an attacker where to start.',
  mistake: 'secrets-shown',
})({
  'handler-get': { about: 'A GET request to the handler.', run: plainRequest('GET') },
  'handler-head': { about: 'A HEAD request to the handler.', run: plainRequest('HEAD') },
  'error-bodies': {
    about: 'Every response of the shop during the audit, including error responses.',
    run: withOrder(async (target) => {
      const { shop, ipn } = target;
      // Error responses reveal the most.
      await send(target, ipn.badlySigned());
      await send(target, ipn.unset('signature'));
      await send(target, ipn.unset('amount'));
      await send(target, ipn.set('identifier', UNKNOWN_ORDER));
      const sent = `all ${shop.seen.length} requests of the audit`;
      for (const { request, observation } of shop.seen) {
        const judged = judgeLeak(shop, request, observation);
        if (judged.verdict === 'fail') return { ...evidence(shop, request, observation), ...judged };
      }
      return { verdict: 'pass', sent, observed: 'no response contained a secret', curl: null };
    }),
    last: true,
  },
  'signature-on-page': {
    about: 'The page of a pending order, which must not show the signature that its IPN will have.',
    run: withOrder(async ({ shop, payment, before, ipn }) => {
      const { probeUrl } = shop.options;
      if (probeUrl === undefined) return skipped('no page of an order is known: use --probe-url');
      const url = filledAddress(probeUrl, shop.orders.valuesOf(payment));
      const shown = { sent: `GET ${url}`, curl: curlOf({ url }) };
      const isShown = before.text.toUpperCase().includes(ipn.get('signature'));
      const why =
        'The page of the order shows the signature that its IPN must have: anyone who reads it can pay the order.';
      return isShown
        ? { ...shown, ...fail(why), observed: shop.shown(before.text) }
        : { ...shown, verdict: 'pass', observed: 'the page does not show the signature' };
    }),
  },
  'secret-in-initiate': {
    about: 'Every initiate request of the shop.',
    run: inInitiate,
    mistake: 'initiate-from-outside',
    needsOrders: "only a shop's initiate request can reveal the key",
    last: true,
  },
});

const NO_PROTOTYPE = {
  text: 'Parse nested fields with a library that ignores __proto__ and constructor, or into objects without a prototype, and check the signature before anything else. Restart your shop now: its objects stay changed.',
};

export const ROBUSTNESS: readonly AuditCase[] = [...INJECTION, ...ROBUST, ...LEAKS];
