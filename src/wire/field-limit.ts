import { GatewayError } from '../contract/error.ts';

/** Maximum number of fields in a form or a JSON object. No client of this interface sends nearly as many. */
export const MAX_FIELDS = 1_000;

export function tooManyFields(what: string): GatewayError {
  return new GatewayError('body_too_large', `${what} must have at most ${MAX_FIELDS} fields`);
}

/**
 * Counts the fields of every object in a value, at any depth.
 *
 * @throws GatewayError `body_too_large` if one has more than `MAX_FIELDS`
 */
export function requireFewFields(value: unknown): void {
  const open = [value];
  while (open.length) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const inside = Object.values(next);
    if (inside.length > MAX_FIELDS && !Array.isArray(next)) throw tooManyFields('an object of the body');
    for (const one of inside) open.push(one);
  }
}
