import { setTimeout as sleep } from 'node:timers/promises';
import { AuditClient, headersOf, type Observation } from '../audit/client.ts';
import { requireReceiver } from '../contract/address.ts';
import { type Delivery, FireInput, requireFireable } from '../contract/delivery.ts';
import { errorOf, noteOf } from '../contract/describe-delivery.ts';
import { usage } from '../contract/error.ts';
import { describeIssue, parseInput } from '../contract/input.ts';
import type { Payment } from '../contract/payment.ts';
import { requireTamperings } from '../contract/tampering.ts';
import type { Verdict } from '../contract/verdict.ts';
import { Egress } from '../delivery/egress.ts';
import { failureOfStatus } from '../delivery/sender.ts';
import { dialect } from '../library/merchant-client.ts';
import { readSecret } from '../options/resolve.ts';
import { type KnownAttempt, type KnownDelivery, verdictOnAttempt, verdictView } from '../usecases/verdict.ts';

/** In milliseconds, the same as the gateway's default. */
const TIMEOUT_MS = 10_000;

/** An IPN as the server reports a delivery. Without a server it has no id and is not stored. */
export type FiredIpn = Omit<Delivery, 'id' | 'attempts' | 'once' | 'merchantId'> & {
  id: string | null;
  attempts: Omit<Delivery['attempts'][number], 'id'>[];
};

type Fields = FireInput;

/** The signing key, and the payment if there is one. */
interface Known {
  secretKey: string;
  payment?: Payment | undefined;
}

/** Composes and signs an IPN. */
async function compose(chosen: Fields, { secretKey, payment }: Known) {
  const { to, set, unset, tamper, format = 'form', times = 1, delay } = read(chosen);
  const tamperings = requireTamperings(tamper);
  const url = requireReceiver(to, payment);
  const trx = payment?.trx ?? Math.random().toString(36).slice(2, 14).toUpperCase().padEnd(12, '0');
  const { invent } = await dialect.ipn();
  const about = payment && {
    identifier: payment.identifier,
    amount: payment.amount,
    currency: payment.currency,
    set: { 'data.charge': payment.charge, 'data.account_holder': payment.customerName, ...set },
  };
  const composed = invent(
    { ...about, ...chosen },
    { trx, now: Date.now(), secretKey },
    { format, set: about?.set ?? set, unset, tamper: tamperings },
  );
  requireFireable(composed.body, times);
  const judge = (delivery: KnownDelivery, attempt: KnownAttempt): Verdict =>
    verdictView(verdictOnAttempt(delivery, attempt, { secretKey }, dialect));
  const { body, contentType } = composed;
  return { composed, request: { url, body, contentType }, times, delay, judge };
}

type Composed = Awaited<ReturnType<typeof compose>>;

/** @throws GatewayError `usage` for an empty key, or with a payment, which requires a server */
export function keyOf({ payment }: Fields, secret: string): string {
  if (payment !== undefined) {
    throw usage('--payment requires the emulator: omit --secret or --payment');
  }
  if (!secret) throw usage('--secret must not be empty');
  return readSecret(secret, '--secret');
}

const MOST_TOGETHER = 100;

/**
 * Composes, signs and posts IPNs from here, one after another. With `parallel`, sends copies at the same time: the last
 * byte of each is held until the rest of every copy is sent.
 *
 * @throws GatewayError `usage`, `invalid_fields`, or `forbidden` if the egress guard rejects the address
 */
export async function fireFromHere(
  chosen: Fields,
  known: Known,
  {
    parallel,
    allowIpnHost = [],
  }: { parallel: string | undefined; allowIpnHost: readonly string[] | undefined },
): Promise<FiredIpn[]> {
  const copies = parallel === undefined ? undefined : copiesIn(parallel, chosen);
  const ipn = await compose(chosen, known);
  const client = new AuditClient(new Egress(allowIpnHost, () => undefined), TIMEOUT_MS);
  if (copies !== undefined) {
    const startedAt = new Date().toISOString();
    const seen = await client.sendTogether(Array.from({ length: copies }, () => ipn.request));
    return seen.map((one) => firedIpn(ipn, startedAt, one));
  }
  const fired: FiredIpn[] = [];
  for (let count = 0; count < ipn.times; count++) {
    await sleep(ipn.delay);
    fired.push(firedIpn(ipn, new Date().toISOString(), await client.send(ipn.request)));
  }
  return fired;
}

function copiesIn(parallel: string, { times, delay }: Fields): number {
  const count = Number(parallel);
  if (!Number.isInteger(count) || count < 2 || count > MOST_TOGETHER) {
    throw usage(`--parallel must be a whole number from 2 to ${MOST_TOGETHER} (got "${parallel}")`);
  }
  if (times === undefined && delay === undefined) return count;
  throw usage('--parallel sends all copies at the same time: omit --times and --delay');
}

/** Parses the fields as the server does, with errors that name the flag. */
function read(chosen: Fields) {
  const given: Readonly<Record<PropertyKey, unknown>> = chosen;
  return parseInput(
    FireInput,
    chosen,
    (issue) => describeIssue(issue).map((problem) => `--${problem} (got "${given[issue.path[0] ?? '']}")`),
    'usage',
  );
}

/** The request and response as a delivery. */
function firedIpn(
  { composed, request, judge }: Composed,
  startedAt: string,
  { status: responseStatus, headers, body: responseBody, failure: broken, durationMs }: Observation,
): FiredIpn {
  const { contentType, body, signedText, identifier, status, tampered = [] } = composed;
  const { url } = request;
  const failure = broken ?? (responseStatus === null ? null : failureOfStatus(responseStatus));
  const attempt = {
    number: 1,
    url,
    startedAt,
    durationMs,
    fault: null,
    failure,
    requestHeaders: headersOf(request),
    requestBody: body,
    responseStatus,
    responseHeaders: headers.map(([name, value]): [string, string] => [name, value]),
    responseBody: responseStatus === null ? null : responseBody,
  };
  const facts = {
    state: failure === null ? ('delivered' as const) : ('failed' as const),
    tampered,
    signedAnew: false,
    postponedBy: null,
  };
  return {
    id: null,
    paymentId: null,
    identifier,
    url,
    status,
    contentType,
    body,
    signedText,
    ...facts,
    createdAt: startedAt,
    nextAttemptAt: null,
    underWay: null,
    forwardedTo: null,
    note: noteOf(facts, attempt),
    attempts: [{ ...attempt, error: errorOf(attempt) }],
    verdict: judge({ ...facts, body, signedWith: tampered.length ? '' : 'this key' }, attempt),
  };
}
