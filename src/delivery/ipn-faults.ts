import { malformedBody, retryAfterSeconds, statusOfFault } from '../contract/active-fault.ts';
import type { FaultRule } from '../contract/fault.ts';
import { parseDuration } from '../contract/time.ts';
import type { AttemptReport } from '../domain/delivery.ts';
import type { Faults } from '../domain/faults.ts';
import type { IpnComposer } from '../domain/ipn.ts';
import type { Delivery } from '../domain/state.ts';
import { realPause } from '../system/clock.ts';
import { type Poster, type PostRequest, reportOf } from './poster.ts';
import { failureOfStatus } from './sender.ts';

/** How long an IPN waits for another one to overtake it, on the emulator's clock (chosen). */
const REORDER_LIMIT_MS = 10_000;

/** How long a rule postpones an IPN, in milliseconds of the emulator's time; undefined if it does not. */
export function postponement({ delay, reorder }: FaultRule): number | undefined {
  return reorder ? REORDER_LIMIT_MS : parseDuration(delay);
}

/** Makes one attempt under a rule. */
export async function postUnder(
  rule: FaultRule,
  faults: Faults,
  poster: Poster,
  request: PostRequest,
): Promise<AttemptReport> {
  // A stop ends the pause. The caller checks the signal.
  if (rule.latency !== undefined) await realPause(faults.latencyOf(rule), request.signal);
  const answer = rule.drop ? null : statusOfFault(rule);
  const report = answer === undefined ? await poster.post(request) : notSent(request, answer, rule);
  return { ...report, fault: rule };
}

/** The body to send instead of the delivery's own. */
export function faultyBody({ body, contentType }: Delivery, rule: FaultRule, ipn: IpnComposer): string {
  const signed = rule.corruptSignature ? ipn.corruptSignature(body) : body;
  const sent = rule.truncate ? signed.slice(0, Math.floor(signed.length / 2)) : signed;
  return rule.malformed ? malformedBody(sent, contentType) : sent;
}

/** The report of an attempt that was never sent, as if it had been. */
function notSent(request: PostRequest, status: number | null, rule: FaultRule): AttemptReport {
  if (status === null) return reportOf(request, null, { code: 'fault' });
  const seconds = retryAfterSeconds(rule);
  const headers: [string, string][] = seconds === undefined ? [] : [['Retry-After', seconds]];
  return reportOf(request, { status, headers }, failureOfStatus(status) && { code: 'fault' });
}
