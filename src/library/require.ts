/*
 * Checks for callers in plain JavaScript. In TypeScript, the types do the same. All throw a GatewayError `usage`.
 */
import { didYouMean, usage } from '../contract/error.ts';
import { parseDuration } from '../contract/time.ts';
import type { Duration, Reference } from './api.ts';

/** Checks a reference that becomes part of a path. @param what the noun in the error, such as `a payment` */
export function requireReference(what: string, text: string): string {
  if (typeof text === 'string' && text !== '') return text;
  throw usage(`${what} must be an id or identifier (got ${JSON.stringify(text)})`);
}

/** The id in a record, or the reference itself. */
export function idOf(reference: Reference): string {
  return requireReference('a payment or an IPN', typeof reference === 'object' ? reference?.id : reference);
}

/** Rejects anything but an object. */
export function requireObject(what: string, value: object): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw usage(`${what} must be an object (got ${JSON.stringify(value)})`);
}

/** Rejects anything but an object, and unknown fields, with the nearest known name. */
export function requireFields(what: string, fields: object, known: readonly string[]): void {
  requireObject(what, fields);
  for (const name of Object.keys(fields))
    if (!known.includes(name)) throw usage(`unknown field ${name}${didYouMean(name, known)}`);
}

/** Returns a filter. Rejects anything but an object, and a filter that contains a timeout. */
export function requireFilter<Filter extends object>(filter: Filter): Filter {
  requireObject('the filter', filter);
  if (!('timeout' in filter)) return filter;
  throw usage('timeout is not a filter: pass it in the second argument, { timeout }');
}

/** A duration in milliseconds. */
export function milliseconds(name: string, duration: Duration): number {
  const value = typeof duration === 'number' ? duration : parseDuration(duration);
  if (value !== undefined && Number.isFinite(value) && value >= 0) return value;
  throw usage(
    `${name} must be milliseconds or text such as 500ms, 2s, 1m or 1h (got ${JSON.stringify(duration)})`,
  );
}
