import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import type { Actions, SHELLS } from '../commands/completion.ts';
import { bashScript, zshScript } from '../completion/bash-and-zsh.ts';
import { placesOf } from '../completion/command-tree.ts';
import { fishScript } from '../completion/fish.ts';

const SCRIPTS = Object.entries({ bash: bashScript, zsh: zshScript, fish: fishScript } satisfies Record<
  (typeof SHELLS)[number],
  unknown
>);

export const completion: Actions['completion'] = async ({ args: [shell], program }) => {
  const [, script] = SCRIPTS.find(([name]) => name === shell) ?? [];
  if (!script) {
    const problem = shell ? `there is no script for "${shell}"` : 'which shell?';
    throw new GatewayError('usage', `${problem} There are: ${SCRIPTS.map(([name]) => name).join(', ')}`, {
      hint: hint`${command('completion', '--help')} tells where to put the script.`,
    });
  }
  const text = script(placesOf(program)).trimEnd();
  return { json: { shell, script: `${text}\n` }, text };
};
