import type { Command } from 'commander';
import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { bashScript } from '../completion/bash.ts';
import { type Place, placesOf } from '../completion/command-tree.ts';
import { fishScript } from '../completion/fish.ts';
import { zshScript } from '../completion/zsh.ts';
import type { CommandResult } from '../output.ts';
import type { CommandContext } from '../program.ts';

const SCRIPTS: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/**
 * `gateway-sim completion`: the script that lets a shell complete the commands of this program.
 *
 * @throws GatewayError `usage` without a shell that there is a script for
 */
export function completion(program: Command): (call: CommandContext) => Promise<CommandResult> {
  return async ({ args: [shell = ''] }) => {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (!script) {
      const known = Object.keys(SCRIPTS).join(', ');
      throw new GatewayError(
        'usage',
        `${shell ? `there is no script for "${shell}"` : 'which shell?'} There are: ${known}`,
        {
          hint: hint`${command('completion', '--help')} tells where to put the script.`,
        },
      );
    }
    const text = script(placesOf(program)).trimEnd();
    return { json: { shell, script: `${text}\n` }, text };
  };
}
