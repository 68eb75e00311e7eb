import { GatewayError, nearestName } from '../contract/error.ts';
import { segment } from './control-client.ts';

/*
 * What the types forbid, for callers who have none: plain JavaScript and values that came out undefined.
 */

/**
 * A reference that can be part of an address.
 *
 * @param what it names, such as `a payment`
 * @throws GatewayError `usage` when there is none
 */
export function requireReference(what: string, text: string): string {
  if (typeof text === 'string' && text !== '' && segment(text)) return text;
  throw new GatewayError('usage', `${what} is named by its id or identifier (got ${JSON.stringify(text)})`);
}

/** @throws GatewayError `usage` for what is no object */
export function requireObject(what: string, value: object): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new GatewayError('usage', `${what} must be an object (got ${JSON.stringify(value)})`);
}

/**
 * Refuses what is no object, and unknown fields.
 *
 * @throws GatewayError `usage` with the nearest known name
 */
export function requireFields(what: string, fields: object, known: readonly string[]): void {
  requireObject(what, fields);
  for (const name of Object.keys(fields)) {
    if (known.includes(name)) continue;
    const meant = nearestName(name, known);
    throw new GatewayError('usage', `unknown field ${name}${meant ? `: did you mean ${meant}?` : ''}`);
  }
}
