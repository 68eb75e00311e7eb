import { gzipSync } from 'node:zlib';
import { GatewayError } from '../../contract/error.ts';
import { errorPage } from '../../contract/receiver-answer.ts';
import {
  type AuditCase,
  evidence,
  family,
  judgeTaken,
  refuses,
  type Target,
  takes,
  targetOf,
  withOrder,
} from '../case.ts';
import type { Observation, ProbeRequest } from '../client.ts';
import { withQuery } from '../ipn.ts';
import { answerProblem, isBroken } from './control.ts';

const HARM = 'The handler breaks on what a gateway or a stranger may send, and a payment is lost on the way.';
const MEBIBYTE = 2 ** 20;
/** A handler this slow is near the time-out of a gateway, which then sends the IPN again. */
const SLOW_MS = 5_000;

const text = family({
  class: 'robustness',
  group: 'robustness',
  harm: HARM,
  mistake: 'handler-breaks',
});

/** What shows that the handler broke. */
function breakdown({ status, error, body }: Observation): string | undefined {
  if (status === null) return `The handler gave no answer: ${error}. ${HARM}`;
  if (isBroken(status)) return `The handler broke: it answered ${status}. ${HARM}`;
  const fault = errorPage(body);
  return fault && `The answer is an error of the program: ${fault}. ${HARM}`;
}

/** A genuine IPN in a form that a handler need not know: it may refuse it, and takes the next correct one. */
const survives = (
  name: string,
  about: string,
  shotOf: (target: Target) => ProbeRequest,
  alone = false,
): AuditCase => ({
  ...text(name, about),
  ...(alone && { alone: true }),
  run: (shop) =>
    withOrder(shop, async (payment) => {
      await shop.pay(payment);
      const target = targetOf(shop, payment);
      const shot = shotOf(target);
      const shown = evidence(shot, await shop.send(shot));
      await shop.send(target.post(target.ipn));
      const after = await shop.lookUntilPaid(payment);
      const why = `After it the correct IPN of the same order is not taken any more. ${HARM}`;
      const judged = judgeTaken(shop, after);
      return { ...shown, ...judged, ...(judged.verdict === 'fail' && { why }) };
    }),
});

const json = ({ payment, ipn, shop }: Target): ProbeRequest => ({
  url: shop.addressOf(payment),
  contentType: 'application/json',
  body: JSON.stringify(ipn.fields),
});

const FIELDS = ['status', 'identifier', 'amount'] as const;

export const ROBUSTNESS: readonly AuditCase[] = [
  refuses(
    {
      ...text('status-unknown', 'A status that nobody has heard of, validly signed.'),
      mistake: 'status-not-checked',
      group: 'status',
    },
    ({ ipn }) => ['refunded', 'pending', '', 'SUCCESSFUL'].map((status) => ipn.set('status', status)),
    breakdown,
  ),
  refuses(
    text('fields-missing', 'An IPN without status, identifier or amount.'),
    ({ ipn }) => FIELDS.map((field) => ipn.unset(field)),
    breakdown,
  ),
  refuses(
    text('body-empty', 'A POST without a body.'),
    ({ payment, shop }) => ({ url: shop.addressOf(payment), body: '' }),
    breakdown,
  ),
  takes(text('fields-extra', 'A correct IPN with fields that nobody has heard of.'), ({ ipn }) =>
    ipn.and(['version', '2'], ['data[note]', 'a new field']),
  ),
  takes(text('charset', 'A correct IPN whose content type names a charset.'), ({ ipn, post }) => ({
    ...post(ipn),
    contentType: 'application/x-www-form-urlencoded; charset=UTF-8',
  })),
  survives('json', 'The IPN as JSON.', json),
  survives('chunked', 'The IPN in chunks, without a length.', ({ ipn, post }) => ({
    ...post(ipn),
    manner: 'chunked',
  })),
  survives('gzip', 'The IPN compressed.', ({ ipn, post }) => ({
    ...post(ipn),
    body: gzipSync(ipn.form),
    headers: [['Content-Encoding', 'gzip']],
  })),
  survives('one-megabyte', 'The IPN with a field of a megabyte.', ({ ipn, post }) =>
    post(ipn.and(['padding', 'x'.repeat(MEBIBYTE)])),
  ),
  survives(
    'truncated',
    'The IPN broken off in the middle.',
    ({ ipn, post }) => ({ ...post(ipn), manner: 'truncated' }),
    true,
  ),
  survives(
    'early-disconnect',
    'A sender that does not wait for the answer.',
    ({ ipn, post }) => ({ ...post(ipn), manner: 'left' }),
    true,
  ),
  survives('slow-body', 'The IPN in drops.', ({ ipn, post }) => ({ ...post(ipn), manner: 'slow' }), true),
  refuses(
    text('get', 'The fields of an IPN in the query of a GET, badly signed.'),
    ({ payment, ipn, shop }) => ({
      url: withQuery(shop.addressOf(payment), ...ipn.badlySigned().pairs),
      method: 'GET',
    }),
    breakdown,
  ),
  refuses(
    text('put', 'The IPN as a PUT, badly signed.'),
    ({ payment, ipn, shop }) => ({
      url: shop.addressOf(payment),
      method: 'PUT',
      body: ipn.badlySigned().form,
    }),
    breakdown,
  ),
  {
    ...text('still-alive', 'After all of this the shop takes an order and its correct IPN.'),
    last: true,
    run: async (shop) => {
      const taken = takes(text('still-alive', ''), ({ ipn }) => ipn);
      try {
        return await taken.run(shop);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        const ended = await shop.outage();
        const why = `The shop does not work any more: ${ended?.text ?? error.message}.`;
        return { verdict: 'fail', sent: null, observed: error.message, why, curl: null };
      }
    },
  },
  {
    ...text('answer', 'What the handler answers to a correct IPN, and when.'),
    run: (shop) =>
      withOrder(shop, async (payment) => {
        await shop.pay(payment);
        const { ipn, post } = targetOf(shop, payment);
        const shot = post(ipn);
        const observation = await shop.send(shot);
        const shown = evidence(shot, observation);
        const fault = errorPage(observation.body);
        if (fault !== undefined) {
          const why = `The answer is an error of the program: ${fault}. A gateway sees the status alone, and nobody learns of it.`;
          return { ...shown, verdict: 'fail', why };
        }
        const problem = shop.parts.hasOrders ? answerProblem(observation) : undefined;
        if (problem !== undefined)
          return { ...shown, verdict: 'fail', why: `A gateway would try again: ${problem}.` };
        const seconds = observation.durationMs / 1_000;
        if (observation.durationMs > SLOW_MS) {
          const why = `The handler took ${seconds.toFixed(1)} s: a gateway gives up and sends it again while it still runs.`;
          return { ...shown, verdict: 'fail', why };
        }
        return { ...shown, verdict: 'pass' };
      }),
  },
];
