import { relative, resolve } from 'node:path';
import { Chalk, type ChalkInstance } from 'chalk';
import { type ErrorCode, GatewayError } from '../contract/error.ts';
import { DEFAULT_DATA_DIR } from '../store/server-file.ts';
import { quoted } from '../wire/curl.ts';
import { onOneLine, printable } from './printable.ts';

/** Exit codes, as `--help` lists them. */
export const EXIT_CODES = {
  invalid_fields: 2,
  unsupported_currency: 2,
  invalid_api_key: 2,
  unparseable_body: 2,
  unsupported_media_type: 2,
  body_too_large: 2,
  unauthorized: 2,
  forbidden: 2,
  not_found: 4,
  method_not_allowed: 2,
  wrong_state: 4,
  expired: 4,
  insufficient_funds: 4,
  storage_failed: 5,
  state_damaged: 6,
  folder_in_use: 5,
  port_in_use: 5,
  no_server: 3,
  timed_out: 4,
  usage: 2,
  check_failed: 1,
  internal: 1,
} as const satisfies Record<ErrorCode, number>;

/** A reader that goes away (`| head`, a closed terminal) is no fault of anybody: what nobody reads is dropped. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
}

/** Commands that talk to no emulator that runs. */
const NEED_NO_SERVER: ReadonlySet<string> = new Set([
  'start',
  'exec',
  'init',
  'completion',
  'openapi',
  '--help',
]);

/**
 * The commands in a text as the user would type them.
 *
 * @param invocation how the tool was invoked
 * @param connection the flags by which they find the emulator that is meant
 */
export function asInvoked(text: string, invocation: string, connection = ''): string {
  return text.replace(
    /(^|[^\w/.-])gateway-sim (?=([a-z-]+)(.*))/gm,
    (_, before: string, name: string, rest: string) => {
      const finds = !connection || NEED_NO_SERVER.has(name) || /--(url|data-dir) /.test(rest);
      return `${before}${invocation} ${finds ? '' : `${connection} `}`;
    },
  );
}

/** The flags by which commands find an emulator from this folder: one in memory is found by its URL only. */
export function connectionFlags(url: string | undefined, dataDir: string | null): string {
  if (dataDir === null) return url === undefined ? '' : `--url ${url}`;
  if (resolve(dataDir) === resolve(DEFAULT_DATA_DIR)) return '';
  const folder = relative('', dataDir) || '.';
  return `--data-dir ${/^[\w./-]+$/.test(folder) ? folder : quoted(folder)}`;
}

/** What a command hands back to be shown. */
export interface CommandResult {
  /** The one document of `--json`. */
  json: unknown;
  /** The same for people; goes to stdout. */
  text: string;
  /** What is worth knowing beside it; goes to stderr. */
  notices?: readonly string[];
  /** When the command worked but what it checked failed. */
  failure?: string;
}

/** Says things to the user: results on stdout, everything else on stderr. The only writer of the exit code. */
export class Output {
  /** Whether stdout is for programs. What the command line says until a command knows better. */
  json: boolean;
  /** Whether notices are unwanted. What the command line says until a command knows better. */
  quiet: boolean;
  /** Colours of stdout, off where it is no terminal or the user does not want them. */
  readonly colour: ChalkInstance;
  /** The flags by which the commands that are printed find the same emulator; empty where they find it without. */
  connection = '';
  readonly #invocation: string;

  constructor(options: { json: boolean; quiet?: boolean; color: boolean; invocation: string }) {
    this.json = options.json;
    this.quiet = options.quiet ?? false;
    this.#invocation = options.invocation;
    const wanted = options.color && !process.env['NO_COLOR'] && process.stdout.isTTY;
    this.colour = new Chalk({ level: wanted ? 1 : 0 });
  }

  /** Commands in a text as the user would type them: however the tool was invoked, and for the same emulator. */
  commands(text: string): string {
    return asInvoked(text, this.#invocation, this.connection);
  }

  /** Shows what a command handed back. */
  show({ json, text, notices = [], failure }: CommandResult): void {
    this.line(this.json ? JSON.stringify(json) : text);
    for (const notice of notices) this.notice(notice);
    if (failure !== undefined) {
      this.notice(failure);
      process.exitCode = EXIT_CODES.check_failed;
    }
  }

  /** Whether nobody reads stdout any more, as behind `| head`. */
  get unread(): boolean {
    return !process.stdout.writable;
  }

  /** One line (or more) on stdout. */
  line(text: string): void {
    process.stdout.write(text === '' ? '' : `${printable(text)}\n`);
  }

  /** Prose on stderr. */
  notice(text: string): void {
    process.stderr.write(`${printable(this.commands(text))}\n`);
  }

  /** Ends with the exit code of a command that was run. */
  passOn(exitCode: number): void {
    process.exitCode = exitCode;
  }

  /** An error: what was wrong and what to do, never a stack trace, and its exit code. */
  fail(thrown: unknown): void {
    const error = thrown instanceof GatewayError ? thrown : undefined;
    if (!error) {
      const { message = String(thrown) } = thrown as Partial<Error>;
      this.notice(`gateway-sim: ${message}\nThis is a bug of gateway-sim: please report it.`);
      process.exitCode = EXIT_CODES.internal;
      return;
    }
    const [first, ...others] = error.problems;
    process.stderr.write(`gateway-sim: ${printable(error.message)}\n`);
    if (first !== error.message) others.unshift(...(first === undefined ? [] : [first]));
    for (const problem of others) process.stderr.write(`  ${printable(problem)}\n`);
    if (error.remedy) this.notice(`  ${error.remedy}`);
    process.exitCode = EXIT_CODES[error.code];
  }
}

/** Rows under their headings, in columns; empty text where there are none. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (!rows.length) return '';
  const all = [headings, ...rows.map((row) => row.map(onOneLine))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values, one pair a line. */
export function pairs(entries: readonly (readonly [string, string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${onOneLine(value)}`).join('\n');
}
