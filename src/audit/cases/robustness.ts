import { gzipSync } from 'node:zlib';
import { GatewayError } from '../../contract/error.ts';
import { errorPage } from '../../domain/receiver-answer.ts';
import {
  type AuditCase,
  accepts,
  evidence,
  family,
  judgeAccepted,
  PAYS_BY_ANY_STATUS,
  rejects,
  type Target,
  targetOf,
  withOrder,
} from '../case.ts';
import type { Observation, ProbeRequest } from '../client.ts';
import { withQuery } from '../ipn.ts';
import { answerProblem, isBroken } from './control.ts';
import { PAYS_ORDERS } from './sender.ts';

/** The cost of a handler that unusual input breaks. */
export const HARM = 'Unusual input breaks the handler, and a payment is lost.';
const INCOMPLETE = 'An incomplete IPN marks an order as paid, or breaks the handler.';
const MEBIBYTE = 2 ** 20;
/** A slower handler may exceed the time-out of a gateway, which then sends the IPN again. */
const SLOW_MS = 5_000;

const text = family({
  class: 'robustness',
  group: 'robustness',
  harm: HARM,
  mistake: 'handler-breaks',
});

const unsigned = family({
  class: 'robustness',
  group: 'robustness',
  harm: PAYS_ORDERS,
  mistake: 'signature-not-checked',
});

/** A sign that the handler crashed. */
function breakdown({ status, error, body }: Observation): string | undefined {
  if (status === null) return `Your handler sent no response: ${error}. ${HARM}`;
  if (isBroken(status)) return `Your handler crashed and answered ${status}. ${HARM}`;
  const fault = errorPage(body);
  return fault && `The response is an error from your code: ${fault}. ${HARM}`;
}

/** A genuine IPN in an unusual form: the handler may reject it, but must accept the next correct IPN. */
const survives = (
  name: string,
  about: string,
  requestOf: (target: Target) => ProbeRequest,
  alone = false,
): AuditCase => ({
  ...text(name, about),
  ...(alone && { alone: true }),
  run: (shop) =>
    withOrder(shop, async (payment) => {
      await shop.pay(payment);
      const target = targetOf(shop, payment);
      const request = requestOf(target);
      const shown = evidence(request, await shop.send(request));
      await shop.send(target.post(target.ipn));
      const after = await shop.lookUntilPaid(payment);
      const why = `Afterwards, your shop does not accept the correct IPN of the same order. ${HARM}`;
      const judged = judgeAccepted(shop, after);
      return { ...shown, ...judged, ...(judged.verdict === 'fail' && { why }) };
    }),
});

const json = ({ payment, ipn, shop }: Target): ProbeRequest => ({
  url: shop.addressOf(payment),
  contentType: 'application/json',
  body: JSON.stringify(ipn.fields),
});

const FIELDS = ['status', 'identifier', 'amount'] as const;

const STILL_ALIVE = accepts(
  text('still-alive', 'A new order and its correct IPN after all other cases.'),
  ({ ipn }) => ipn,
);

export const ROBUSTNESS: readonly AuditCase[] = [
  rejects(
    {
      ...text('status-unknown', 'A validly signed IPN with an unknown status.'),
      mistake: 'status-not-checked',
      harm: PAYS_BY_ANY_STATUS,
      group: 'status',
    },
    ({ ipn }) => ['refunded', 'pending', '', 'SUCCESSFUL'].map((status) => ipn.set('status', status)),
    breakdown,
  ),
  rejects(
    {
      ...text('fields-missing', 'An IPN without its status, identifier or amount.'),
      mistake: 'fields-not-required',
      harm: INCOMPLETE,
    },
    ({ ipn }) => FIELDS.map((field) => ipn.unset(field)),
    breakdown,
  ),
  rejects(
    {
      ...text('body-empty', 'A POST request without a body.'),
      mistake: 'fields-not-required',
      harm: INCOMPLETE,
    },
    ({ payment, shop }) => ({ url: shop.addressOf(payment), body: '' }),
    breakdown,
  ),
  accepts(text('fields-extra', 'A correct IPN with unknown fields.'), ({ ipn }) =>
    ipn.and(['version', '2'], ['data[note]', 'a new field']),
  ),
  accepts(text('charset', 'A correct IPN with a charset in its content type.'), ({ ipn, post }) => ({
    ...post(ipn),
    contentType: 'application/x-www-form-urlencoded; charset=UTF-8',
  })),
  survives('json', 'The IPN as JSON.', json),
  survives('chunked', 'The IPN in chunks, without a Content-Length.', ({ ipn, post }) => ({
    ...post(ipn),
    manner: 'chunked',
  })),
  survives('gzip', 'The IPN compressed with gzip.', ({ ipn, post }) => ({
    ...post(ipn),
    body: gzipSync(ipn.form),
    headers: [['Content-Encoding', 'gzip']],
  })),
  survives('one-megabyte', 'The IPN with a field of 1 MiB.', ({ ipn, post }) =>
    post(ipn.and(['padding', 'x'.repeat(MEBIBYTE)])),
  ),
  survives(
    'truncated',
    'The IPN, cut off in the middle.',
    ({ ipn, post }) => ({ ...post(ipn), manner: 'truncated' }),
    true,
  ),
  survives(
    'early-disconnect',
    'A sender that disconnects before the response.',
    ({ ipn, post }) => ({ ...post(ipn), manner: 'disconnected' }),
    true,
  ),
  survives(
    'slow-body',
    'The IPN in small, slow parts.',
    ({ ipn, post }) => ({ ...post(ipn), manner: 'slow' }),
    true,
  ),
  rejects(
    unsigned('get', 'An incorrectly signed IPN in the query string of a GET request.'),
    ({ payment, ipn, shop }) => ({
      url: withQuery(shop.addressOf(payment), ...ipn.badlySigned().pairs),
      method: 'GET',
    }),
  ),
  rejects(unsigned('put', 'An incorrectly signed IPN as a PUT request.'), ({ payment, ipn, shop }) => ({
    url: shop.addressOf(payment),
    method: 'PUT',
    body: ipn.badlySigned().form,
  })),
  {
    ...STILL_ALIVE,
    last: true,
    run: async (shop) => {
      try {
        return await STILL_ALIVE.run(shop);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        const ended = await shop.outage();
        const why = ended ? `The shop ${ended.how}.` : `Your shop no longer works: ${error.message}.`;
        return { verdict: 'fail', sent: null, observed: error.message, why, curl: null };
      }
    },
  },
  {
    ...text('answer', 'The status and duration of the response to a correct IPN.'),
    run: (shop) =>
      withOrder(shop, async (payment) => {
        await shop.pay(payment);
        const { ipn, post } = targetOf(shop, payment);
        const request = post(ipn);
        const observation = await shop.send(request);
        const shown = evidence(request, observation);
        const fault = errorPage(observation.body);
        if (fault !== undefined) {
          const why = `The response is an error from your code: ${fault}. A gateway sees only the status, so the error goes unnoticed.`;
          return { ...shown, verdict: 'fail', why };
        }
        const problem = shop.parts.hasOrders ? answerProblem(observation) : undefined;
        if (problem !== undefined)
          return { ...shown, verdict: 'fail', why: `A gateway would retry: ${problem}.` };
        const seconds = observation.durationMs / 1_000;
        if (observation.durationMs > SLOW_MS) {
          const why = `Your handler took ${seconds.toFixed(1)} s. A gateway gives up and sends the IPN again while the first attempt is still running.`;
          return { ...shown, verdict: 'fail', why };
        }
        return { ...shown, verdict: 'pass' };
      }),
  },
];
