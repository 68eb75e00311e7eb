import { createContext, Script } from 'node:vm';
import { GatewayError } from '../contract/error.ts';

/** The time limit of one match, also on a busy machine: a pattern such as `^(a+)+$` can take years for a line of text. */
const LIMIT_MS = 1_000;
/** In characters. The rest of the text is not searched. */
const MAX_TEXT = 256 * 1024;

/** Only `node:vm` can stop a match without a thread. No other code runs during the match. */
const match = new Script('pattern.test(text)');
const context: { pattern?: RegExp; text?: string } = createContext({});

/**
 * Whether a user's pattern matches untrusted text.
 *
 * @throws GatewayError `check_failed` if that takes too long
 */
export function matches(pattern: RegExp, text: string): boolean {
  Object.assign(context, { pattern, text: text.slice(0, MAX_TEXT) });
  try {
    return match.runInContext(context, { timeout: LIMIT_MS });
  } catch (cause) {
    const why = `${pattern} takes too long to match: stopped after ${LIMIT_MS} ms`;
    throw new GatewayError('check_failed', why, { cause });
  } finally {
    delete context.text;
  }
}
