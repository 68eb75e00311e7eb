import { setTimeout as sleep } from 'node:timers/promises';
import { AuditClient } from '../audit/client.ts';
import { requireAddress } from '../contract/address.ts';
import { type Delivery, FireInput, requireFireable } from '../contract/delivery.ts';
import { errorOf, noteOf } from '../contract/describe-delivery.ts';
import { GatewayError } from '../contract/error.ts';
import { describeIssue, parseInput } from '../contract/input.ts';
import type { Payment } from '../contract/payment.ts';
import { requireTamperings } from '../contract/tampering.ts';
import type { Verdict } from '../contract/verdict.ts';
import { Egress } from '../delivery/egress.ts';
import { failureOfStatus } from '../delivery/sender.ts';
import { dialect } from '../library/merchant-client.ts';
import { readSecret } from '../options/secret-file.ts';
import { VERSION } from '../system/package-info.ts';
import { type KnownAttempt, type KnownDelivery, verdictOnAttempt, verdictView } from '../usecases/verdict.ts';
import { sendRequest } from './send-request.ts';

/** The time-out that a gateway has by default too, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** An IPN that was fired, as the server shows a delivery; without a server it has no id and is kept nowhere. */
export type FiredIpn = Omit<Delivery, 'id' | 'attempts' | 'once' | 'merchantId'> & {
  id: string | null;
  attempts: Omit<Delivery['attempts'][number], 'id'>[];
};

type Fields = FireInput;

/** Whose key signs, and which payment is told of, if any. */
interface Known {
  secretKey: string;
  payment?: Payment;
}

/** An IPN as it goes out, composed and signed here. */
async function compose(chosen: Fields, { secretKey, payment }: Known) {
  const { to, set, unset, tamper, format = 'form', times = 1, delay } = read(chosen);
  const tamperings = requireTamperings(tamper);
  const url = requireAddress(to ?? payment?.ipnUrl);
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
  return { url, composed, times, delay, judge };
}

type Composed = Awaited<ReturnType<typeof compose>>;

/**
 * Composes, signs and posts IPNs from here: no server is asked.
 *
 * @param allowedHosts those that the user lets IPNs out to, beside private ones
 * @throws GatewayError `usage`, `invalid_fields`, or `forbidden` when the egress guard does not let it out
 */
export async function fireWithoutServer(
  chosen: Fields,
  secret: string,
  allowedHosts: readonly string[],
): Promise<FiredIpn[]> {
  const ipn = await compose(chosen, { secretKey: keyOf(chosen, secret) });
  const egress = new Egress(allowedHosts, () => undefined);
  const fired: FiredIpn[] = [];
  for (let count = 0; count < ipn.times; count++) {
    await sleep(ipn.delay);
    fired.push(await attempt(ipn, egress));
  }
  return fired;
}

/** @throws GatewayError `usage` for a payment, which only a server knows, and for an empty key */
export function keyOf({ payment }: Fields, secret: string): string {
  if (payment !== undefined) {
    throw new GatewayError(
      'usage',
      '--payment is known to the server only: leave --secret out, or the payment',
    );
  }
  if (!secret) throw new GatewayError('usage', '--secret must not be empty');
  return readSecret(secret, '--secret');
}

const MOST_TOGETHER = 100;

/**
 * Composes, signs and posts copies of an IPN from here, all in the same instant: each lacks its last byte until all of
 * them are there.
 *
 * @param written how many
 * @throws GatewayError as `fireWithoutServer`
 */
export async function fireTogether(
  chosen: Fields,
  written: string,
  known: Known,
  allowedHosts: readonly string[],
): Promise<FiredIpn[]> {
  const count = Number(written);
  if (!Number.isInteger(count) || count < 2 || count > MOST_TOGETHER) {
    throw new GatewayError(
      'usage',
      `--parallel must be a whole number from 2 to ${MOST_TOGETHER} (got "${written}")`,
    );
  }
  if (chosen.times !== undefined || chosen.delay !== undefined) {
    throw new GatewayError('usage', '--parallel sends at once: leave --times and --delay out');
  }
  const ipn = await compose(chosen, known);
  const { url, composed } = ipn;
  const client = new AuditClient(new Egress(allowedHosts, () => undefined), TIMEOUT_MS);
  const startedAt = new Date().toISOString();
  const shots = Array.from({ length: count }, () => ({
    url,
    method: 'POST',
    body: composed.body,
    contentType: composed.contentType,
  }));
  const observations = await client.sendTogether(shots);
  return observations.map(({ status, headers, body, failure, durationMs }) => {
    const answer =
      status === null
        ? null
        : { status, headers: headers.map(([name, value]): [string, string] => [name, value]) };
    const sent = {
      startedAt,
      durationMs,
      requestHeaders: headersOf(ipn),
      failure: answer ? failureOfStatus(answer.status) : failure,
    };
    return firedIpn(ipn, sent, answer && { ...answer, body });
  });
}

/** The fields as the server would read them; what is wrong with one is said of its flag. */
function read(chosen: Fields) {
  const given: Readonly<Record<PropertyKey, unknown>> = chosen;
  return parseInput(
    FireInput,
    chosen,
    (issue) => describeIssue(issue).map((problem) => `--${problem} (got "${given[issue.path[0] ?? '']}")`),
    'usage',
  );
}

function headersOf({ url, composed: { contentType, body } }: Composed): [string, string][] {
  return [
    ['Host', new URL(url).host],
    ['Content-Type', contentType],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['User-Agent', `gateway-sim/${VERSION}`],
    ['X-Gateway-Sim', '1'],
  ];
}

async function attempt(ipn: Composed, egress: Egress): Promise<FiredIpn> {
  const { url, composed } = ipn;
  const requestHeaders = headersOf(ipn);
  const startedAt = new Date().toISOString();
  const started = performance.now();
  const { answer, failure } = await sendRequest(
    { url, method: 'POST', headers: requestHeaders, body: composed.body, timeoutMs: TIMEOUT_MS },
    egress,
  );
  const durationMs = Math.round((performance.now() - started) * 10) / 10;
  const sent = { startedAt, durationMs, requestHeaders, failure };
  return firedIpn(ipn, sent, answer && { ...answer, body: answer.body.toString('utf8') });
}

type Sent = Pick<FiredIpn['attempts'][number], 'startedAt' | 'durationMs' | 'requestHeaders' | 'failure'>;

/** What was sent and answered, as a delivery. */
function firedIpn(
  { url, composed, judge }: Composed,
  sent: Sent,
  answer: { status: number; headers: [string, string][]; body: string } | null,
): FiredIpn {
  const { contentType, body, signedText, identifier, status, tampered = [] } = composed;
  const { failure, startedAt } = sent;
  const attempt = {
    number: 1,
    url,
    ...sent,
    fault: null,
    requestBody: body,
    responseStatus: answer?.status ?? null,
    responseHeaders: answer?.headers ?? [],
    responseBody: answer?.body ?? null,
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
