import type { Command, Option } from 'commander';
import { type OptionSpec, START_OPTIONS } from '../../options/table.ts';
import { isDefaultCommand } from '../command.ts';

const KINDS = ['file', 'folder', 'command'] as const;
type Kind = (typeof KINDS)[number];

/** What a value can be: one of these words, a file, a folder, a command line; anything for null. */
export type Values = readonly string[] | Kind | null;

interface CompletedOption {
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
  positions: readonly Values[];
}

const HELP = { flags: ['-h', '--help'], description: 'what there is, with examples', values: undefined };

/** Every place of a command tree, the beginning first. */
export function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const here: Place = {
    path: path.join(' '),
    commands: command.commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: [...optionsOf(command), HELP],
    positions: command.registeredArguments.map((argument) => argument.argChoices ?? kindOf(argument.name())),
  };
  return [here, ...command.commands.flatMap((sub) => placesOf(sub, [...path, sub.name()]))];
}

/** A group takes the options of the command that its name alone stands for, too. */
function optionsOf({ commands, options, parent }: Command): CompletedOption[] {
  const standsFor = commands.find((sub) => parent && isDefaultCommand(sub.name(), sub.registeredArguments));
  const known = new Set(options.map(({ long }) => long));
  const more = standsFor?.options.filter(({ long }) => !known.has(long)) ?? [];
  return [...options, ...more].map((option) => ({
    flags: [option.short, option.long].filter((flag) => flag != null),
    description: option.description,
    values: option.required || option.optional ? valuesOf(option) : undefined,
  }));
}

function valuesOf(option: Option): Values {
  const specs: Record<string, OptionSpec> = START_OPTIONS;
  const choices = option.argChoices ?? specs[option.attributeName()]?.choices;
  return choices ?? kindOf(/<(.*)>/.exec(option.flags)?.[1]);
}

/** The placeholders that the help shows say what belongs there. */
function kindOf(placeholder: string | undefined): Values {
  return KINDS.find((kind) => kind === placeholder) ?? null;
}

/** What follows each option (`pay --delivery`) that takes a value, and what each argument (`completion 0`) can be. */
export function valuesOfAll(places: readonly Place[]): { key: string; values: Values }[] {
  return places.flatMap(({ path, options, positions }) =>
    [
      ...options.flatMap(({ flags, values }) => flags.map((flag) => ({ key: flag, values }))),
      ...positions.map((values, index) => ({ key: String(index), values })),
    ].flatMap(({ key, values }) => (values === undefined ? [] : [{ key: `${path} ${key}`.trim(), values }])),
  );
}
