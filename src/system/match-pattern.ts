import { createContext, Script } from 'node:vm';
import { GatewayError } from '../contract/error.ts';

/** Of real time for one match: an expression such as `^(a+)+$` takes years for a line of text. */
const LIMIT_MS = 250;
/** Characters; nothing is looked for behind them. */
const MAX_TEXT = 256 * 1024;

/** The one way to end a match that needs no thread: nothing else is run while it lasts. */
const match = new Script('pattern.test(text)');
const context: { pattern?: RegExp; text?: string } = createContext({});

/**
 * Whether a pattern that a user wrote is found in a text that somebody else wrote.
 *
 * @throws GatewayError `check_failed` when that takes too long
 */
export function matches(pattern: RegExp, text: string): boolean {
  Object.assign(context, { pattern, text: text.slice(0, MAX_TEXT) });
  try {
    const before = process.cpuUsage();
    for (;;) {
      try {
        return match.runInContext(context, { timeout: LIMIT_MS });
      } catch (cause) {
        // On a busy machine the limit may end a match that had no processor.
        const { user, system } = process.cpuUsage(before);
        if (user + system < LIMIT_MS * 1_000) continue;
        const why = `${pattern} takes too long to match: it was given up after ${LIMIT_MS} ms`;
        throw new GatewayError('check_failed', why, { cause });
      }
    }
  } finally {
    delete context.text;
  }
}
