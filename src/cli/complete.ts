import type { Command, Option } from 'commander';
import { type OptionSpec, START_OPTIONS } from '../options/table.ts';
import { isDefaultCommand } from './command.ts';

/** What a placeholder in the help says that belongs there: the shell completes it itself. */
const KINDS = ['file', 'folder', 'command'];

type Candidate = readonly [word: string, description?: string];

/**
 * What a shell is to offer for the last of these words, line by line: a word and its description, with a tab between;
 * or one line that begins with a colon, for what the shell knows best: `:file`, `:folder`, `:command`, or `:rest 2`
 * where the last two words are somebody else's command line.
 *
 * @param words behind the name of the program; the last one may be empty
 */
export function completionsOf(program: Command, words: readonly string[]): string[] {
  const { last, offered } = offeredBehind(program, words);
  return offered
    .filter(([word]) => isKind(word) || word.startsWith(last))
    .map((candidate) => candidate.join('\t'));
}

function offeredBehind(program: Command, words: readonly string[]): { last: string; offered: Candidate[] } {
  // Bash takes --option=value apart into three words.
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

/** What can stand here: commands, or values of the argument; options where there is neither. */
function argumentsOf(command: Command, position: number): Candidate[] {
  const commands = command.commands.map((sub): Candidate => [sub.name(), sub.description()]);
  if (commands.length) return commands;
  const argument = command.registeredArguments[position];
  const values = argument ? (argument.argChoices ?? kindOf(argument.name())) : [];
  return values.length ? values.map((value) => [value]) : flagsOf(command);
}

function flagsOf(command: Command): Candidate[] {
  const help = { short: '-h', long: '--help', description: 'what there is, with examples' };
  return [...optionsOf(command), help].flatMap(({ short, long, description }) =>
    [short, long].flatMap((flag): Candidate[] => (flag ? [[flag, description]] : [])),
  );
}

/** Where the words lead: to a command, behind an option that waits for its value, past so many arguments. */
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

/** A group takes the options of the command that its name alone stands for, too. */
function optionsOf({ commands, options, parent }: Command): Option[] {
  const standsFor = commands.find((sub) => parent && isDefaultCommand(sub.name(), sub.registeredArguments));
  const known = new Set(options.map(({ long }) => long));
  return [...options, ...(standsFor?.options.filter(({ long }) => !known.has(long)) ?? [])];
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
