import {
  bodyEntries,
  bodyKind,
  effectsOf,
  retryAfterSeconds,
  statusOfFault,
} from '../contract/active-fault.ts';
import type { FaultRule } from '../contract/fault.ts';
import type { FaultEffect } from '../contract/fault-effects.ts';
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

/** What an effect does to an IPN. */
interface IpnEffect {
  /** How long to postpone it, in milliseconds of the emulator's time. */
  postponeMs?: (rule: FaultRule) => number | undefined;
  /** How long to wait before the attempt, in milliseconds of real time. */
  pauseMs?: (rule: FaultRule, faults: Faults) => number;
  /** The status to record instead of sending it; null for no response. */
  answer?: (rule: FaultRule) => number | null | undefined;
  /** The body to send. */
  body?: (body: string, kind: ReturnType<typeof bodyKind>, ipn: IpnComposer) => string;
  /** Whether it is sent a second time. */
  repeats?: true;
}

/** The effects in the order in which they act. */
const IPN_EFFECTS: Readonly<Record<FaultEffect, IpnEffect>> = {
  delay: { postponeMs: ({ delay }) => parseDuration(delay) },
  reorder: { postponeMs: () => REORDER_LIMIT_MS },
  latency: { pauseMs: (rule, faults) => faults.latencyOf(rule) },
  drop: { answer: () => null },
  status: { answer: statusOfFault },
  retryAfter: { answer: statusOfFault },
  corruptSignature: { body: (body, _, ipn) => ipn.corruptSignature(body) },
  ...bodyEntries((body) => ({ body })),
  duplicate: { repeats: true },
};

/** How long a rule postpones an IPN, in milliseconds of the emulator's time; undefined if it does not. */
export function postponement(rule: FaultRule): number | undefined {
  return effectsOf(rule, IPN_EFFECTS).flatMap((effect) => effect.postponeMs?.(rule) ?? [])[0];
}

/** Makes one attempt under a rule. */
export async function postUnder(
  rule: FaultRule,
  faults: Faults,
  poster: Poster,
  request: PostRequest,
): Promise<AttemptReport> {
  const effects = effectsOf(rule, IPN_EFFECTS);
  // A stop ends the pause. The caller checks the signal.
  for (const { pauseMs } of effects) if (pauseMs) await realPause(pauseMs(rule, faults), request.signal);
  const answer = effects.find((effect) => effect.answer)?.answer?.(rule);
  const report = answer === undefined ? await poster.post(request) : notSent(request, answer, rule);
  return { ...report, fault: rule };
}

/** The body to send instead of the delivery's own. */
export function faultyBody({ body, contentType }: Delivery, rule: FaultRule, ipn: IpnComposer): string {
  const kind = bodyKind(contentType);
  return effectsOf(rule, IPN_EFFECTS).reduce(
    (before, effect) => effect.body?.(before, kind, ipn) ?? before,
    body,
  );
}

/** Whether an IPN is sent a second time. */
export function isSentTwice(rule: FaultRule): boolean {
  return effectsOf(rule, IPN_EFFECTS).some(({ repeats }) => repeats);
}

/** The report of an attempt that was never sent, as if it had been. */
function notSent(request: PostRequest, status: number | null, rule: FaultRule): AttemptReport {
  if (status === null) return reportOf(request, null, { code: 'fault' });
  const seconds = retryAfterSeconds(rule);
  const headers: [string, string][] = seconds === undefined ? [] : [['Retry-After', seconds]];
  return reportOf(request, { status, headers }, failureOfStatus(status) && { code: 'fault' });
}
