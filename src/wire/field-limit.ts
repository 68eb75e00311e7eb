import { GatewayError } from '../contract/error.ts';

/** Maximum fields of a form, and of an object in JSON: no client of this interface sends anywhere near as many. */
export const MAX_FIELDS = 1_000;

export function tooManyFields(what: string): GatewayError {
  return new GatewayError('body_too_large', `${what} may have at most ${MAX_FIELDS} fields`);
}

/** Bytes of the shortest field, such as `"":0,`. */
const SHORTEST = 5;
const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN, CLOSE] = [0x7b, 0x7d];

/**
 * Counts the fields of every object in JSON text before it is parsed: half a second would go into a million of them.
 *
 * @throws GatewayError `body_too_large` where one has more than `MAX_FIELDS`
 */
export function requireFewFields(json: Buffer): void {
  if (json.length < MAX_FIELDS * SHORTEST) return;
  const counts: number[] = [];
  let count = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfText(json, at);
    else if (byte === COLON && ++count > MAX_FIELDS) throw tooManyFields('an object of the body');
    else if (byte === OPEN) {
      counts.push(count);
      count = 0;
    } else if (byte === CLOSE) count = counts.pop() ?? 0;
  }
}

/** The index of the closing quote of the text that begins here; that of the end where there is none. */
function endOfText(json: Buffer, at: number): number {
  for (let end = at + 1; end < json.length; end++) {
    if (json[end] === BACKSLASH) end++;
    else if (json[end] === QUOTE) return end;
  }
  return json.length;
}
