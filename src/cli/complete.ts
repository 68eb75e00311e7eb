import type { Command, Option } from 'commander';
import { type OptionSpec, START_OPTIONS } from '../options/table.ts';
import { isDefaultCommand } from './command.ts';

/** Placeholders whose values the shell completes itself. */
const KINDS = ['file', 'folder', 'command'];

type Candidate = readonly [word: string, description?: string];

/**
 * The completions of the last word, one line each: a word and its description, separated by a tab. A single line that
 * starts with a colon leaves completion to the shell: `:file`, `:folder`, `:command`, or `:rest 2` if the last two words
 * are the command line of another program.
 *
 * @param words the words after the name of the program; the last one may be empty
 */
export function completionsOf(program: Command, words: readonly string[]): string[] {
  const { last, offered } = offeredBehind(program, words);
  return offered
    .filter(([word]) => isKind(word) || word.startsWith(last))
    .map((candidate) => candidate.join('\t'));
}

function offeredBehind(program: Command, words: readonly string[]): { last: string; offered: Candidate[] } {
  // Bash splits --option=value into three words.
  const before = words.filter((word) => word !== '=');
  const last = words.at(-1) === '=' ? '' : (before.pop() ?? '');
  const rest = before.indexOf('--');
  if (rest >= 0) return { last, offered: [[`:rest ${before.length - rest}`]] };
  const { command, option, position } = walk(program, before);
  const [name = ''] = /^--[^=]+=/.exec(last) ?? [];
  const joined = optionsOf(command).find(({ long }) => `${long}=` === name);
  if (joined)
    return { last, offered: valuesOf(joined).map((value) => [isKind(value) ? value : name + value]) };
  if (option) return { last, offered: valuesOf(option).map((value) => [value]) };
  return { last, offered: last.startsWith('-') ? flagsOf(command) : argumentsOf(command, position) };
}

/** Completions of an argument: commands or values, or options if there are neither. */
function argumentsOf(command: Command, position: number): Candidate[] {
  const commands = command.commands.map((sub): Candidate => [sub.name(), sub.description()]);
  if (commands.length) return commands;
  const argument = command.registeredArguments[position];
  const values = argument ? (argument.argChoices ?? kindOf(argument.name())) : [];
  return values.length ? values.map((value) => [value]) : flagsOf(command);
}

function flagsOf(command: Command): Candidate[] {
  const help = { short: '-h', long: '--help', description: 'show help' };
  return [...optionsOf(command), help].flatMap(({ short, long, description }) =>
    [short, long].flatMap((flag): Candidate[] => (flag ? [[flag, description]] : [])),
  );
}

/** The command that the words name, the option that still needs a value, and the position of the next argument. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let option: Option | undefined;
  let position = 0;
  for (const word of words) {
    if (option) {
      option = undefined;
      continue;
    }
    option = optionsOf(command).find((one) => takesValue(one) && (one.long === word || one.short === word));
    const sub = command.commands.find((one) => one.name() === word);
    if (sub) command = sub;
    else if (!word.startsWith('-')) position++;
  }
  return { command, option, position };
}

const takesValue = ({ required, optional }: Option) => required || optional;

/** A group also accepts the options of its default command. */
function optionsOf({ commands, options, parent }: Command): Option[] {
  const byDefault = commands.find((sub) => parent && isDefaultCommand(sub.name(), sub.registeredArguments));
  const known = new Set(options.map(({ long }) => long));
  return [...options, ...(byDefault?.options.filter(({ long }) => !known.has(long)) ?? [])];
}

function valuesOf(option: Option): readonly string[] {
  const specs: Readonly<Record<string, OptionSpec>> = START_OPTIONS;
  const choices = option.argChoices ?? specs[option.attributeName()]?.choices;
  return choices ?? kindOf(/<(.*)>/.exec(option.flags)?.[1]);
}

const isKind = (value: string) => value.startsWith(':');

function kindOf(placeholder: string | undefined): string[] {
  return KINDS.filter((kind) => kind === placeholder).map((kind) => `:${kind}`);
}
