import { setTimeout as sleep } from 'node:timers/promises';
import { AuditClient, headersOf, type Observation } from '../audit/client.ts';
import { requireReceiver } from '../contract/address.ts';
import { type Delivery, FireInput, requireFireable } from '../contract/delivery.ts';
import { errorOf, noteOf } from '../contract/describe-delivery.ts';
import { usage } from '../contract/error.ts';
import { describeIssue, parseInput } from '../contract/input.ts';
import type { Payment } from '../contract/payment.ts';
import { requireTamperings } from '../contract/tampering.ts';
import { Egress } from '../delivery/egress.ts';
import { failureOfStatus } from '../delivery/sender.ts';
import { dialect } from '../library/merchant-client.ts';
import { verdictFields, verdictOnAttempt } from '../usecases/verdict.ts';

/** In milliseconds, the same as the gateway's default. */
const TIMEOUT_MS = 10_000;
const MOST_TOGETHER = 100;

/** An IPN as the server reports a delivery. Without a server it has no id and is not stored. */
export type FiredIpn = Omit<Delivery, 'id' | 'attempts' | 'once' | 'merchantId'> & {
  id: string | null;
  attempts: Omit<Delivery['attempts'][number], 'id'>[];
};

/**
 * Composes, signs and posts IPNs from here, one after another. With `parallel`, sends copies at the same time: the last
 * byte of each is held until the rest of every copy is sent.
 *
 * @param known the signing key, and the payment if there is one
 * @throws GatewayError `usage`, `invalid_fields`, or `forbidden` if the egress guard rejects the address
 */
export async function fireFromHere(
  chosen: FireInput,
  { secretKey, payment }: { secretKey: string; payment?: Payment | undefined },
  {
    parallel,
    allowIpnHost = [],
  }: { parallel: string | undefined; allowIpnHost: readonly string[] | undefined },
): Promise<FiredIpn[]> {
  const copies = parallel === undefined ? undefined : copiesIn(parallel, chosen);
  const given: Readonly<Record<PropertyKey, unknown>> = chosen;
  // Parsed as the server does, with errors that name the flag.
  const {
    to,
    set,
    unset,
    tamper,
    format = 'form',
    times = 1,
    delay,
  } = parseInput(
    FireInput,
    chosen,
    (issue) => describeIssue(issue).map((problem) => `--${problem} (got "${given[issue.path[0] ?? '']}")`),
    'usage',
  );
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
  const { body, contentType, tampered, signedText, identifier, status } = composed;
  requireFireable(body, times);
  const request = { url, body, contentType };
  /** The request and response as a delivery. */
  const firedIpn = (startedAt: string, seen: Observation): FiredIpn => {
    const { status: responseStatus } = seen;
    const failure = seen.failure ?? (responseStatus === null ? null : failureOfStatus(responseStatus));
    const attempt = {
      number: 1,
      url,
      startedAt,
      durationMs: seen.durationMs,
      fault: null,
      failure,
      requestHeaders: headersOf(request),
      requestBody: body,
      responseStatus,
      responseHeaders: seen.headers.map(([name, value]): [string, string] => [name, value]),
      responseBody: responseStatus === null ? null : seen.body,
    };
    const state = failure === null ? ('delivered' as const) : ('failed' as const);
    const facts = { state, tampered, signedAnew: false, postponedBy: null };
    const signed = { ...facts, body, signedWith: tampered.length ? '' : 'this key' };
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
      changes: null,
      note: noteOf(facts, attempt),
      attempts: [{ ...attempt, error: errorOf(attempt) }],
      ...verdictFields(verdictOnAttempt(signed, attempt, { secretKey }, dialect)),
    };
  };
  const client = new AuditClient(new Egress(allowIpnHost, () => undefined), TIMEOUT_MS);
  if (copies !== undefined) {
    const startedAt = new Date().toISOString();
    const seen = await client.sendTogether(Array.from({ length: copies }, () => request));
    return seen.map((one) => firedIpn(startedAt, one));
  }
  const fired: FiredIpn[] = [];
  for (let count = 0; count < times; count++) {
    await sleep(delay);
    fired.push(firedIpn(new Date().toISOString(), await client.send(request)));
  }
  return fired;
}

function copiesIn(parallel: string, { times, delay }: FireInput): number {
  const count = Number(parallel);
  if (!Number.isInteger(count) || count < 2 || count > MOST_TOGETHER) {
    throw usage(`--parallel must be a whole number from 2 to ${MOST_TOGETHER} (got "${parallel}")`);
  }
  if (times === undefined && delay === undefined) return count;
  throw usage('--parallel sends all copies at the same time: omit --times and --delay');
}
