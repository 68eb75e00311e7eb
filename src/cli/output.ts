import type { Writable } from 'node:stream';
import {
  type CommandHint,
  ERRORS,
  type ErrorCode,
  GatewayError,
  type Hint,
  type HintStyle,
  hint,
  PLAIN,
  renderHint,
} from '../contract/error.ts';
import { maskedIn, Secrets } from '../contract/secrets.ts';
import { moment } from '../contract/time.ts';
import { connectionFlags, type Findable } from './connection-flags.ts';
import type { Io } from './io.ts';
import { type Colours, columns, escaped, flowing, onOneLine, Printed, wrapped } from './printed.ts';

/** Commands that need no running emulator. */
const NEED_NO_SERVER: readonly string[] = ['start', 'exec', 'init', 'docs', 'openapi', '--help'];

/** The exit code after a signal (chosen, as in shells). */
export const INTERRUPTED = 130;

/** Commands as the user would type them, with the flags that select the same emulator. */
export function hintStyle(invocation: string, connection: (command: string) => string = () => ''): HintStyle {
  const written = ({ command, args = [] }: CommandHint) => {
    const [first = ''] = command.split(' ', 1);
    const finds = NEED_NO_SERVER.includes(first) || args.some((arg) => /^--(url|data-dir|help)\b/.test(arg));
    const parts = [finds ? '' : connection(command), command, ...args];
    return [invocation, ...parts.filter(Boolean)].join(' ');
  };
  return { ...PLAIN, command: written };
}

export interface CommandResult {
  json: unknown;
  /** The same content as text; goes to stdout. */
  text: string | Printed;
  /** Additional information; goes to stderr. */
  notices?: readonly (string | Hint)[];
  /** Set if the command worked but its check failed. */
  failure?: string;
  /** The kind of failure. Default: `check_failed`. */
  failureCode?: ErrorCode;
  /** Whether the user interrupted the command, whose result is then not whole. */
  isInterrupted?: boolean;
}

const BUG = hint`This is a bug in gateway-sim. Please report it.`;

/** Returns to the start of a terminal's line and clears it. */
const REWRITE = '\r\u001b[K';
const PROGRESS_MS = 10_000;

/** Writes results to stdout and everything else to stderr. */
export class Output {
  /** From the flags. `start` also reads them from its configuration. */
  json: boolean;
  quiet: boolean;
  /** Colours of stdout. Off if it is not a terminal or the user disables them. */
  readonly colour: Colours;
  /** The secrets that texts are masked for. JSON documents are not: their addresses are as sent. */
  secrets = new Secrets();
  /** The flags that a printed command needs to find the same emulator; may be empty. */
  #connection: (command: string) => string = () => '';
  /** Writes commands as the user would type them, for the same emulator. */
  readonly style: HintStyle;
  readonly #io: Pick<Io, 'stdout' | 'stderr' | 'cwd' | 'env'>;
  /** Whether the last line of the terminal is progress. */
  #isRewritable = false;
  /** When progress was last printed, or first could have been. */
  #progressAt: number | undefined;

  constructor(io: Io, { json = false, quiet = false, color = true, invocation = 'gateway-sim' }) {
    this.json = json;
    this.quiet = quiet;
    this.#io = io;
    this.style = hintStyle(invocation, (command) => this.#connection(command));
    const wanted = color && !io.env['NO_COLOR'] && io.stdout.isTTY;
    this.colour = Printed.colours(Boolean(wanted));
    this.secrets.learn(io.env);
  }

  /** Printed commands find this emulator from now on. */
  pointTo(emulator: Findable): void {
    this.#connection = connectionFlags(emulator, this.#io);
  }

  /** A hint as text, with commands that the user can paste. */
  readonly render = (text: string | Hint): string =>
    typeof text === 'string' ? text : renderHint(text, this.style);

  /** A copy of a record to print as text: its secrets are masked before its texts are cut or wrapped. */
  shown<Value>(record: Value): Value {
    this.secrets.learn(record);
    return maskedIn(record, this.secrets.mask);
  }

  /** Prints the result of a command. @returns the exit code */
  show(result: CommandResult): number {
    const { json, text, notices = [], failure, failureCode = 'check_failed', isInterrupted = false } = result;
    this.secrets.learn(json);
    if (this.json) this.document(JSON.stringify(json));
    else this.line(text);
    for (const notice of notices) this.notice(notice);
    if (failure !== undefined) this.notice(`gateway-sim: ${failure}`);
    if (isInterrupted) return INTERRUPTED;
    return failure === undefined ? 0 : ERRORS[failureCode].exitCode;
  }

  /** Whether the reader of stdout has ended, as with `| head`. */
  get unread(): boolean {
    return !this.#io.stdout.writable;
  }

  /**
   * Shows how far a command is: on a terminal in one line that the next output replaces, otherwise in a line every ten
   * seconds.
   *
   * @param now monotonic, in milliseconds
   */
  progress(text: string, now: number): void {
    const { stderr } = this.#io;
    this.#progressAt ??= now;
    if (stderr.isTTY) {
      write(stderr, `${REWRITE}${escaped(this.secrets.mask(text))}`);
      this.#isRewritable = true;
    } else if (now >= this.#progressAt + PROGRESS_MS) {
      this.#progressAt = now;
      this.notice(text);
    }
  }

  #removeProgress(): void {
    if (this.#isRewritable) write(this.#io.stderr, REWRITE);
    this.#isRewritable = false;
  }

  /** Prints a text for people. */
  line(text: string | Printed): void {
    const shown = this.secrets.mask(text instanceof Printed ? text.text : escaped(text));
    this.#write(shown === '' ? '' : `${shown}\n`);
  }

  /** Prints a JSON document, whose addresses are as sent. */
  document(text: string): void {
    this.#write(`${escaped(text)}\n`);
  }

  #write(text: string): void {
    this.#removeProgress();
    write(this.#io.stdout, text);
  }

  notice(text: string | Hint): void {
    this.#removeProgress();
    const shown = typeof text === 'string' ? this.#inLines(text) : this.#onLines(text);
    write(this.#io.stderr, `${escaped(this.secrets.mask(shown))}\n`);
  }

  /** Prose in lines that fit. An error is one line where a program may read it. */
  #inLines(text: string): string {
    return this.#io.stderr.isTTY || !/^(?:gateway-sim:| )/.test(text) ? flowing(text) : text;
  }

  /** A hint as text. On a terminal, a command that does not fit has a line of its own, so that it can be pasted. */
  #onLines(parts: Hint): string {
    const line = this.render(parts);
    if (line.length <= columns() || !this.#io.stderr.isTTY) return line;
    return parts
      .map((part) => {
        if (typeof part === 'string') return part.trim() === '' ? part : flowing(part.trimEnd());
        const text = this.render([part]);
        return 'command' in part ? `\n    ${text}\n ` : ` ${text}`;
      })
      .join('')
      .trimEnd();
  }

  /** Prints an error and its hint, without a stack trace; with --json also as a document. @returns its exit code */
  fail(thrown: unknown): number {
    if (!(thrown instanceof GatewayError)) {
      const { message = String(thrown) } = thrown as Partial<Error>;
      return this.fail(new GatewayError('internal', message, { hint: BUG }));
    }
    const { message, problems, hint, code } = thrown;
    if (this.json) {
      const remedy = hint && { remedy: this.render(hint) };
      this.document(JSON.stringify({ ...thrown.toJSON(), ...remedy }));
    }
    this.notice(`gateway-sim: ${message}`);
    for (const problem of problems[0] === message ? problems.slice(1) : problems) {
      this.notice(`  ${problem}`);
    }
    if (hint) this.notice(['  ', ...hint]);
    return ERRORS[code].exitCode;
  }
}

/** Node throws here if a file cannot be written. A broken log must not stop the emulator. */
function write(stream: Writable, text: string): void {
  try {
    stream.write(text);
  } catch {
    // No output is left to report it.
  }
}

/**
 * Opens an address in the browser, or asks the user to open it.
 *
 * @throws GatewayError `no_server` for an address that is not http or https
 */
export async function openInBrowser(url: string, output: Output): Promise<void> {
  if (!/^https?:/i.test(url)) {
    throw new GatewayError('no_server', `the emulator returned an invalid page address (got "${url}")`);
  }
  const { default: open } = await import('open');
  await open(url).catch(() => output.notice(`Could not open a browser. Go to ${url}`));
}

/** The columns of a table: each heading with the function that returns its cell. */
type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** Rows in columns with headings; empty text if there are no rows. */
export function table<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  if (!rows.length) return '';
  const cells = Object.values(columns);
  const all = [Object.keys(columns), ...rows.map((row) => cells.map((cell) => onOneLine(cell(row))))];
  const widths = cells.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return all.map((row) => line(row).join('  ').trimEnd()).join('\n');
}

export function listed<Row>(
  page: { data: readonly Row[]; nextCursor: string | null },
  columns: Columns<Row>,
  empty?: Hint,
): CommandResult {
  return {
    json: page,
    text: table(columns, page.data),
    notices: [
      ...(page.data.length || !empty ? [] : [empty]),
      ...(page.nextCursor ? [`For more, use: --cursor ${page.nextCursor}`] : []),
    ],
  };
}

/** Names and values, one pair per line. Undefined values are omitted. */
export function pairs(facts: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(facts).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  const indent = ' '.repeat(width + 2);
  return entries
    .map(([name, value]) => wrapped(`${name.padEnd(width)}  ${onOneLine(value)}`, indent))
    .join('\n');
}

export function fieldsOf(record: object): string {
  const shown = Object.entries(record).map(([name, value]) => [name, fieldText(value)]);
  return pairs(Object.fromEntries(shown));
}

function fieldText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '-');
  const parts = Object.entries(value).map(([name, part]) => `${name} ${fieldText(part)}`);
  return parts.join(', ') || '-';
}

/** An ISO time without its year, to the second, for lists. */
export const shortMoment = (at: string): string => moment(at).slice(5);
