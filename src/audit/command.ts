import { spawn } from 'node:child_process';
import { shorten } from '../contract/address.ts';
import { PLACEHOLDERS, type Placeholder } from '../contract/audit.ts';
import { GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import type { Payment } from '../contract/payment.ts';
import { namesOf } from '../contract/vocabulary.ts';

/*
 * Commands of the user. Identifiers are anybody's text, and must neither be read by a shell nor pass for an option: a
 * command gets them in variables, and its text never holds one.
 */

/** A command line with variables in the place of placeholders. */
export interface Command {
  line: string;
  /** What it asks for, by placeholder or by variable. */
  asks: readonly Placeholder[];
}

/** What is known of an order. */
export type OrderValues = Readonly<{ [Name in Placeholder]?: string | undefined }>;

/** How a command is run. */
export interface CommandRun {
  /** Variables that it sees beside those of this process and of its order. */
  environment: Readonly<Record<string, string>>;
  /** For its end, in real time. */
  limitMs?: number | undefined;
  /** Ends it with all that it has started. */
  cancelled?: AbortSignal | undefined;
}

/** A value of an order that no command or address is given. */
export class Withheld extends GatewayError {}

const NAMES = namesOf(PLACEHOLDERS);
const PLACEHOLDER = new RegExp(`\\{(${NAMES.join('|')})\\}`, 'g');
const PLACEHOLDER_IN = new RegExp(PLACEHOLDER.source);

/** @param order what the shop itself calls it */
export function valuesOf(payment: Payment, order?: string): OrderValues {
  const { identifier, trx, amount, ipnUrl, successUrl } = payment;
  return { identifier, trx, amount, ipn_url: ipnUrl, success_url: successUrl, order };
}

/** What a command or an address asks for, by placeholder or by variable. */
export function askedIn(text: string): Placeholder[] {
  return NAMES.filter((name) => text.includes(`{${name}}`) || text.includes(PLACEHOLDERS[name]));
}

/** A variable whose name and defaults have no quotes and no further parts. */
const VARIABLE = String.raw`\$\{[^{}\s"'$\x60\\]*\}`;

/**
 * What a shell takes for one piece outside of quotes. All shells agree where quotes begin and end, but for what is
 * `unclear`: some know `$'…'`, a here-document has no quotes, backslashes are read twice between backticks, and what
 * begins a comment does not within a variable. With what is `counted` bash calculates, and runs the commands in it.
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

/** What can stand between double quotes without quotes of its own. */
const PLAIN_INSIDE = new RegExp(String.raw`\\[\s\S]|${VARIABLE}`, 'g');

/**
 * Reads a command line.
 *
 * @param what what to call it in an error, such as `the probe command`
 * @param known what can be told to it
 * @throws GatewayError `usage` where a placeholder stands inside quotes, or where it is not certain that it does not
 */
export function readCommand(
  what: string,
  text: string,
  known: readonly Placeholder[] = NAMES,
  platform = process.platform,
): Command {
  const asks = askedIn(text);
  for (const name of asks) {
    if (!known.includes(name)) throw unknown(what, name, known);
  }
  if (asks.length && platform === 'win32') {
    throw usage(
      `${what} asks for {${asks[0]}}, and cmd.exe would read what that holds as commands: on Windows give an address instead`,
    );
  }
  if (text.search(PLACEHOLDER) < 0) return { line: text, asks };
  const line = text.replace(PIECE, (piece, ...matched) => {
    const found = matched.at(-1) as Record<string, string | undefined>;
    const { unclear, counted, quoted = '', placeholder, name } = found;
    if (quoted.search(PLACEHOLDER) >= 0 || placeholder?.startsWith('$')) throw insideQuotes(what, text);
    // Inside of double quotes a substitution may have quotes of its own.
    const nested = quoted.startsWith('"') && /\$[({]|`/.exec(quoted.replace(PLAIN_INSIDE, ''))?.[0];
    const other = unclear ?? (nested ? `"…${nested}…"` : undefined);
    if (other !== undefined) {
      const variable = PLACEHOLDERS[asks[0] ?? 'identifier'];
      throw usage(`beside ${other} no placeholder can stand in ${what}: write "$${variable}" instead`);
    }
    if (counted !== undefined) {
      throw usage(
        `beside ${counted} no placeholder can stand in ${what}: bash calculates there, and runs what it finds`,
      );
    }
    return name === undefined ? piece : `"$${PLACEHOLDERS[name as Placeholder]}"`;
  });
  return { line, asks };
}

export function usage(message: string): GatewayError {
  return new GatewayError('usage', message);
}

function unknown(what: string, name: Placeholder, known: readonly Placeholder[]): GatewayError {
  if (name === 'order') return usage(`${what} asks for {order}, which only an order command tells`);
  const can = known.length ? `, only ${known.map((one) => `{${one}}`).join(', ')}` : '';
  return usage(`${what} asks for {${name}}, which is not known there${can}`);
}

function insideQuotes(what: string, text: string): GatewayError {
  const [, name] = PLACEHOLDER_IN.exec(text) ?? [];
  const variable = PLACEHOLDERS[name as Placeholder];
  return new GatewayError(
    'usage',
    `{${name}} in ${what} stands for "$${variable}" with its quotes: write {${name}} outside of quotes, or $${variable} between double quotes (got ${text})`,
    {
      hint: hint`A program that is written out in the command reads the variable ${variable} by itself, so that nothing becomes part of its text.`,
    },
  );
}

/** Longer ones do not fit into the environment of a process everywhere. */
const MAX_VALUE = 4_096;

/** Why a value is given to no command; undefined where it is. */
function problemWith(value: string | undefined): string | undefined {
  if (value === undefined || value === '') return 'nothing told it';
  if (/\p{Cc}/u.test(value)) return 'it holds a control character';
  if (value.startsWith('-')) return 'it begins with - like an option';
  if (!value.isWellFormed()) return 'it is no whole Unicode text';
  return value.length > MAX_VALUE ? `it has more than ${MAX_VALUE} characters` : undefined;
}

/** @throws Withheld for a value that is given to no command */
function requireFit(name: Placeholder, value: string | undefined): void {
  const problem = problemWith(value);
  if (problem !== undefined) throw withheld(name, value, problem);
}

function withheld(name: Placeholder, value: string | undefined, problem: string): Withheld {
  const shown = value ? ` (${JSON.stringify(shorten(value))})` : '';
  return new Withheld('check_failed', `{${name}} was not handed over: ${problem}${shown}`);
}

/** An address with the values of an order in the place of placeholders. @throws Withheld */
export function filledAddress(url: string, values: OrderValues): string {
  return url.replace(PLACEHOLDER, (_, name: Placeholder) => {
    const value = values[name] ?? '';
    if (value === '' || !value.isWellFormed()) requireFit(name, value);
    if (value === '.' || value === '..') throw withheld(name, value, 'it would lead to another address');
    return encodeURIComponent(value);
  });
}

const LIMIT_MS = 30_000;
const MAX_OUTPUT = 2 ** 20;
/** For what a command has printed to be read once it has ended: what left its group may hold the pipes for ever. */
const DRAIN_MS = 500;

/**
 * Runs a command line of the user in a shell.
 *
 * @param values what it may ask for
 * @returns what it printed on stdout
 * @throws GatewayError `check_failed` when it fails, hangs, is cancelled or cannot be run; `Withheld` for a value that
 *   it asks for and is not given
 */
export async function runCommand(
  { line, asks }: Command,
  values: OrderValues,
  { environment, limitMs = LIMIT_MS, cancelled }: CommandRun,
): Promise<string> {
  for (const name of asks) requireFit(name, values[name]);
  cancelled?.throwIfAborted();
  const given = NAMES.map((name) => {
    const value = values[name];
    return [PLACEHOLDERS[name], problemWith(value) === undefined ? value : undefined];
  });
  const ownGroup = process.platform !== 'win32';
  const child = spawn(line, {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment, ...Object.fromEntries(given) },
    detached: ownGroup,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (stdout.length < MAX_OUTPUT) stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_OUTPUT) stderr += text;
  });
  return new Promise((resolve, reject) => {
    const failed = (why: string) => {
      const said = stderr.trim().split('\n').at(-1);
      return new GatewayError('check_failed', `\`${line}\` ${why}${said ? `: ${said.slice(0, 200)}` : ''}`);
    };
    const letGo = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const end = (reason: unknown) => {
      reject(reason);
      endGroup(child.pid, ownGroup);
      letGo();
    };
    const cancel = () => end(cancelled?.reason);
    const timer = setTimeout(() => end(failed(`did not end within ${limitMs / 1_000} s`)), limitMs);
    cancelled?.addEventListener('abort', cancel);
    child.on('error', ({ message }) => reject(failed(`cannot be run: ${message}`)));
    child.on('exit', () => {
      clearTimeout(timer);
      // What it has left running is nobody's any more.
      if (ownGroup) endGroup(child.pid, ownGroup);
      const drain = setTimeout(letGo, DRAIN_MS);
      child.on('close', () => clearTimeout(drain));
    });
    child.on('close', (code, signal) => {
      cancelled?.removeEventListener('abort', cancel);
      if (code === 0) resolve(stdout);
      else reject(failed(signal ? `was ended by ${signal}` : `exited with ${code}`));
    });
  });
}

function endGroup(pid: number | undefined, ownGroup: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(ownGroup ? -pid : pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** What a function of the user returns. @throws GatewayError `check_failed` when it throws */
export async function ofTheUser(what: string, run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    const { message = String(error) } = error as Partial<Error>;
    throw new GatewayError('check_failed', `${what} failed: ${message}`, { cause: error });
  }
}
