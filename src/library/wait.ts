import { parseDuration } from '../contract/duration.ts';
import { GatewayError, usage } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import type { Duration, WaitOptions } from './api.ts';
import { requireFields, requireObject } from './arguments.ts';

/** Less than the five-second limit of most test runners, whose errors give no reason (chosen). */
const DEFAULT_LIMIT_MS = 4_000;
const POLL_MS = 20;

/** Maximum number of records in the report of what happened instead. */
export const MAX_REPORTED = 5;

interface Wanted {
  what: string;
  /** What happened instead, one line each, for the error. */
  instead: () => Promise<string[]>;
}

interface WantedOfList<Filter, Item> extends Wanted {
  /** The text for an empty filter. */
  any: string;
  list: (filter: Filter & { limit: number }) => Promise<{ data: Item[] }>;
}

/**
 * Waits for the newest record that matches a filter.
 *
 * @throws GatewayError like `waitFor`; `usage` for an invalid filter
 */
export async function waitForNewest<Filter extends object, Item>(
  { what, any, list, instead }: WantedOfList<Filter, Item>,
  filter: Filter,
  options: WaitOptions | undefined,
): Promise<Item> {
  // Such as `status "succeeded", identifier "order-1"`.
  const asked = Object.entries(requireFilter(filter))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} "${value}"`)
    .join(', ');
  const find = async () => (await list({ ...filter, limit: 1 })).data[0];
  return waitFor({ what: `${what} with ${asked || any}`, find, instead }, options);
}

/**
 * Polls until `find` returns a value, in real time.
 *
 * @throws GatewayError `timed_out`, with what happened instead; `usage` for an invalid timeout; the reason of the signal
 *   if it is aborted
 */
export async function waitFor<Found>(
  { what, find, instead }: Wanted & { find: () => Promise<Found | undefined> },
  options: WaitOptions = {},
): Promise<Found> {
  requireFields('the second argument of waitFor', options, ['timeout', 'signal']);
  const { signal } = options;
  const limit = options.timeout === undefined ? DEFAULT_LIMIT_MS : milliseconds('timeout', options.timeout);
  const deadline = performance.now() + limit;
  for (;;) {
    signal?.throwIfAborted();
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() >= deadline) break;
    const wait = Math.min(POLL_MS, Math.max(deadline - performance.now(), 0));
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  const happened = await instead();
  const message = `there was no ${what} within ${limit / 1_000} s`;
  throw new GatewayError('timed_out', [message, ...happened].join('\n  '), {
    problems: [message, ...happened],
    hint: hint`Check what happened instead, or wait longer: waitFor(filter, { timeout: '10s' }).`,
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
  throw usage(
    `${name} must be milliseconds or text such as 500ms, 2s, 1m or 1h (got ${JSON.stringify(duration)})`,
  );
}

/**
 * Checks a filter and returns it.
 *
 * @throws GatewayError `usage` for anything but an object, and for a filter that contains a timeout
 */
export function requireFilter<Filter extends object>(filter: Filter): Filter {
  requireObject('the filter', filter);
  if (!('timeout' in filter)) return filter;
  throw usage('timeout is not a filter: pass it in the second argument, { timeout }');
}
