import type { Command, Help } from 'commander';
import { buildProgram } from '../../src/cli/program.ts';

/** The command line as it is declared. */
export const PROGRAM = buildProgram();

/** `gateway-sim ipn resend` */
export function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

/** A command and all below it, groups included. */
export function withCommandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withCommandsBelow)];
}

/** What `--help` of a command prints. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

const WIDTH = 110;

/** The command reference of the README: every command that does something, with its arguments and options. */
export function commandReference(): string {
  const helper = PROGRAM.createHelp();
  helper.prepareContext({ helpWidth: WIDTH });
  const entries = withCommandsBelow(PROGRAM)
    .filter(({ commands }) => commands.length === 0)
    .map((command) => entry(command, helper));
  return `Each command with its arguments and options, as its \`--help\` tells them; the examples stand there. What [all commands](#commands) take is left out.

<details><summary>All commands</summary>

\`\`\`text
${entries.join('\n\n')}
\`\`\`

</details>`;
}

function entry(command: Command, helper: Help): string {
  const usage = `${fullName(command)} ${command.usage()}`.trim();
  const options = helper.visibleOptions(command).filter(({ long }) => long !== '--help');
  const width = Math.max(0, ...options.map((option) => helper.optionTerm(option).length));
  return [
    `# ${command.description()}`,
    usage,
    ...options.map((option) =>
      helper.formatItem(helper.optionTerm(option), width, helper.optionDescription(option), helper),
    ),
  ]
    .join('\n')
    .replace(/ +$/gm, '');
}
