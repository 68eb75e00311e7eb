import { outcomeOf } from '../contract/describe-delivery.ts';
import { GatewayError, hint } from '../contract/error.ts';
import { isRejectedInitiate } from '../service/merchant.ts';
import { pause, performance } from '../system/real-time.ts';
import type {
  Delivery,
  DeliveryFilter,
  GatewaySimClient,
  PaymentFilter,
  RecordedRequest,
  WaitOptions,
} from './api.ts';
import type { ControlServer } from './control-client.ts';
import { milliseconds, requireFields, requireFilter } from './require.ts';

/** Maximum number of records in the report of what happened instead of what a test waited for. */
export const MAX_REPORTED = 5;

/** Less than the five-second limit of most test runners, whose errors give no reason (chosen). */
const DEFAULT_LIMIT_MS = 4_000;
const POLL_MS = 20;

/**
 * Polls until `find` returns a value, in real time.
 *
 * @param instead what happened instead, one line each, for the error
 * @throws GatewayError `timed_out`, with what happened instead; `usage` for an invalid timeout; the reason of the signal
 *   if it is aborted
 */
export async function waitFor<Found>(
  what: string,
  find: () => Promise<Found | undefined>,
  instead: () => Promise<string[]>,
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
    await pause(wait);
  }
  const message = `there was no ${what} within ${limit / 1_000} s`;
  const problems = [message, ...(await instead())];
  throw new GatewayError('timed_out', problems.join('\n  '), {
    problems,
    hint: hint`Check what happened instead, or wait longer: waitFor(filter, { timeout: '10s' }).`,
  });
}

/** A filter in words, such as `status "succeeded", identifier "order-1"`. */
export function criteria(filter: object): string {
  return Object.entries(requireFilter(filter))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} "${value}"`)
    .join(', ');
}

/** The payments with the wanted identifier, or else the newest payments, and the rejected initiates. */
export async function whatHappened(
  { payments, requests }: GatewaySimClient,
  { identifier }: PaymentFilter,
): Promise<string[]> {
  const newest = async (filter: PaymentFilter) =>
    (await payments.list({ ...filter, limit: MAX_REPORTED })).data;
  const wanted = identifier === undefined ? [] : await newest({ identifier });
  const reported = (wanted.length ? wanted : await newest({})).map(
    (one) => `payment "${one.identifier}" is ${one.status} (${one.mode}, ${one.id})`,
  );
  const rejected = (await requests.list({ limit: 200 })).data
    .filter((one) => isRejectedInitiate(one) || isUnknownPath(one))
    .slice(0, MAX_REPORTED)
    .map(({ method, target, status, notes }) => {
      const reason = notes.join('; ') || 'no reason was recorded';
      return `${method} ${target} was rejected (${status}): ${reason}`;
    });
  return [...(reported.length ? reported : ['no payment was initiated']), ...rejected];
}

function isUnknownPath({ method, status }: RecordedRequest): boolean {
  return method === 'POST' && (status === 404 || status === 405);
}

/** Treats a payment that does not exist yet as one without IPNs. */
export async function sentSoFar(server: ControlServer, query: DeliveryFilter) {
  return server.call('GET /ipns', { query }).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'not_found') return { data: [] };
    throw error;
  });
}

/** The results of the newest IPNs, of one payment or of all, one line each. */
export async function lastSent(server: ControlServer, payment?: string): Promise<string[]> {
  const { data } = await sentSoFar(server, { payment, limit: MAX_REPORTED });
  if (data.length) return data.map(describeDelivery);
  if (payment === undefined) return ['no IPN was sent'];
  const found = await server.call('GET /payments/:ref', { param: { ref: payment } }).catch(() => undefined);
  if (!found) return [`there is no payment "${payment}"`];
  return [`payment "${found.identifier}" is ${found.status}: no IPN was sent for it`];
}

function describeDelivery(delivery: Delivery): string {
  const { id, identifier, state, url, forwardedTo, attempts, note, verdict } = delivery;
  const last = attempts.at(-1);
  const outcome = last ? outcomeOf(last) : 'not attempted yet';
  const count = attempts.length > 1 ? `, ${attempts.length} attempts` : '';
  const destination = forwardedTo === null ? `to ${url}` : `forwarded to ${forwardedTo}`;
  const said =
    verdict.tone === 'bad' ? [verdict.cause, verdict.fix].filter(Boolean).join(' ') : (note ?? outcome);
  return `IPN ${id} of "${identifier}" ${destination} is ${state}${count}: ${said}`;
}
