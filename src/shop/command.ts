import { GatewayError, hint, usage } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import { PLACEHOLDERS, type Placeholder } from '../contract/placeholders.ts';
import type { Mask } from '../contract/secrets.ts';
import { shorten } from '../contract/text.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { runProcess } from '../system/run-process.ts';

/*
 * The user's commands. Identifiers are untrusted text: a shell must not parse them, and a program must not read them as
 * options. So commands receive them in variables and never in their text.
 */

/** A command line whose placeholders are replaced by variables. */
export interface Command {
  /** Its name in errors, such as `the probe command`. */
  what: string;
  line: string;
  /** The values that it uses, by placeholder or variable. */
  asks: readonly Placeholder[];
}

/** The known values of an order. */
export type OrderValues = Readonly<{ [Name in Placeholder]?: string | undefined }>;

/** How to run a command. */
export interface CommandRun {
  /** Variables, in addition to those of this process and the order. */
  environment: Readonly<Record<string, string>>;
  mask: Mask;
  /** In real time, independent of the emulator's clock. */
  limitMs?: number | undefined;
  /** Ends the command and all its processes. */
  cancelled?: AbortSignal | undefined;
}

/** Thrown for an order's value that must not be passed to a command or address. */
export class Withheld extends GatewayError {}

const NAMES = namesOf(PLACEHOLDERS);
const PLACEHOLDER = new RegExp(`\\{(${NAMES.join('|')})\\}`, 'g');
const PLACEHOLDER_IN = new RegExp(PLACEHOLDER.source);

/** What a payment says about its order. */
export type NamedPayment = Pick<Payment, 'identifier' | 'trx' | 'amount' | 'ipnUrl' | 'successUrl'>;

/** @param order the shop's own name for the order */
export function valuesOf(payment: NamedPayment, order?: string): OrderValues {
  const { identifier, trx, amount, ipnUrl, successUrl } = payment;
  return { identifier, trx, amount, ipn_url: ipnUrl, success_url: successUrl, order };
}

/** The values that a command or address uses, by placeholder or variable. */
export function placeholdersIn(text: string): Placeholder[] {
  return NAMES.filter((name) => text.includes(`{${name}}`) || text.includes(PLACEHOLDERS[name]));
}

/** A variable whose name and default contain no quotes and no nested expressions. */
const VARIABLE = String.raw`\$\{[^{}\s"'$\x60\\]*\}`;

/**
 * A token outside quotes. Shells agree on where quotes begin and end, except for `unclear` tokens: some shells know
 * `$'…'`, here-documents have no quotes, backslashes are parsed twice between backticks, and `#` begins no comment
 * inside a variable. In `counted` tokens, bash does arithmetic and runs embedded commands.
 */
const PIECE = new RegExp(
  [
    String.raw`\\[\s\S]`,
    String.raw`(?<placeholder>\$?\{(?<name>${NAMES.join('|')})\})`,
    VARIABLE,
    String.raw`(?<counted>\$?\(\(|\[\[|\$\[|\w\[(?=[^\]]*\{)|\$\{[^}]*\{)`,
    String.raw`(?<unclear>\$'|<<|\$\{|\x60)`,
    String.raw`(?<quoted>'[^']*(?:'|$)|"(?:\\[\s\S]|[^"\\])*(?:"|$))`,
    String.raw`(?<![^\s;&|()<>])#[^\n]*`,
  ].join('|'),
  'g',
);

/** Text between double quotes that cannot contain nested quotes. */
const PLAIN_INSIDE = new RegExp(String.raw`\\[\s\S]|${VARIABLE}`, 'g');

/**
 * Reads a command line.
 *
 * @param what the command's name in errors, such as `the probe command`
 * @param known the values that are available
 * @throws GatewayError `usage` if a placeholder is inside quotes or might be
 */
export function readCommand(
  what: string,
  text: string,
  known: readonly Placeholder[] = NAMES,
  platform = process.platform,
): Command {
  const asks = placeholdersIn(text);
  for (const name of asks) {
    if (known.includes(name)) continue;
    if (name === 'order')
      throw usage(`${what} uses {order}, which is known only if an order command or function prints it`);
    const can = known.length ? `: use ${known.map((one) => `{${one}}`).join(', ')}` : '';
    throw usage(`${what} uses {${name}}, which is not available there${can}`);
  }
  if (asks.length && platform === 'win32') {
    throw usage(
      `${what} uses {${asks[0]}}, and cmd.exe would run its value as commands: on Windows, use a URL instead`,
    );
  }
  if (text.search(PLACEHOLDER) < 0) return { what, line: text, asks };
  const line = text.replace(PIECE, (piece, ...matched) => {
    const found = matched.at(-1) as Record<string, string | undefined>;
    const { unclear, counted, quoted = '', placeholder, name } = found;
    if (quoted.search(PLACEHOLDER) >= 0 || placeholder?.startsWith('$')) {
      throw insideQuotes(what, text, piece);
    }
    // A substitution inside double quotes may contain quotes.
    const nested = quoted.startsWith('"') && /\$[({]|`/.exec(quoted.replace(PLAIN_INSIDE, ''))?.[0];
    const other = unclear ?? (nested ? `"…${nested}…"` : undefined);
    if (other !== undefined) {
      const variable = PLACEHOLDERS[asks[0] ?? 'identifier'];
      throw usage(
        `placeholders are not allowed in a command with ${other} (${what}): write "$${variable}" instead`,
      );
    }
    if (counted !== undefined) {
      throw usage(
        `placeholders are not allowed in a command with ${counted} (${what}): bash evaluates it and could run the value`,
      );
    }
    return name === undefined ? piece : `"$${PLACEHOLDERS[name as Placeholder]}"`;
  });
  return { what, line, asks };
}

function insideQuotes(what: string, text: string, quoted: string): GatewayError {
  const [, name] = PLACEHOLDER_IN.exec(quoted) ?? [];
  const variable = PLACEHOLDERS[name as Placeholder];
  return usage(
    `{${name}} in ${what} is replaced by "$${variable}", including the quotes: write {${name}} outside quotes, or $${variable} between double quotes (got ${text})`,
    {
      hint: hint`An inline program must read the variable ${variable}, so that the value never becomes part of its code.`,
    },
  );
}

/** Longer values do not fit into a process environment on every system. */
const MAX_VALUE = 4_096;

/** Why a value is not passed to commands; undefined if it is. */
function problemWith(value: string | undefined): string | undefined {
  if (value === undefined || value === '') return 'it is unknown';
  if (/\p{Cc}/u.test(value)) return 'it contains a control character';
  if (value.startsWith('-')) return 'it begins with - like an option';
  // In a variable, too: `test -v`, `let`, `read` and `printf -v` evaluate `a[$(…)]`.
  if (/[$`[]/.test(value)) return 'it contains $, ` or [, with which bash may run it';
  if (!value.isWellFormed()) return 'it is not valid Unicode';
  return value.length > MAX_VALUE ? `it has more than ${MAX_VALUE} characters` : undefined;
}

/** @throws Withheld for a value that is not passed to commands */
function requireFit(name: Placeholder, value: string | undefined): void {
  const problem = problemWith(value);
  if (problem !== undefined) throw withheld(name, value, problem);
}

function withheld(name: Placeholder, value: string | undefined, problem: string): Withheld {
  const shown = value ? ` (${JSON.stringify(shorten(value))})` : '';
  return new Withheld('check_failed', `{${name}} was withheld: ${problem}${shown}`);
}

/** Replaces the placeholders of an address with the values of an order. @throws Withheld */
export function filledAddress(url: string, values: OrderValues): string {
  return url.replace(PLACEHOLDER, (_, name: Placeholder) => {
    const value = values[name] ?? '';
    if (value === '' || !value.isWellFormed()) requireFit(name, value);
    if (value === '.' || value === '..') throw withheld(name, value, 'it would change the path');
    return encodeURIComponent(value);
  });
}

const LIMIT_MS = 30_000;
const MAX_OUTPUT = 2 ** 20;
/**
 * Runs one of the user's command lines in a shell.
 *
 * @param values the values that it may use
 * @returns its stdout
 * @throws GatewayError `check_failed` if it fails, hangs, is cancelled or cannot be run; `Withheld` if it uses a value
 *   that is not passed to commands
 */
export async function runCommand(
  { what, line, asks }: Command,
  values: OrderValues,
  { environment, mask, limitMs = LIMIT_MS, cancelled }: CommandRun,
): Promise<string> {
  for (const name of asks) requireFit(name, values[name]);
  cancelled?.throwIfAborted();
  const given = NAMES.map((name) => {
    const value = values[name];
    return [PLACEHOLDERS[name], problemWith(value) === undefined ? value : undefined];
  });
  const { stdout, stderr, problem } = await runProcess({
    line,
    env: { ...environment, ...Object.fromEntries(given) },
    limitMs,
    maxOutput: MAX_OUTPUT,
    cancelled,
  });
  if (problem === undefined) return stdout;
  const lastLine = stderr.trim().split('\n').at(-1);
  const words = lastLine ? `: ${mask(lastLine, { most: 200 })}` : '';
  throw new GatewayError('check_failed', `${what} \`${line}\` ${problem}${words}`);
}

/** Calls one of the user's functions. @throws GatewayError `check_failed` if it throws */
export async function callUserFunction(what: string, run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    const { message = String(error) } = error as Partial<Error>;
    throw new GatewayError('check_failed', `${what} failed: ${message}`, { cause: error });
  }
}
