import { nearestName, usage } from '../contract/error.ts';
import { segment } from './control-client.ts';

/*
 * Checks for callers in plain JavaScript. In TypeScript, the types do the same.
 */

/**
 * Checks a reference that becomes part of a path.
 *
 * @param what the noun in the error, such as `a payment`
 * @throws GatewayError `usage` if it is missing
 */
export function requireReference(what: string, text: string): string {
  if (typeof text === 'string' && text !== '' && segment(text)) return text;
  throw usage(`${what} must be an id or identifier (got ${JSON.stringify(text)})`);
}

/** @throws GatewayError `usage` for anything but an object */
export function requireObject(what: string, value: object): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw usage(`${what} must be an object (got ${JSON.stringify(value)})`);
}

/**
 * Rejects anything but an object, and unknown fields.
 *
 * @throws GatewayError `usage` with the nearest known name
 */
export function requireFields(what: string, fields: object, known: readonly string[]): void {
  requireObject(what, fields);
  for (const name of Object.keys(fields)) {
    if (known.includes(name)) continue;
    const meant = nearestName(name, known);
    throw usage(`unknown field ${name}${meant ? `: did you mean ${meant}?` : ''}`);
  }
}
