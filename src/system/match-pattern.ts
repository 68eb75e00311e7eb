import { createContext, Script } from 'node:vm';
import { GatewayError } from '../contract/error.ts';

/** Of real time for one match: an expression such as `^(a+)+$` takes years for a line of text. */
const LIMIT_MS = 250;
/** Characters; nothing is looked for behind them. */
const MAX_TEXT = 256 * 1024;

/** Of the ways to run something for a limited time, the one that ends a match and takes no thread. */
const match = new Script('pattern.test(text)');
const context: { pattern?: RegExp; text?: string } = createContext({});
/** Those that took too long once: nobody waits for them again. */
const slow = new WeakSet<RegExp>();

/**
 * Whether a pattern that a user wrote is found in a text that somebody else wrote.
 *
 * @throws GatewayError `check_failed` when that takes too long
 */
export function matches(pattern: RegExp, text: string): boolean {
  if (slow.has(pattern)) throw tooSlow(pattern);
  try {
    Object.assign(context, { pattern, text: text.slice(0, MAX_TEXT) });
    return match.runInContext(context, { timeout: LIMIT_MS });
  } catch {
    slow.add(pattern);
    throw tooSlow(pattern);
  } finally {
    delete context.text;
  }
}

function tooSlow(pattern: RegExp): GatewayError {
  return new GatewayError(
    'check_failed',
    `${pattern} takes too long to match: it was given up after ${LIMIT_MS} ms`,
  );
}
