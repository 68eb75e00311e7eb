import { GatewayError } from './error.ts';

/** A JSON escape of a surrogate. UTF-8 cannot encode one in any other way. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** Parses the text of a body. @throws GatewayError `unparseable_body` for anything but a JSON object */
export function parseJsonObject(text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = SURROGATE_ESCAPE.test(text) ? JSON.parse(text, requireWellFormed) : JSON.parse(text);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const why = text.startsWith('\uFEFF') ? 'it begins with a byte order mark' : (error as Error).message;
    throw new GatewayError('unparseable_body', `the body is not valid JSON: ${why}`, { cause: error });
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return parsed as Record<string, unknown>;
  }
  throw new GatewayError('unparseable_body', 'the body must be a JSON object');
}

/** A lone surrogate is not a character: neither files nor forms can encode it. */
function requireWellFormed(name: string, value: unknown): unknown {
  for (const text of [name, value]) {
    if (typeof text !== 'string' || text.isWellFormed()) continue;
    throw new GatewayError(
      'unparseable_body',
      `${name.toWellFormed()} has a lone surrogate, such as \\ud800, which is not a character`,
    );
  }
  return value;
}
