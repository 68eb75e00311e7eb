import type { Command, Option } from 'commander';
import { type OptionSpec, START_OPTIONS } from '../../options.ts';

/** What a value can be: one of these words, a file, a folder, a command line; anything for null. */
export type Values = readonly string[] | 'file' | 'folder' | 'command' | null;

/** An option as a shell offers it. */
export interface CompletedOption {
  /** `--port`, `-h`: every way to write it. */
  flags: readonly string[];
  description: string;
  /** What follows it; undefined when nothing does. */
  values: Values | undefined;
}

/** Where on the command line one can be, and what can be typed there. */
export interface Place {
  /** The commands that lead here, such as `ipn resend`; empty for the beginning. */
  path: string;
  commands: readonly { name: string; description: string }[];
  options: readonly CompletedOption[];
  /** The positional arguments in their order. */
  positions: readonly Values[];
}

const HELP: CompletedOption = {
  flags: ['-h', '--help'],
  description: 'what there is, with examples',
  values: undefined,
};

/** Every place of a command tree, the beginning first. */
export function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const commands = command.commands.map((sub) => ({ name: sub.name(), description: sub.description() }));
  const here: Place = {
    path: path.join(' '),
    commands,
    options: [...optionsOf(command), HELP],
    positions: command.registeredArguments.map((argument) => argument.argChoices ?? kindOf(argument.name())),
  };
  return [here, ...command.commands.flatMap((sub) => placesOf(sub, [...path, sub.name()]))];
}

/** A group takes the options of the command that it stands for when none is named: its first, `list` or `show`. */
function optionsOf(command: Command): CompletedOption[] {
  const standsFor = command.parent ? command.commands.find((sub) => isDefault(sub)) : undefined;
  const all = [...command.options, ...(standsFor?.options ?? [])];
  const byFlag = new Map(all.toReversed().map((option) => [option.long ?? option.flags, option]));
  return [...byFlag.values()].toReversed().map((option) => ({
    flags: [option.short, option.long].filter((flag) => flag != null),
    description: option.description,
    values: option.required || option.optional ? valuesOf(option) : undefined,
  }));
}

function isDefault(command: Command): boolean {
  return (
    ['list', 'show'].includes(command.name()) && !command.registeredArguments.some(({ required }) => required)
  );
}

function valuesOf(option: Option): Values {
  const specs: Record<string, OptionSpec> = START_OPTIONS;
  return (
    option.argChoices ?? specs[option.attributeName()]?.choices ?? kindOf(/<(.*)>/.exec(option.flags)?.[1])
  );
}

/** The placeholders that the help shows say what belongs there. */
function kindOf(placeholder: string | undefined): Values {
  if (placeholder === 'file' || placeholder === 'folder' || placeholder === 'command') return placeholder;
  return null;
}

/** The values of all options (`pay --delivery`) and positions (`completion 0`), those that are alike together. */
export function valueTable(places: readonly Place[]): { values: NonNullable<Values>; keys: string[] }[] {
  const table = new Map<string, { values: NonNullable<Values>; keys: string[] }>();
  const put = (key: string, values: Values | undefined) => {
    if (!values) return;
    const id = String(values);
    const row = table.get(id) ?? { values, keys: [] };
    row.keys.push(key.trim());
    table.set(id, row);
  };
  for (const { path, options, positions } of places) {
    for (const { flags, values } of options) for (const flag of flags) put(`${path} ${flag}`, values);
    for (const [index, values] of positions.entries()) put(`${path} ${index}`, values);
  }
  return [...table.values()];
}

/** A text as one word of bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
