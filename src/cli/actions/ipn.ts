import type { Delivery, FireInput } from '../../contract/delivery.ts';
import { remarksOn } from '../../contract/describe-delivery.ts';
import { GatewayError } from '../../contract/error.ts';
import { command, hint, option } from '../../contract/hint.ts';
import { requireTamperings } from '../../contract/tampering.ts';
import { dialect, requireMerchant } from '../../library/merchant-client.ts';
import type { Actions } from '../commands/ipn.ts';
import type { Server } from '../connect.ts';
import type { FiredIpn } from '../fire-ipn.ts';
import {
  answerText,
  attemptText,
  describeLastAttempt,
  nextAttempt,
  receiverOf,
  whatToDo,
} from '../format-attempt.ts';
import { listed, moment, pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';
import { bodyToVerify, formerKeys, verdictText, verifyKeys } from '../verify-input.ts';

export const list: Actions['list'] = async ({ fields: query, call }) =>
  listed(
    await call('GET /ipns', { query }),
    {
      'Created (UTC)': ({ createdAt }) => moment(createdAt),
      Identifier: ({ identifier }) => identifier,
      Status: ({ status }) => status,
      State: ({ state }) => state,
      Attempts: ({ attempts, underWay }) =>
        underWay
          ? `${underWay.number} (waiting)`
          : `${attempts.length} (${attempts.at(-1)?.responseStatus ?? '-'})`,
      IPN: ({ id }) => id,
      To: ({ url, forwardedTo }) => (forwardedTo === null ? url : receiverOf({ url, forwardedTo })),
    },
    hint`No IPNs. Settling a payment sends one: ${command('pay', '--approve')}`,
  );

export const show: Actions['show'] = async ({ args: [id], call }) => {
  const delivery = await call('GET /ipns/:id', { param: { id } });
  return {
    json: delivery,
    text: [deliveryText(delivery), ...delivery.attempts.map(attemptText)].join('\n\n'),
  };
};

export const resend: Actions['resend'] = async ({ args: [id], fields, options, call }) => {
  const delivery = await call('POST /ipns/:id/resend', { param: { id }, json: fields });
  return { json: delivery, ...fired([delivery], options) };
};

/** Through the server, or with --secret without any. */
export const fire: Actions['fire'] = async ({ fields, options, connect }) => {
  const { secret, allowIpnHost } = options;
  // A mistake on the command line, whatever the server is like.
  requireTamperings(fields.tamper);
  if (options.expectRefusal && options.requireDelivery) {
    throw new GatewayError('usage', 'ipn fire takes --require-delivery or --expect-refusal, not both');
  }
  if (secret === undefined && options.parallel === undefined && allowIpnHost !== undefined) {
    throw new GatewayError('usage', '--allow-ipn-host is for --secret: the emulator has its own', {
      hint: hint`Start it with ${option('allowIpnHost', allowIpnHost.join(','))}`,
    });
  }
  const ipns = await fireIpns(fields, options, connect);
  return {
    json: ipns.length === 1 ? ipns[0] : { data: ipns, nextCursor: null },
    ...fired(ipns, options),
    ...(options.expectRefusal && acceptance(ipns)),
  };
};

type Fire = Parameters<Actions['fire']>[0];

async function fireIpns(
  fields: Fire['fields'],
  { secret, parallel, allowIpnHost = [] }: Fire['options'],
  connect: Fire['connect'],
): Promise<FiredIpn[]> {
  if (secret === undefined && parallel === undefined) return fireByServer(fields, (await connect()).call);
  const { fireTogether, fireWithoutServer, keyOf } = await import('../fire-ipn.ts');
  if (parallel === undefined) return fireWithoutServer(fields, secret ?? '', allowIpnHost);
  if (secret !== undefined) {
    return fireTogether(fields, parallel, { secretKey: keyOf(fields, secret) }, allowIpnHost);
  }
  const server = await connect();
  const { payment: reference } = fields;
  if (reference === undefined) {
    const { secretKey } = await requireMerchant(server);
    return fireTogether(fields, parallel, { secretKey }, allowIpnHost);
  }
  const payment = await server.call('GET /payments/:ref', { param: { ref: reference } });
  const { secretKey } = await requireMerchant(server, payment.merchantId);
  return fireTogether(fields, parallel, { secretKey, payment }, allowIpnHost);
}

async function fireByServer(json: FireInput, call: Server['call']): Promise<Delivery[]> {
  const answer = await call('POST /ipns', { json });
  return 'data' in answer ? answer.data : [answer];
}

/** What `--expect-refusal` fails for: nothing when each was answered with another status than 2xx. */
function acceptance(ipns: readonly FiredIpn[]): Pick<CommandResult, 'failure' | 'failureCode'> {
  const statuses = ipns.map(({ attempts }) => attempts.at(-1)?.responseStatus ?? null);
  const accepted = statuses.filter((status) => status !== null && status >= 200 && status < 300).length;
  if (accepted) return { failure: `${accepted} of ${ipns.length} IPNs accepted, none should be` };
  const silent = statuses.filter((status) => status === null).length;
  if (!silent) return {};
  return { failure: `${silent} of ${ipns.length} IPNs not answered`, failureCode: 'no_server' };
}

function fired(ipns: readonly FiredIpn[], { requireDelivery }: { requireDelivery: true | undefined }) {
  const undelivered = ipns.filter(({ state }) => state !== 'delivered').length;
  const failure = `${undelivered} of ${ipns.length} IPNs not delivered`;
  return {
    text: ipns.map(deliveryText).join('\n\n'),
    notices: ipns.length === 1 ? ipns.flatMap(whatToDo) : [],
    ...(requireDelivery && undelivered > 0 && { failure }),
  };
}

function deliveryText(delivery: FiredIpn): string {
  const { id, identifier, status, state, url, forwardedTo, attempts, underWay } = delivery;
  const last = attempts.at(-1);
  const number = underWay?.number ?? last?.number ?? 1;
  return pairs({
    IPN: id ?? 'sent without a server',
    Identifier: identifier,
    Status: status,
    To: forwardedTo === null ? url : `${receiverOf({ url, forwardedTo })} (ipn_url ${url})`,
    State: state,
    [`Attempt ${number}`]: describeLastAttempt(delivery),
    Answer: last && answerText(last),
    Next: nextAttempt(delivery),
    Note: remarksOn(delivery).join('; ') || undefined,
  });
}

export const verify: Actions['verify'] = async ({ args: [argument], options, io, connect }) => {
  const { body, merchant } = await bodyToVerify(argument, options.body, io, connect);
  const keys = await verifyKeys({ ...options, merchant: options.merchant ?? merchant }, connect);
  const tools = await dialect.ipn();
  let verdict = tools.verify(body, keys);
  // Only now: a secret key that is given needs no emulator.
  if (!verdict.authentic && options.secret) {
    verdict = tools.verify(body, { ...keys, former: await formerKeys(connect) });
  }
  return {
    json: verdict,
    text: verdictText(verdict),
    ...(!verdict.valid && { failure: 'the IPN is not valid' }),
  };
};

/** A receiver that verifies and prints what comes, until it is stopped. */
export const listen: Actions['listen'] = async ({ options, io, output, connect }) => {
  const { listenForIpns } = await import('../ipn-receiver.ts');
  await listenForIpns(options, () => verifyKeys(options, connect), { io, output });
  return undefined;
};
