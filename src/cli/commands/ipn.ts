import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { curlCommand } from '../../contract/curl.ts';
import type { Delivery } from '../../contract/delivery.ts';
import { describeShop } from '../../contract/describe-changes.ts';
import { ASKS_WITH_INVALID_SIGNATURES, remarksOn } from '../../contract/describe-delivery.ts';
import { command, GatewayError, hint, option, usage } from '../../contract/error.ts';
import type { Payment } from '../../contract/payment.ts';
import { DIAGNOSE_FIELDS, FIRE_FIELDS, IPN_FILTERS, RESEND_FIELDS } from '../../contract/request-fields.ts';
import { maskedIn } from '../../contract/secrets.ts';
import { requireTamperings, TAMPERINGS } from '../../contract/tampering.ts';
import { moment } from '../../contract/time.ts';
import { DELIVERY_STATES, IPN_FORMATS } from '../../contract/vocabulary.ts';
import type { VerifyKeys } from '../../diagnosis/mistakes.ts';
import { ipnBodyIn, isDeliveryId } from '../../diagnosis/pasted-ipn.ts';
import { saysRefused } from '../../diagnosis/receiver-answer.ts';
import { verify as verifyIpn } from '../../diagnosis/verify.ts';
import { merchantIn, requireMerchant } from '../../library/merchant-client.ts';
import { readSecret, SEEN_IN_PS } from '../../options/resolve.ts';
import { readText, reason } from '../../system/files.ts';
import type { FiredIpn } from '../../usecases/fire-ipn.ts';
import {
  assignments,
  type Context,
  choice,
  defineCommand,
  flag,
  type GivenValues,
  type Group,
  list,
  PAGING,
  repeated,
  text,
  textsOf,
} from '../command.ts';
import { isNoServer } from '../connect.ts';
import {
  attemptText,
  deliveryProblem,
  describeLastAttempt,
  progressFacts,
  receiverOf,
  stateOf,
  verdictFacts,
  verificationText,
  whatToDo,
} from '../format.ts';
import type { Io } from '../io.ts';
import { type CommandResult, listed, pairs, shortMoment } from '../output.ts';
import { flowing } from '../printed.ts';

const KEYS = {
  secret: text('key', `secret key to verify with (default: the key of the running emulator); ${SEEN_IN_PS}`),
  merchant: text('name', 'use the key of this merchant (default: the first merchant)'),
};

const ALLOW_IPN_HOST = list('host', 'allow this command to send IPNs to this public host; repeatable');

const listIpns = defineCommand({
  summary: 'list IPNs, newest first',
  fields: {
    ...textsOf(IPN_FILTERS),
    state: choice('state', IPN_FILTERS.state.description, DELIVERY_STATES),
    ...PAGING,
  },
  options: { audits: flag('show the IPNs of payments that audits made, too') },
  examples: ['ipn list --state failed', 'ipn list --payment order-1'],
  run: async ({ fields, options: { audits }, call }) =>
    listed(
      await call('GET /ipns', {
        query: { ...fields, ...(!audits && fields.payment === undefined && { audits: 'false' as const }) },
      }),
      {
        'Created (UTC)': ({ createdAt }) => shortMoment(createdAt),
        Identifier: ({ identifier }) => identifier,
        State: (ipn) => (ipn.status === 'success' ? stateOf(ipn) : `${stateOf(ipn)} (${ipn.status})`),
        Attempts: ({ attempts, underWay }) =>
          underWay
            ? `${underWay.number} (waiting)`
            : `${attempts.length} (${attempts.at(-1)?.responseStatus ?? '-'})`,
        IPN: ({ id }) => id,
      },
      hint`No IPNs. Settle a payment to send one: ${command('pay', '--approve')}`,
    ),
});

const show = defineCommand({
  args: ['[id]'],
  summary: 'show the newest IPN, or one by id, with the request and response of every attempt',
  options: { curl: flag('print it as a curl command') },
  examples: ['ipn show', 'ipn show ipn_ndx7mhc09sz61bt8 --curl'],
  run: async ({ args: [given], options, call, output }) => {
    const id = given ?? named(await newest(call, () => true), output);
    const delivery = await call('GET /ipns/:id', { param: { id } });
    const shown = output.shown(delivery);
    if (options.curl) {
      const curl = curlCommand(shown);
      return { json: { delivery: id, curl }, text: curl };
    }
    const { diagnosis, attempts } = shown;
    const asked = diagnosis
      ? [flowing(`Diagnosis at ${moment(diagnosis.at)} UTC: ${diagnosis.summary}`)]
      : [];
    return {
      json: delivery,
      text: [deliveryText(shown), ...asked, ...attempts.map(attemptText)].join('\n\n'),
    };
  },
});

const resend = defineCommand({
  args: ['[id]'],
  summary: 'resend the IPN of the newest payment, or one by id',
  fields: textsOf(RESEND_FIELDS),
  options: { requireDelivery: flag('exit 1 unless it is delivered with a correct response') },
  examples: ['ipn resend', 'ipn resend ipn_ndx7mhc09sz61bt8 --to http://localhost:4000/ipn'],
  run: async ({ args: [given], fields, options, call, output }) => {
    const id = given ?? named(await ofNewestPayment(call), output);
    const delivery = await call('POST /ipns/:id/resend', { param: { id }, json: fields });
    return { json: delivery, ...fired(output.shown([delivery]), options) };
  },
});

const diagnoseIpn = defineCommand({
  args: ['[ref]'],
  summary: 'find out why your handler does not accept an IPN, by asking it',
  fields: textsOf(DIAGNOSE_FIELDS),
  about: `
Sends at most 60 variants of the IPN: signed as code with a common mistake signs it, in other forms, and the genuine one
last. ${ASKS_WITH_INVALID_SIGNATURES} Without <ref>, it takes the newest genuine IPN
of a payment; <ref> is the id of an IPN, or the id or identifier of a payment. Exit code 0 with a cause, 1 without.`,
  examples: ['ipn diagnose', 'ipn diagnose order-1'],
  run: async ({ args: [ref], fields, call, output }) => {
    const isGenuine = ({ paymentId, tampered }: Delivery) => paymentId !== null && !tampered.length;
    const { id, identifier } =
      ref === undefined ? await newest(call, isGenuine) : { id: ref, identifier: ref };
    output.notice(`Asking your handler about the IPN of ${identifier}. ${ASKS_WITH_INVALID_SIGNATURES}`);
    const diagnosis = await call('POST /ipns/:id/diagnose', { param: { id }, json: fields });
    const { summary, cause, fix } = diagnosis;
    return {
      json: diagnosis,
      text: flowing([summary, fix && `Fix: ${fix}`].filter(Boolean).join('\n')),
      ...(cause === null && { failure: 'no cause was found' }),
    };
  },
});

/** The newest IPN that audits did not cause. @throws GatewayError `not_found` */
async function newest(call: Context['call'], isWanted: (one: Delivery) => boolean): Promise<Delivery> {
  const { data } = await call('GET /ipns', { query: { limit: 200, audits: 'false' } });
  const found = data.find(isWanted);
  if (found) return found;
  throw noIpn('there is no IPN of a payment');
}

/** The newest IPN of the newest payment that no audit made. @throws GatewayError `not_found` */
async function ofNewestPayment(call: Context['call']): Promise<Delivery> {
  const { data: payments } = await call('GET /payments', { query: { limit: 1, audits: 'false' } });
  const [payment] = payments;
  if (!payment) throw noIpn('there is no IPN of a payment');
  const { data: ipns } = await call('GET /ipns', { query: { limit: 1, payment: payment.id } });
  if (ipns[0]) return ipns[0];
  throw noIpn(`the newest payment "${payment.identifier}" has no IPN`);
}

const noIpn = (message: string) =>
  new GatewayError('not_found', message, {
    hint: hint`Settle a payment to send one: ${command('pay', '--approve')}`,
  });

/** The id of an IPN that nobody named, after a notice that names it. */
function named({ id, identifier }: Delivery, output: Context['output']): string {
  output.notice(`The newest IPN: ${id}, of ${identifier}`);
  return id;
}

const FIRE = {
  ...textsOf(FIRE_FIELDS),
  format: choice('format', FIRE_FIELDS.format.description, IPN_FORMATS),
  set: assignments(`${FIRE_FIELDS.set.description}; repeatable`),
  unset: repeated('field', `${FIRE_FIELDS.unset.description}; repeatable`),
  tamper: repeated('what', `${FIRE_FIELDS.tamper.description}; repeatable`, TAMPERINGS),
};

const FIRE_OPTIONS = {
  secret: text('key', `sign with this key and send without an emulator; ${SEEN_IN_PS}`),
  parallel: text('number', 'send this many copies at the same time; the emulator does not record them'),
  allowIpnHost: ALLOW_IPN_HOST,
  requireDelivery: flag('exit 1 unless every IPN is delivered with a correct response'),
  expectRefusal: flag('exit 1 if the receiver accepts an IPN (2xx), 3 if it does not respond'),
};

/** Sends through the emulator, or directly with --secret. */
const fire = defineCommand({
  summary: 'send a signed IPN once, without retries',
  fields: FIRE,
  options: FIRE_OPTIONS,
  examples: [
    'ipn fire --payment order-1',
    'ipn fire --to http://localhost:3000/ipn --amount 49.90 --tamper amount=0.01 --tamper currency',
    'ipn fire --payment order-1 --unset signature --expect-refusal',
    'ipn fire --payment order-1 --parallel 20',
    'ipn fire --to http://localhost:3000/ipn --secret sec_sim_1 --set data.charge=1',
  ],
  run: async ({ fields, options, connect, output }) => {
    const { secret, allowIpnHost } = options;
    // A wrong command line must fail even if there is no emulator.
    requireTamperings(fields.tamper);
    if (fields.to === undefined && fields.payment === undefined)
      throw usage('ipn fire requires --to <url>, or --payment <ref>, whose ipn_url is then used');
    if (options.expectRefusal && options.requireDelivery) {
      throw usage('ipn fire accepts --require-delivery or --expect-refusal, not both');
    }
    if (secret === undefined && options.parallel === undefined && allowIpnHost !== undefined) {
      throw usage('--allow-ipn-host requires --secret or --parallel: the emulator has its own option', {
        hint: hint`Start the emulator with ${option('allowIpnHost', allowIpnHost.join(','))}`,
      });
    }
    const ipns = await fireIpns(fields, options, { connect, output });
    return {
      json: ipns.length === 1 ? ipns[0] : { data: ipns, nextCursor: null },
      ...fired(output.shown(ipns), options),
      ...(options.expectRefusal && acceptance(ipns)),
    };
  },
});

async function fireIpns(
  fields: GivenValues<typeof FIRE>,
  options: GivenValues<typeof FIRE_OPTIONS>,
  { connect, output }: Pick<Context, 'connect' | 'output'>,
): Promise<FiredIpn[]> {
  const { secret, parallel } = options;
  if (secret !== undefined) {
    if (fields.payment !== undefined)
      throw usage('--payment requires the emulator: omit --secret or --payment');
    const secretKey = secretKeyIn(secret);
    return fireFromHere(fields, { secretKey }, options, output);
  }
  const server = await connect();
  if (parallel === undefined) {
    const answer = await server.call('POST /ipns', { json: fields });
    return 'data' in answer ? answer.data : [answer];
  }
  const { payment: ref } = fields;
  const payment = ref === undefined ? undefined : await server.call('GET /payments/:ref', { param: { ref } });
  const { secretKey } = await requireMerchant(server, payment?.merchantId);
  return fireFromHere(fields, { secretKey, payment }, options, output);
}

/** @param key the signing key, and the payment if there is one */
async function fireFromHere(
  fields: GivenValues<typeof FIRE>,
  key: { secretKey: string; payment?: Payment | undefined },
  { parallel, allowIpnHost }: Pick<GivenValues<typeof FIRE_OPTIONS>, 'parallel' | 'allowIpnHost'>,
  { secrets }: Pick<Context['output'], 'secrets'>,
): Promise<FiredIpn[]> {
  const copies = parallel === undefined ? undefined : copiesIn(parallel, fields);
  const { fireWithoutEmulator } = await import('../../usecases/fire-ipn.ts');
  const describe = (problem: string, value: unknown) => `--${problem} (got "${value}")`;
  const ipns = await fireWithoutEmulator(fields, key, { copies, allowIpnHost, describe });
  // As in the records of an emulator.
  secrets.add([key.secretKey]);
  return maskedIn(ipns, secrets.maskKeys);
}

const MAX_COPIES = 100;

function copiesIn(parallel: string, { times, delay }: GivenValues<typeof FIRE>): number {
  const count = Number(parallel);
  if (!Number.isInteger(count) || count < 2 || count > MAX_COPIES) {
    throw usage(`--parallel must be a whole number from 2 to ${MAX_COPIES} (got "${parallel}")`);
  }
  if (times === undefined && delay === undefined) return count;
  throw usage('--parallel sends all copies at the same time: omit --times and --delay');
}

/** @throws GatewayError `usage` for an empty key */
function secretKeyIn(secret: string): string {
  if (secret === '') throw usage('--secret must not be empty');
  return readSecret(secret, '--secret');
}

/** The failure of `--expect-refusal`: none if the receiver rejected every IPN, in its status or body. */
function acceptance(ipns: readonly FiredIpn[]): Pick<CommandResult, 'failure' | 'failureCode'> {
  const answers = ipns.map(({ attempts }) => attempts.at(-1));
  const accepted = answers.filter(
    (answer) => answer?.failure === null && !saysRefused(answer.responseBody ?? ''),
  ).length;
  if (accepted) return { failure: `${accepted} of ${ipns.length} IPNs were accepted; expected 0` };
  const failure = silence(ipns);
  return failure === undefined ? {} : { failure, failureCode: 'no_server' };
}

/** How many IPNs nobody answered; undefined if none. */
function silence(ipns: readonly FiredIpn[]): string | undefined {
  const silent = ipns.filter(({ attempts }) => (attempts.at(-1)?.responseStatus ?? null) === null).length;
  return silent ? `${silent} of ${ipns.length} IPNs got no response` : undefined;
}

/** Whether an IPN waits for its response, or for a fault rule that postponed it. */
const isOpen = ({ underWay, postponedBy }: FiredIpn) => underWay !== null || postponedBy !== null;

function fired(ipns: readonly FiredIpn[], { requireDelivery }: { requireDelivery: true | undefined }) {
  const failure = (requireDelivery && deliveryProblem(ipns)) || silence(ipns.filter((ipn) => !isOpen(ipn)));
  return {
    text: ipns.map(deliveryText).join('\n\n'),
    notices: ipns.length === 1 ? ipns.flatMap(whatToDo) : [],
    ...(failure && { failure }),
  };
}

function deliveryText(delivery: FiredIpn): string {
  const { id, identifier, status, url, forwardedTo, attempts, underWay } = delivery;
  const number = underWay?.number ?? attempts.at(-1)?.number ?? 1;
  return pairs({
    IPN: id ?? 'sent without an emulator',
    Identifier: identifier,
    Status: status,
    To: forwardedTo === null ? url : `${receiverOf({ url, forwardedTo })} (ipn_url ${url})`,
    State: stateOf(delivery),
    [`Attempt ${number}`]: describeLastAttempt(delivery),
    ...progressFacts(delivery),
    'In your shop': describeShop(delivery.changes, delivery.changesUnknown) ?? undefined,
    Note: remarksOn(delivery).join('; ') || undefined,
    ...verdictFacts(delivery.verdict),
  });
}

const verify = defineCommand({
  args: ['[body]'],
  summary: 'verify an IPN and explain why it is invalid',
  options: {
    body: text(
      'body',
      'the body, or the output of print_r or var_dump: as text, @file or - for stdin; or the id of an IPN (default: stdin)',
    ),
    ...KEYS,
    publicKey: text('key', 'your public key, to detect whether it was used to sign by mistake'),
    signature: text('text', 'check this signature, computed by your handler, instead of the one in the body'),
  },
  examples: [
    'ipn verify ipn_ndx7mhc09sz61bt8',
    'ipn verify @body.txt',
    'ipn verify --secret sec_sim_1 --body @body.txt',
    'ipn verify ipn_ndx7mhc09sz61bt8 --signature 5F0C…',
  ],
  run: async ({ args: [argument], options, io, connect }) => {
    const { body, merchant } = await bodyToVerify(argument, options.body, io, connect);
    const keys = await verifyKeys({ ...options, merchant: options.merchant ?? merchant }, connect);
    let verdict = verifyIpn(body, keys, options.signature);
    // Last, because a given secret key needs no emulator.
    if (!verdict.authentic && options.secret) {
      const { data } = await merchantsOf(connect).catch(() => ({ data: [] }));
      const replaced = data.flatMap(({ formerKeys }) => formerKeys ?? []);
      verdict = verifyIpn(body, { ...keys, replaced }, options.signature);
    }
    return {
      json: verdict,
      text: verificationText(verdict),
      ...(!verdict.valid && {
        failure: `the ${options.signature === undefined ? 'IPN' : 'signature'} is not valid`,
      }),
    };
  },
});

/** The body of `ipn verify`: its argument, --body or stdin. For an id, the body of the last attempt. */
async function bodyToVerify(
  argument: string | undefined,
  option: string | undefined,
  io: Io,
  connect: Context['connect'],
): Promise<{ body: string; merchant?: string }> {
  if (argument !== undefined && option !== undefined) {
    throw usage('verify accepts the body as its argument or with --body, not both');
  }
  const given = argument ?? option;
  if (given === undefined && io.stdin.isTTY) {
    throw usage('verify requires the body of an IPN as an argument, as @file or on stdin', {
      hint: hint`For example: ${command('ipn verify', "'status=success&…'", '--secret', 'sec_sim_…')}`,
    });
  }
  if (given !== undefined && isDeliveryId(given)) {
    const sent = await (await connect()).call('GET /ipns/:id', { param: { id: given } });
    return { body: sent.attempts.at(-1)?.requestBody ?? sent.body, merchant: sent.merchantId };
  }
  let pasted = given ?? '';
  if (given === undefined || given === '-') pasted = await readAll(io.stdin);
  else if (given.startsWith('@')) {
    const path = given.slice(1);
    pasted = await readText(resolve(io.cwd, path), { follows: true }).catch((cause: unknown) => {
      throw usage(`${path} cannot be read: ${reason(cause)}`, { cause });
    });
  }
  const body = ipnBodyIn(pasted);
  if (body.trim()) return { body };
  throw usage('the body to verify is empty');
}

async function verifyKeys(
  {
    secret,
    publicKey,
    merchant: name,
  }: Partial<Record<'secret' | 'publicKey' | 'merchant', string | undefined>>,
  connect: Context['connect'],
): Promise<VerifyKeys> {
  if (secret !== undefined) return { secretKey: secretKeyIn(secret), publicKey };
  const { data } = await merchantsOf(connect).catch((error: unknown) => {
    if (!isNoServer(error)) throw error;
    throw error.with({
      hint: hint`Pass the secret key with --secret, or start an emulator with: ${command('start')}`,
    });
  });
  const merchant = merchantIn(data, name);
  if (!merchant) throw new GatewayError('not_found', `no merchant is called "${name}"`);
  return { ...merchant, ...(publicKey !== undefined && { publicKey }), merchants: data };
}

async function merchantsOf(connect: Context['connect']) {
  return (await connect()).call('GET /merchants');
}

/** Runs until it is stopped. */
const listen = defineCommand({
  summary: 'receive, verify and print IPNs',
  options: {
    port: text('number', 'port to listen on; 0 picks a free port (default: 3000)'),
    forwardTo: text('url', 'forward every request unchanged and return the response'),
    allowIpnHost: ALLOW_IPN_HOST,
    ...KEYS,
  },
  examples: ['ipn listen', 'ipn listen --port 4000 --forward-to http://localhost:3000/ipn'],
  run: async ({ options, io, output, connect }) => {
    const { listenForIpns } = await import('../ipn-receiver.ts');
    await listenForIpns(options, () => verifyKeys(options, connect), { io, output });
    return undefined;
  },
});

export const ipn: Group = {
  summary: 'list, resend, diagnose, send, verify and receive IPNs',
  examples: ['ipn', 'ipn fire --payment order-1'],
  commands: { list: listIpns, show, resend, diagnose: diagnoseIpn, fire, verify, listen },
};
