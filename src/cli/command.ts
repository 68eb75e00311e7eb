import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../contract/duration.ts';
import type { Hint } from '../contract/hint.ts';
import type { Server, ServerChoice } from './connect.ts';
import type { Io } from './io.ts';
import type { CommandResult, Output } from './output.ts';

/*
 * A command is declared once, as data beside what it does: what commander offers, the types of its options, the names in
 * a query or a body and what a shell offers are all made of it.
 */

/** An option. Its key in the declaration is its name: `ipnUrl` is `--ipn-url`. */
export interface OptionDeclaration<Value = unknown> {
  /** Its flag where that is not made of the name. */
  flag?: string;
  /** What stands behind the flag in the help; a switch has none. */
  placeholder?: string;
  description: string;
  /** What it may be; help and shell offer them. */
  choices?: readonly string[];
  default?: string;
  required?: true;
  parse?(text: string, before: Value): Value;
}

export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>;

type ValueOf<Option> = Option extends OptionDeclaration<infer Value> ? Value : never;

/** The values of options: of one that was not given, and has no default, there is none. */
export type GivenValues<All> = { readonly [Name in keyof All]: ValueOf<All[Name]> };

type ArgumentValues<Args> = {
  readonly [Index in keyof Args]: Args[Index] extends `${string}...]`
    ? readonly string[]
    : Args[Index] extends `<${string}`
      ? string
      : string | undefined;
};

/** What a command is called with, whatever its arguments and options. */
export interface Context {
  /** All that stands on the command line itself, without what the environment says. */
  flags: Readonly<Record<string, unknown>>;
  choice: ServerChoice;
  /** Finds the server. @param dataDir where it runs, if that is known better than by the command line */
  connect: (dataDir?: string) => Promise<Server>;
  /** Finds the server and calls it. */
  call: Server['call'];
  io: Io;
  output: Output;
}

interface ContextOf<Args, Fields, Options> extends Context {
  args: ArgumentValues<Args>;
  fields: GivenValues<Fields>;
  options: GivenValues<Options>;
}

/** A command: what it is called with, and what it does. */
export interface Command<
  Args = readonly string[],
  Fields = OptionDeclarations,
  Options = OptionDeclarations,
> {
  summary: string;
  /** `<ref>` is required, `[ref]` is not, `[word...]` takes all that follow. */
  args?: Args;
  /** The values of the first argument, where they are a closed set. */
  choices?: readonly string[];
  /** Options that go into a query or a body under their own names. */
  fields?: Fields;
  options?: Options;
  /** Command lines without the name of the program. Default: the name of the command. */
  examples?: readonly string[];
  /** What the help says before the examples. */
  about?: string;
  usage?: string;
  /** It changes the emulator itself, so it goes to one that was named or found, never to one that is guessed. */
  neverGuess?: true;
  /** Said after a mistake on the command line. */
  advice?: Hint;
  /** An argument may begin with a dash: that is a mistake which the server explains. */
  allowUnknown?: true;
  /** Hands back what is to be shown, or the exit code of what it ran. */
  run(context: ContextOf<Args, Fields, Options>): Promise<CommandResult | number | undefined>;
}

/** The commands of a noun. */
export interface Group {
  summary: string;
  examples: readonly string[];
  commands: Readonly<Record<string, Command>>;
}

/** A command whose `run` gets the values of what is declared beside it. */
export function defineCommand<
  const Args extends readonly string[] = [],
  const Fields extends OptionDeclarations = Record<never, never>,
  const Options extends OptionDeclarations = Record<never, never>,
>(command: Command<Args, Fields, Options>): Command<Args, Fields, Options> {
  return command;
}

/** Whether the name of a group alone stands for this command of it. */
export function isDefaultCommand(name: string, args: readonly unknown[]): boolean {
  return ['list', 'show'].includes(name) && !args.length;
}

/** The filters of a list, and what pages it. */
export function pagedBy<Filters extends OptionDeclarations>(filters: Filters) {
  return {
    ...filters,
    limit: text('number', 'maximum number of them (default: 50)'),
    cursor: text('cursor', 'go on where the last list ended'),
  };
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

export function textOr(
  fallback: string,
  placeholder: string,
  description: string,
): OptionDeclaration<string> {
  return { placeholder, description, default: fallback };
}

export function choice<const Values extends readonly string[]>(
  placeholder: string,
  description: string,
  choices: Values,
): OptionDeclaration<Values[number] | undefined> {
  return { placeholder, description, choices };
}

/** A switch that counts how often it was given. */
export function counted(description: string): OptionDeclaration<number | undefined> {
  return { description, parse: (_, before = 0) => before + 1 };
}

/** A duration, in milliseconds. */
export function duration(description: string): OptionDeclaration<number | undefined> {
  return {
    placeholder: 'duration',
    description,
    parse: (written) => {
      const milliseconds = parseDuration(written);
      if (milliseconds !== undefined) return milliseconds;
      throw new InvalidArgumentError('Durations are written as 500ms, 2s, 1m or 1h.');
    },
  };
}

/** A repeated flag adds to the list; a text with commas is taken apart, like that of a variable. */
export function list(
  placeholder: string,
  description: string,
): OptionDeclaration<readonly string[] | undefined> {
  return { placeholder, description, parse: (written, before = []) => [...before, ...written.split(',')] };
}

/** A repeated flag adds to the list. What is in it may go beyond the choices, which the shell offers. */
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
      const [name, value] = assignment(written, 'Fields are set as name=value, such as data.charge=1.');
      const list = name.endsWith('[]') && [before[name] ?? [], value].flat();
      return { ...before, [name]: list || value };
    },
  };
}

/** A name and what it stands for, such as `stock=./stock.sh {identifier}`; repeatable. */
export function named(
  placeholder: string,
  description: string,
): OptionDeclaration<Readonly<Record<string, string>> | undefined> {
  return {
    placeholder: `name=${placeholder}`,
    description,
    parse: (written, before = {}) => {
      const [name, value] = assignment(written, `It is written as name=<${placeholder}>.`);
      return { ...before, [name]: value };
    },
  };
}

function assignment(written: string, advice: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(written) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new InvalidArgumentError(advice);
}
