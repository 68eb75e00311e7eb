import type { Command, Option } from 'commander';
import { command, hint, usage } from '../../contract/error.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import { type OptionSpec, START_OPTIONS } from '../../options/start-options.ts';
import { defineCommand, isDefaultCommand } from '../command.ts';
import bash from '../completion/gateway-sim.bash?text';
import fish from '../completion/gateway-sim.fish?text';
import zsh from '../completion/gateway-sim.zsh?text';

/*
 * The scripts in ../completion call "gateway-sim __complete <words>". For its output, see `completionsOf`.
 */

const SCRIPTS = { bash, zsh, fish };
const SHELLS = namesOf(SCRIPTS);

const WHERE = `
The script calls gateway-sim as you type, so "gateway-sim" must be on the PATH (npm install -g, or node_modules/.bin).
npx commands cannot be completed.

  bash  gateway-sim completion bash >~/.local/share/bash-completion/completions/gateway-sim
        or in ~/.bashrc:  source <(gateway-sim completion bash)
  zsh   gateway-sim completion zsh >"\${fpath[1]}/_gateway-sim"
        or in ~/.zshrc, after compinit:  source <(gateway-sim completion zsh)
  fish  gateway-sim completion fish >~/.config/fish/completions/gateway-sim.fish`;

export const completion = defineCommand({
  args: ['[shell]'],
  choices: SHELLS,
  summary: 'print a script that completes commands and options in your shell',
  about: WHERE,
  examples: ['completion bash', 'completion zsh'],
  run: async ({ args: [given] }) => {
    const shell = SHELLS.find((name) => name === given);
    if (shell) return { json: { shell, script: SCRIPTS[shell] }, text: SCRIPTS[shell].trimEnd() };
    const problem =
      given === undefined ? 'completion requires the name of a shell' : `no script for "${given}"`;
    throw usage(`${problem}. Available: ${SHELLS.join(', ')}`, {
      hint: hint`To install the script, see: ${command('completion', '--help')}`,
    });
  },
});

/**
 * The completions of the last word, one line each: a word and its description, separated by a tab. A single line that
 * starts with a colon leaves completion to the shell: `:file`, `:folder`, `:command`, or `:rest 2` if the last two words
 * are the command line of another program.
 *
 * @param words the words after the name of the program; the last one may be empty
 */
export function completionsOf(program: Command, words: readonly string[]): string[] {
  // Bash splits --option=value into three words.
  const before = words.filter((word) => word !== '=');
  const last = words.at(-1) === '=' ? '' : (before.pop() ?? '');
  const rest = before.indexOf('--');
  if (rest >= 0) return [`:rest ${before.length - rest}`];
  let command = program;
  /** An option that still needs its value. */
  let option: Option | undefined;
  let position = 0;
  for (const word of before) {
    if (option) {
      option = undefined;
      continue;
    }
    option = optionsOf(command).find(
      ({ long, short, required, optional }) => (required || optional) && (long === word || short === word),
    );
    const sub = command.commands.find((one) => one.name() === word);
    if (sub) command = sub;
    else if (!word.startsWith('-')) position++;
  }
  const [name = ''] = /^--[^=]+=/.exec(last) ?? [];
  const joined = optionsOf(command).find(({ long }) => `${long}=` === name);
  let offered: string[];
  if (joined) offered = valuesOf(joined).map((value) => (value.startsWith(':') ? value : name + value));
  else if (option) offered = valuesOf(option);
  else offered = last.startsWith('-') ? flagsOf(command) : argumentsOf(command, position);
  return offered.filter((line) => line.startsWith(':') || line.startsWith(last));
}

/** A group also accepts the options of its default command. */
function optionsOf({ commands, options, parent }: Command): Option[] {
  const byDefault = commands.find((sub) => parent && isDefaultCommand(sub.name(), sub.registeredArguments));
  const known = new Set(options.map(({ long }) => long));
  return [...options, ...(byDefault?.options.filter(({ long }) => !known.has(long)) ?? [])];
}

function flagsOf(command: Command): string[] {
  const help = { short: '-h', long: '--help', description: 'show help' };
  return [...optionsOf(command), help].flatMap(({ short, long, description }) =>
    [short, long].flatMap((flag) => (flag ? [`${flag}\t${description}`] : [])),
  );
}

/** Completions of an argument: commands or values, or options if there are neither. */
function argumentsOf(command: Command, position: number): string[] {
  const commands = command.commands.map((sub) => `${sub.name()}\t${sub.description()}`);
  if (commands.length) return commands;
  const argument = command.registeredArguments[position];
  const values = argument ? (argument.argChoices ?? kindOf(argument.name())) : [];
  return values.length ? values : flagsOf(command);
}

function valuesOf(option: Option): string[] {
  const specs: Readonly<Record<string, OptionSpec>> = START_OPTIONS;
  const choices = option.argChoices ?? specs[option.attributeName()]?.choices;
  return choices ? [...choices] : kindOf(/<(.*)>/.exec(option.flags)?.[1]);
}

/** The kinds of values that the shell completes itself. */
function kindOf(placeholder = ''): string[] {
  return ['file', 'folder', 'command'].includes(placeholder) ? [`:${placeholder}`] : [];
}
