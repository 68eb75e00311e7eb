/*
 * What to do about a problem, as data: each output formats commands and options for its reader.
 */

/** A command of gateway-sim. */
export interface CommandHint {
  /** Its name, such as `keys show`. */
  command: string;
  /** Arguments, quoted for a shell. */
  args?: readonly string[];
}

/** An option of `start`. */
export interface OptionHint {
  /** Its camelCase name. */
  option: string;
  value?: string;
}

/** Texts, commands and options, in order. */
export type Hint = readonly (string | CommandHint | OptionHint)[];

/** How to format the commands and options of a hint. */
export interface HintStyle {
  command: (hint: CommandHint) => string;
  option: (hint: OptionHint) => string;
}

/** A command in a hint: its name and its shell-quoted arguments. */
export function command(name: string, ...args: readonly string[]): CommandHint {
  return { command: name, args };
}

export function option(name: string, value?: string): OptionHint {
  return value === undefined ? { option: name } : { option: name, value };
}

/** Template tag: the values are commands, options and texts. */
export function hint(texts: TemplateStringsArray, ...values: readonly (Hint[number] | Hint)[]): Hint {
  return texts
    .flatMap((text, index) => [text, ...[values[index] ?? ''].flat()])
    .filter((part) => part !== '');
}

/** How two emulators run at a time. */
export const SECOND_EMULATOR = hint`Run a second one with ${option('port', '0')} ${option('dataDir', '<folder>')}`;

/** `dataDir` → `data-dir`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Formats hints as in the documentation: `gateway-sim keys show`, `--data-dir folder`. */
export const PLAIN: HintStyle = {
  command: ({ command: name, args = [] }) => ['gateway-sim', name, ...args].join(' '),
  option: ({ option: name, value }) => `--${kebab(name)}${value === undefined ? '' : ` ${value}`}`,
};

/** Formats hints for a package that is installed locally. */
export const NPX: HintStyle = { ...PLAIN, command: (hint) => `npx ${PLAIN.command(hint)}` };

/** A hint as text. */
export function renderHint(parts: Hint, style: HintStyle = PLAIN): string {
  return parts
    .map((part) =>
      typeof part === 'string' ? part : 'command' in part ? style.command(part) : style.option(part),
    )
    .join('');
}

/**
 * Every error that users can get, with its HTTP status and the exit code of a command, as `--help` lists it. Rejected
 * initiates are answered 200 unless `--error-status http` (observed: refusal-*-status).
 */
export const ERRORS = {
  invalid_fields: { status: 422, exitCode: 2 },
  unsupported_currency: { status: 422, exitCode: 2 },
  invalid_api_key: { status: 401, exitCode: 2 },
  unparseable_body: { status: 400, exitCode: 2 },
  unsupported_media_type: { status: 415, exitCode: 2 },
  body_too_large: { status: 413, exitCode: 2 },
  unauthorized: { status: 401, exitCode: 2 },
  forbidden: { status: 403, exitCode: 2 },
  egress_refused: { status: 403, exitCode: 4 },
  not_found: { status: 404, exitCode: 4 },
  method_not_allowed: { status: 405, exitCode: 2 },
  wrong_state: { status: 409, exitCode: 4 },
  expired: { status: 410, exitCode: 4 },
  insufficient_funds: { status: 409, exitCode: 4 },
  storage_failed: { status: 507, exitCode: 5 },
  state_damaged: { status: 500, exitCode: 6 },
  folder_in_use: { status: 500, exitCode: 5 },
  port_in_use: { status: 500, exitCode: 5 },
  no_server: { status: 500, exitCode: 3 },
  timed_out: { status: 504, exitCode: 4 },
  usage: { status: 422, exitCode: 2 },
  check_failed: { status: 422, exitCode: 1 },
  internal: { status: 500, exitCode: 1 },
} as const;
export type ErrorCode = keyof typeof ERRORS;

/** Maximum number of problems in an error (chosen): one request can have as many as it has bytes. */
export const MAX_PROBLEMS = 20;

/** At most `max` problems. If there are more, the last entry gives the number of the others. */
export function firstProblems(problems: readonly string[], count: number, max: number): readonly string[] {
  return count > max ? [...problems.slice(0, max - 1), `and ${count - max + 1} more`] : problems;
}

/** Optional details of a `GatewayError`. */
export interface ErrorDetails {
  /** Every problem, one sentence each. The first is the message. Default: the message alone. */
  problems?: readonly string[];
  /** Total number of problems, if `problems` has only the first ones. */
  problemCount?: number;
  /** What the user can do about it, as one sentence. */
  hint?: Hint;
  /** The methods that the path accepts (`method_not_allowed` only). */
  allow?: readonly string[];
  /** The underlying error. For debugging, never shown. */
  cause?: unknown;
}

/** The only error that users see. Thrown anywhere, and converted to a response or an exit code in one place each. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  /** The first problems, at most `MAX_PROBLEMS`. */
  readonly problems: readonly string[];
  readonly problemCount: number;
  readonly hint: Hint | undefined;
  readonly allow: readonly string[] | undefined;

  /**
   * @param code one of the closed set of codes
   * @param message what was wrong and what was expected, in one sentence without a full stop
   * @param details more problems, the hint, the cause
   */
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    const { problems = [message], problemCount = problems.length } = details;
    this.problems = firstProblems(problems, problemCount, MAX_PROBLEMS);
    this.problemCount = problemCount;
    this.hint = details.hint;
    this.allow = details.allow;
  }

  /** The error as JSON: the service's fields, plus a code and a hint. No stack, no cause. */
  toJSON(): object {
    const { message, problems, code, remedy, hint: parts } = this;
    return {
      error: 'true',
      message,
      errors: [...problems],
      code,
      ...(remedy !== undefined && { remedy }),
      ...(parts && { hint: [...parts] }),
    };
  }

  /** A copy with masked secrets. */
  masked(mask: (text: string) => string): GatewayError {
    return this.with({ problems: this.problems.map(mask) }, mask(this.message));
  }

  /** A copy with other details. Its cause is the original. */
  with(changed: ErrorDetails, message = this.message): GatewayError {
    const { code, problems, problemCount, hint, allow } = this;
    const details = { problems, problemCount, ...(hint && { hint }), ...(allow && { allow }) };
    return new GatewayError(code, message, { ...details, cause: this, ...changed });
  }

  /** The problem with a field, without its name, with which every problem begins. */
  problemWith(field: string): string | undefined {
    const name = `${field} `;
    return this.problems.find((problem) => problem.startsWith(name))?.slice(name.length);
  }

  /** The hint as one sentence, with commands as in the documentation. */
  get remedy(): string | undefined {
    return this.hint && renderHint(this.hint);
  }
}

/** The error for a command, an option or an argument that is not valid. */
export const usage = (message: string, details?: ErrorDetails): GatewayError =>
  new GatewayError('usage', message, details);

/** The known name nearest to what the user wrote; undefined if none is close enough. */
export function nearestName(
  written: string,
  known: Iterable<string>,
  maxDistance = Math.max(2, Math.floor(written.length / 2)),
): string | undefined {
  const names = [...known];
  const synonym = synonymOf(written, names);
  if (synonym !== undefined) return synonym;
  const begun = written.length >= 3 ? names.filter((name) => name.startsWith(written)) : [];
  if (begun.length === 1) return begun[0];
  let best: string | undefined;
  let bestDistance = maxDistance + 1;
  for (const name of names) {
    const distance = editDistance(written.toLowerCase(), name.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Common synonyms of the names that are used here. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  fake: ['tamper', 'fire'],
  falsify: ['tamper', 'fire'],
  forge: ['tamper', 'fire'],
  forged: ['tamper'],
  map: ['forward-ipn'],
  send: ['fire'],
  replay: ['resend'],
  callbacks: ['ipn'],
  webhook: ['ipn'],
  webhooks: ['ipn'],
  orders: ['payments'],
  transactions: ['payments'],
  settle: ['pay'],
  accept: ['approve', 'pay'],
  success: ['approve'],
  decline: ['cancel'],
  reject: ['fail'],
  abort: ['cancel'],
  events: ['logs'],
  history: ['logs'],
  codes: ['inbox'],
  mails: ['inbox'],
  errors: ['faults'],
  time: ['clock'],
  run: ['start'],
  serve: ['start'],
  up: ['start'],
  down: ['stop'],
  background: ['detach'],
  daemon: ['detach'],
  man: ['docs'],
};

/** The known name that a word is a synonym of; undefined if it is not. */
export function synonymOf(written: string, known: readonly string[]): string | undefined {
  const word = written.toLowerCase();
  return Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word]?.find((name) => known.includes(name)) : undefined;
}

/** The end of a message: `: did you mean …?` with the nearest of `known`, else `otherwise`. */
export function didYouMean(written: string, known: Iterable<string>, otherwise = ''): string {
  const meant = nearestName(written, known);
  return meant === undefined ? otherwise : `: did you mean ${meant}?`;
}

/** Levenshtein distance; `limit` if the difference in length already reaches it. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 200) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          (current[column - 1] ?? 0) + 1,
          (previous[column] ?? 0) + 1,
          (previous[column - 1] ?? 0) + change,
        ),
      );
    }
    previous = current;
  }
  return previous[b.length] ?? limit;
}
