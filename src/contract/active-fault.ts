import type { FaultRule } from './fault.ts';
import { FAULT_EFFECT_NAMES, FAULT_EFFECTS, type FaultEffect } from './fault-effects.ts';
import { parseDuration } from './time.ts';

/** A rule and how often it has acted. */
export interface ActiveFault {
  rule: FaultRule;
  used: number;
}

/** Whether a rule has reached its `times`. */
export function isSpent({ rule, used }: ActiveFault): boolean {
  return rule.times !== undefined && used >= rule.times;
}

/** The status that a rule sets; undefined when it sets none. */
export function statusOfFault({ status, retryAfter }: FaultRule): number | undefined {
  return status ?? (retryAfter === undefined ? undefined : 429);
}

/** The value of the Retry-After header, in whole seconds; undefined when the rule sends none. */
export function retryAfterSeconds({ retryAfter }: FaultRule): string | undefined {
  return retryAfter === undefined ? undefined : String(Math.ceil((parseDuration(retryAfter) ?? 0) / 1_000));
}

/** A body without its first separator, so that JSON and forms cannot be read. Anything else stays as it is. */
export function malformedBody(body: string, contentType: string): string {
  if (contentType.includes('json')) return body.replace(':', '');
  return contentType.includes('urlencoded') ? body.replace('=', '') : body;
}

/** What a rule does, such as `latency 100ms..2s, status 503`. */
export function describeEffects(rule: FaultRule): string {
  // A Retry-After alone implies a status.
  const effects: FaultRule = { ...rule, status: statusOfFault(rule) };
  return [...new Set<FaultEffect>(['latency', ...FAULT_EFFECT_NAMES])]
    .filter((name) => effects[name] !== undefined)
    .map((name) => [FAULT_EFFECTS[name].words, effects[name]].filter((part) => part !== true).join(' '))
    .join(', ');
}

/** A rule as one readable line, such as `initiate: status 503, 2 times (1 left)`. */
export function describeFault(fault: ActiveFault): string {
  const { rule } = fault;
  const parts = [
    `${rule.route}: ${describeEffects(rule)}`,
    rule.identifier !== undefined && `identifier ${rule.identifier}`,
    rule.probability !== undefined && `probability ${rule.probability}`,
    describeTimes(fault),
  ];
  return parts.filter(Boolean).join(', ');
}

function describeTimes(fault: ActiveFault): string | undefined {
  const { times } = fault.rule;
  if (times === undefined) return undefined;
  const left = isSpent(fault) ? 'used up' : `${times - fault.used} left`;
  return `${times === 1 ? 'once' : `${times} times`} (${left})`;
}
