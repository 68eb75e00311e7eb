import type { Delivery } from '../../contract/delivery.ts';
import { command, hint } from '../../contract/hint.ts';
import { dialect } from '../../library/merchant-client.ts';
import type { ContextOf } from '../command.ts';
import type { COMMANDS } from '../commands/ipn.ts';
import type { FiredIpn } from '../fire.ts';
import { attemptText, describeLastAttempt } from '../format-attempt.ts';
import { listed, moment, pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';
import { bodyToVerify, verdictText, verifyKeys } from '../verify-input.ts';

type Context<Name extends keyof typeof COMMANDS> = ContextOf<(typeof COMMANDS)[Name]>;

export async function list({ fields: query, connect }: Context<'list'>) {
  const server = await connect();
  const page = await server.call('GET /ipns', { query });
  return listed(
    page,
    {
      'Created (UTC)': ({ createdAt }) => moment(createdAt),
      Identifier: ({ identifier }) => identifier,
      Status: ({ status }) => status,
      State: ({ state }) => state,
      Attempts: ({ attempts }) => `${attempts.length} (${attempts.at(-1)?.responseStatus ?? '-'})`,
      IPN: ({ id }) => id,
      To: ({ url }) => url,
    },
    hint`No IPNs. Settling a payment sends one: ${command('pay', '--approve')}`,
  );
}

export async function show({ args: [id], connect }: Context<'show'>): Promise<CommandResult> {
  const server = await connect();
  const delivery = await server.call('GET /ipns/:id', { param: { id } });
  return {
    json: delivery,
    text: [deliveryText(delivery), ...delivery.attempts.map(attemptText)].join('\n\n'),
  };
}

export async function resend(call: Context<'resend'>): Promise<CommandResult> {
  const server = await call.connect();
  const param = { id: call.args[0] };
  const delivery = await server.call('POST /ipns/:id/resend', { param, json: call.fields });
  return { json: delivery, ...fired([delivery], call.options) };
}

/** Through the server, or with --secret without any. */
export async function fire(call: Context<'fire'>): Promise<CommandResult> {
  const { secret } = call.options;
  const ipns =
    secret === undefined
      ? await fireByServer(call)
      : await (await import('../fire.ts')).fireWithoutServer(call.fields, secret);
  return {
    json: ipns.length === 1 ? ipns[0] : { data: ipns, nextCursor: null },
    ...fired(ipns, call.options),
  };
}

async function fireByServer({ fields, connect }: Context<'fire'>): Promise<Delivery[]> {
  const server = await connect();
  const answer = await server.call('POST /ipns', { json: fields });
  return 'data' in answer ? answer.data : [answer];
}

function fired(ipns: readonly FiredIpn[], { requireDelivery }: { requireDelivery: true | undefined }) {
  const undelivered = ipns.filter(({ state }) => state !== 'delivered').length;
  const failure = `${undelivered} of ${ipns.length} IPNs not delivered`;
  return {
    text: ipns.map(deliveryText).join('\n\n'),
    ...(requireDelivery && undelivered > 0 && { failure }),
  };
}

function deliveryText(delivery: FiredIpn): string {
  const { id, identifier, status, state, url, attempts, note, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  return pairs({
    IPN: id ?? 'sent without a server',
    Identifier: identifier,
    Status: status,
    To: last && last.url !== url ? `${url}, forwarded to ${last.url}` : url,
    State: state,
    [`Attempt ${last?.number ?? '-'}`]: describeLastAttempt(delivery),
    Next: nextAttemptAt ?? undefined,
    Note: note && note !== last?.error ? note : undefined,
  });
}

export async function verify(call: Context<'verify'>): Promise<CommandResult> {
  const body = await bodyToVerify(call.args[0], call.options.body, call.io);
  const keys = await verifyKeys(call.options, call.connect);
  const verdict = (await dialect.ipn()).verify(body, keys);
  return {
    json: verdict,
    text: verdictText(verdict),
    ...(!verdict.valid && { failure: 'the IPN is not valid' }),
  };
}

/** A receiver that verifies and prints what comes, until it is stopped. */
export async function listen(call: Context<'listen'>): Promise<undefined> {
  const { listenForIpns } = await import('../ipn-receiver.ts');
  const readKeys = () => verifyKeys(call.options, call.connect);
  await listenForIpns(call.options, readKeys, call.output);
}
