import { parseDuration } from '../contract/duration.ts';
import { GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import type { Duration, WaitOptions } from './api.ts';
import { requireFields, requireObject } from './arguments.ts';

/** Before the five seconds after which most test runners give up without saying why (chosen). */
const DEFAULT_LIMIT_MS = 4_000;
const POLL_MS = 20;

/** What is waited for, in words and in deed. */
export interface Wanted<Found> {
  /** Such as `a payment with identifier "order-1"`. */
  what: string;
  look: () => Promise<Found | undefined>;
  /** One line each about what did happen, for the error. */
  instead: () => Promise<string[]>;
}

/**
 * Looks until it is there, in real time.
 *
 * @throws GatewayError `timed_out`, saying what happened instead; `usage` for a time-out that is none
 */
export async function waitFor<Found>(wanted: Wanted<Found>, options: WaitOptions = {}): Promise<Found> {
  requireFields('the second argument of waitFor', options, ['timeout']);
  const limit = options.timeout === undefined ? DEFAULT_LIMIT_MS : milliseconds('timeout', options.timeout);
  const deadline = performance.now() + limit;
  for (;;) {
    const found = await wanted.look();
    if (found !== undefined) return found;
    if (performance.now() >= deadline) break;
    const wait = Math.min(POLL_MS, Math.max(deadline - performance.now(), 0));
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  const happened = await wanted.instead();
  const message = `there was no ${wanted.what} within ${limit / 1_000} s`;
  throw new GatewayError('timed_out', [message, ...happened].join('\n  '), {
    problems: [message, ...happened],
    hint: hint`Look at what happened instead, or wait longer: waitFor(filter, { timeout: '10s' }).`,
  });
}

/**
 * A duration in milliseconds.
 *
 * @throws GatewayError `usage`
 */
export function milliseconds(name: string, duration: Duration): number {
  const value = typeof duration === 'number' ? duration : parseDuration(duration);
  if (value !== undefined && Number.isFinite(value) && value >= 0) return value;
  throw new GatewayError(
    'usage',
    `${name} must be milliseconds or text such as 500ms, 2s, 1m or 1h (got ${JSON.stringify(duration)})`,
  );
}

/**
 * A filter as it was given.
 *
 * @throws GatewayError `usage` for what is no object, and for the time-out of a `waitFor` in it
 */
export function requireFilter<Filter extends object>(filter: Filter): Filter {
  requireObject('the filter', filter);
  if (!('timeout' in filter)) return filter;
  throw new GatewayError('usage', 'timeout is no filter: give it in the second argument, { timeout }');
}

/** `status "succeeded", identifier "order-1"`: a filter in words. @throws GatewayError `usage` for what is no object */
export function describeFilter(filter: object): string {
  requireObject('the filter', filter);
  return Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} "${value}"`)
    .join(', ');
}
