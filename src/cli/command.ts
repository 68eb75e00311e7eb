import { InvalidArgumentError } from 'commander';
import type { Hint } from '../contract/error.ts';
import { PAGING_FIELDS, phraseOf, type RequestField } from '../contract/request-fields.ts';
import { parseDuration } from '../contract/time.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { SEEN_IN_PS } from '../options/resolve.ts';
import { START_OPTIONS } from '../options/start-options.ts';
import type { Server, ServerChoice } from './connect.ts';
import type { Io } from './io.ts';
import type { CommandResult, Output } from './output.ts';

/*
 * Each command is declared once, as data. The declaration defines its command line, the types of its options, and the
 * names in a query or body.
 */

/** An option. Its key in the declaration is its name: `ipnUrl` is `--ipn-url`. */
export interface OptionDeclaration<Value = unknown> {
  /** Its flag, if not derived from the name. */
  flag?: string;
  /** The value's name in the help, after the flag; a switch has none. */
  placeholder?: string;
  description: string;
  /** Allowed values, shown in the help. */
  choices?: readonly string[];
  default?: string;
  required?: true;
  /** The heading above it in the help. */
  group?: string;
  parse?(text: string, before: Value): Value;
}

export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>;

/** The options of every command. Some are also options of `start`, where they mean the emulator that it starts. */
export const COMMON_OPTIONS: OptionDeclarations = {
  url: { placeholder: 'url', description: 'address of the running emulator' },
  dataDir: {
    placeholder: 'folder',
    description: `${START_OPTIONS.dataDir.description} (default: ${START_OPTIONS.dataDir.default})`,
  },
  tlsCa: {
    placeholder: 'file',
    description:
      'certificate to trust for an HTTPS emulator (not needed if the emulator is found through its data folder)',
  },
  controlToken: {
    placeholder: 'token',
    description: `${START_OPTIONS.controlToken.description}; ${SEEN_IN_PS}`,
  },
  json: { description: 'print JSON on stdout: one document, or one per line while the command runs' },
  color: { flag: '--no-color', description: 'disable colours' },
};

type ValueOf<Option> = Option extends OptionDeclaration<infer Value> ? Value : never;

/** The values of options. An omitted option without a default has no value. */
export type GivenValues<All> = { readonly [Name in keyof All]: ValueOf<All[Name]> };

type ArgumentValues<Args> = {
  readonly [Index in keyof Args]: Args[Index] extends `${string}...]`
    ? readonly string[]
    : Args[Index] extends `<${string}`
      ? string
      : string | undefined;
};

/** What every command gets, in addition to its arguments and options. */
export interface Context {
  /** The values on the command line itself, without the environment. */
  flags: Readonly<Record<string, unknown>>;
  choice: ServerChoice;
  /** Finds the server. @param dataDir its folder, to override the command line */
  connect: (dataDir?: string) => Promise<Server>;
  call: Server['call'];
  io: Io;
  output: Output;
}

interface ContextOf<Args, Fields, Options> extends Context {
  args: ArgumentValues<Args>;
  fields: GivenValues<Fields>;
  options: GivenValues<Options>;
}

/** The declaration of a command. */
export interface Command<
  Args = readonly string[],
  Fields = OptionDeclarations,
  Options = OptionDeclarations,
> {
  summary: string;
  /** `<ref>` is required, `[ref]` is optional, `[word...]` accepts all remaining words. */
  args?: Args;
  /** Options that are passed on in a query, a body or a call under their own names. */
  fields?: Fields;
  options?: Options;
  /** Command lines without the name of the program. Default: the name of the command. */
  examples?: readonly string[];
  /** Help text before the examples. */
  about?: string;
  usage?: string;
  /** Shown after a usage error. */
  fix?: Hint;
  /** Whether an argument may start with a dash. The server explains the error. */
  allowUnknown?: true;
  /** Returns the result to print, or the exit code of the program that it ran. */
  run(context: ContextOf<Args, Fields, Options>): Promise<CommandResult | number | undefined>;
}

/** Commands that share a noun, such as `payments`. */
export interface Group {
  summary: string;
  examples: readonly string[];
  commands: Readonly<Record<string, Command>>;
}

/** Derives the types of `run`'s arguments from the declaration. */
export function defineCommand<
  const Args extends readonly string[] = [],
  const Fields extends OptionDeclarations = Record<never, never>,
  const Options extends OptionDeclarations = Record<never, never>,
>(command: Command<Args, Fields, Options>): Command<Args, Fields, Options> {
  return command;
}

export function flag(description: string): OptionDeclaration<true | undefined> {
  return { description };
}

export function text(placeholder: string, description: string): OptionDeclaration<string | undefined> {
  return { placeholder, description };
}

export function requiredText(placeholder: string, description: string): OptionDeclaration<string> {
  return { placeholder, description, required: true };
}

/** Options for the fields of a request. */
export function textsOf<Name extends string>(
  fields: Readonly<Record<Name, RequestField>>,
): Record<Name, OptionDeclaration<string | undefined>> {
  const options = namesOf(fields).map((name) => {
    const { placeholder, fallback } = fields[name];
    return [name, { ...text(placeholder, phraseOf(fields[name])), ...(fallback && { default: fallback }) }];
  });
  return Object.fromEntries(options);
}

/** The paging options of a list. */
export const PAGING = textsOf(PAGING_FIELDS);

export function choice<const Values extends readonly string[]>(
  placeholder: string,
  description: string,
  choices: Values,
): OptionDeclaration<Values[number] | undefined> {
  return { placeholder, description, choices };
}

/** A duration, in milliseconds. */
export function duration(description: string): OptionDeclaration<number | undefined> {
  return {
    placeholder: 'duration',
    description,
    parse: (written) => {
      const milliseconds = parseDuration(written);
      if (milliseconds !== undefined) return milliseconds;
      throw new InvalidArgumentError('Use a duration such as 500ms, 2s, 1m or 1h.');
    },
  };
}

/** A repeated flag adds to the list. Text is split at commas, as in variables. */
export function list(
  placeholder: string,
  description: string,
): OptionDeclaration<readonly string[] | undefined> {
  return { placeholder, description, parse: (written, before = []) => [...before, ...written.split(',')] };
}

/** A repeated flag adds to the list. The choices are only shown in the help; other values are allowed. */
export function repeated(
  placeholder: string,
  description: string,
  choices?: readonly string[],
): OptionDeclaration<string[] | undefined> {
  return {
    placeholder,
    description,
    ...(choices && { choices }),
    parse: (written, before = []) => [...before, written],
  };
}

/** Fields such as `data.charge=1`; repeatable. `signature[]=x` adds to a list. */
export function assignments(
  description: string,
): OptionDeclaration<Readonly<Record<string, string | string[]>> | undefined> {
  return {
    placeholder: 'field=value',
    description,
    parse: (written, before = {}) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(written) ?? [];
      if (name === undefined || value === undefined)
        throw new InvalidArgumentError('Use name=value, such as data.charge=1.');
      const list = name.endsWith('[]') && [before[name] ?? [], value].flat();
      return { ...before, [name]: list || value };
    },
  };
}
