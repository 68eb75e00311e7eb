import { setTimeout as pause } from 'node:timers/promises';
import { requireReceiver } from '../contract/address.ts';
import { type Delivery, FireInput } from '../contract/delivery.ts';
import { errorOf, noteOf } from '../contract/describe-delivery.ts';
import { requireFireable } from '../contract/fired-ipn.ts';
import { describeIssue, parseInput } from '../contract/input.ts';
import type { Payment } from '../contract/payment.ts';
import { requireTamperings } from '../contract/tampering.ts';
import { timestamp } from '../contract/time.ts';
import { Egress, EgressError } from '../delivery/egress.ts';
import { ExchangeClient, type ExchangeRequest, headersOf, type Observation } from '../delivery/exchange.ts';
import { attemptHeader, deliveryHeader, ipnHeaders } from '../delivery/ipn-headers.ts';
import { Poster, reportOf } from '../delivery/poster.ts';
import { failureOfStatus } from '../delivery/sender.ts';
import { verdictFields, verdictOnAttempt } from '../diagnosis/verdict.ts';
import type { AttemptReport } from '../domain/delivery.ts';
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
  const ids = createIds(systemRandom);
  const madeHeaders = () => [deliveryHeader(ids.delivery()), attemptHeader(1)];
  const egress = new Egress(allowIpnHost, () => undefined);
  /** An attempt as a delivery. */
  const firedIpn = (startedAt: string, report: AttemptReport): FiredIpn => {
    if (report.failure?.code === 'egress') throw new EgressError(report.failure);
    const attempt = { ...report, number: 1, startedAt };
    const state = report.failure === null ? ('delivered' as const) : ('failed' as const);
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
  if (copies !== undefined) {
    const startedAt = timestamp(Date.now());
    const request = { url, body, contentType, headers: madeHeaders() };
    const seen = await new ExchangeClient(egress, TIMEOUT_MS).sendTogether(Array(copies).fill(request));
    return seen.map((one) => firedIpn(startedAt, reportOn(request, one)));
  }
  const poster = new Poster(egress, {});
  try {
    const fired: FiredIpn[] = [];
    for (let count = 0; count < times; count++) {
      if (delay) await pause(delay);
      const headers = [...ipnHeaders({ url, named: url }, { contentType, body }), ...madeHeaders()];
      const request = { url, headers, body, timeoutMs: TIMEOUT_MS, signal: new AbortController().signal };
      fired.push(firedIpn(timestamp(Date.now()), await poster.post(request)));
    }
    return fired;
  } finally {
    poster.close();
  }
}

/** Copies are not attempts of a delivery, but have the same facts. */
function reportOn(
  request: ExchangeRequest & { body: string },
  { status, headers, body, failure, durationMs }: Observation,
): AttemptReport {
  const response = status === null ? null : { status, headers, body: Buffer.from(body) };
  const problem = failure ?? failureOfStatus(status ?? 0);
  return reportOf({ ...request, headers: headersOf(request) }, response, problem, durationMs);
}
