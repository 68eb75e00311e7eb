import { setTimeout as pause } from 'node:timers/promises';
import { AuditClient, headersOf, type Observation } from '../audit/client.ts';
import { requireReceiver } from '../contract/address.ts';
import { type Delivery, FireInput } from '../contract/delivery.ts';
import { errorOf, noteOf } from '../contract/describe-delivery.ts';
import { requireFireable } from '../contract/fired-ipn.ts';
import { describeIssue, parseInput } from '../contract/input.ts';
import type { Payment } from '../contract/payment.ts';
import { requireTamperings } from '../contract/tampering.ts';
import { timestamp } from '../contract/time.ts';
import { Egress } from '../delivery/egress.ts';
import { failureOfStatus } from '../delivery/sender.ts';
import { verdictFields, verdictOnAttempt } from '../diagnosis/verdict.ts';
import { createIds } from '../domain/ids.ts';
import { invent } from '../service/ipn.ts';
import { systemRandom } from '../system/random.ts';

/** In milliseconds, the same as the gateway's default. */
const TIMEOUT_MS = 10_000;

/** An IPN as the server reports a delivery. Without a server it has no id and is not stored. */
export type FiredIpn = Omit<Delivery, 'id' | 'attempts' | 'once' | 'merchantId'> & {
  id: string | null;
  attempts: Omit<Delivery['attempts'][number], 'id'>[];
};

interface FireHow {
  /** Sends this many copies at the same time: the last byte of each is held until the rest of every copy is sent. */
  copies: number | undefined;
  /** Public hosts to which IPNs may be sent. */
  allowIpnHost: readonly string[] | undefined;
  /** The problem with a value, as the user wrote it. */
  describe: (problem: string, value: unknown) => string;
}

/**
 * Composes, signs and posts IPNs without an emulator, one after another or as copies at the same time.
 *
 * @param key the signing key, and the payment if there is one
 * @throws GatewayError `usage`, `invalid_fields`, or `forbidden` if the egress guard rejects the address
 */
export async function fireWithoutEmulator(
  chosen: FireInput,
  { secretKey, payment }: { secretKey: string; payment?: Payment | undefined },
  { copies, allowIpnHost = [], describe }: FireHow,
): Promise<FiredIpn[]> {
  const given: Readonly<Record<PropertyKey, unknown>> = chosen;
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
    (issue) => describeIssue(issue).map((problem) => describe(problem, given[issue.path[0] ?? ''])),
    'usage',
  );
  const tamperings = requireTamperings(tamper);
  const url = requireReceiver(to, payment);
  const trx = payment?.trx ?? createIds(systemRandom).trx();
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
      changesUnknown: null,
      note: noteOf(facts, attempt),
      attempts: [{ ...attempt, error: errorOf(attempt) }],
      ...verdictFields(verdictOnAttempt(signed, attempt, { secretKey })),
    };
  };
  const client = new AuditClient(new Egress(allowIpnHost, () => undefined), TIMEOUT_MS);
  if (copies !== undefined) {
    const startedAt = timestamp(Date.now());
    const seen = await client.sendTogether(Array.from({ length: copies }, () => request));
    return seen.map((one) => firedIpn(startedAt, one));
  }
  const fired: FiredIpn[] = [];
  for (let count = 0; count < times; count++) {
    if (delay) await pause(delay);
    fired.push(firedIpn(timestamp(Date.now()), await client.send(request)));
  }
  return fired;
}
