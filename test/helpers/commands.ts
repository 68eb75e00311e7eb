import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/run.ts';

/** The command line with all of its commands. */
export const PROGRAM = await buildProgram();

/** For example `gateway-sim ipn resend`. */
export function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

/** A command and all its subcommands, groups included. */
export function withCommandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withCommandsBelow)];
}

/** The output of `--help` for a command. @param width of the terminal, in columns */
export function helpOf(command: Command, width = 80): string {
  let text = '';
  command.configureOutput({
    getOutHelpWidth: () => width,
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}
