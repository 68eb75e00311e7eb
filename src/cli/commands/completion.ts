import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { type ActionsOf, type Declarations, group } from '../command.ts';
import { bashScript, zshScript } from '../completion/bash-and-zsh.ts';
import { placesOf } from '../completion/command-tree.ts';
import { fishScript } from '../completion/fish.ts';

const WHERE = `
The script holds every command, so that nothing is run while you type. It completes "gateway-sim", which has to be
on the PATH by that name (npm install -g, or node_modules/.bin); what stands behind npx is completed by nobody.

  bash  gateway-sim completion bash >~/.local/share/bash-completion/completions/gateway-sim
        or in ~/.bashrc:  source <(gateway-sim completion bash)
  zsh   gateway-sim completion zsh >"\${fpath[1]}/_gateway-sim"
        or in ~/.zshrc, behind compinit:  source <(gateway-sim completion zsh)
  fish  gateway-sim completion fish >~/.config/fish/completions/gateway-sim.fish`;

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

const COMMANDS = {
  completion: {
    args: ['[shell]'],
    choices: SHELLS,
    summary: 'a script that completes commands and options in your shell',
    about: WHERE,
    examples: ['completion bash', 'completion zsh'],
  },
} as const satisfies Declarations;

type Actions = ActionsOf<typeof COMMANDS>;

const SCRIPTS = Object.entries({ bash: bashScript, zsh: zshScript, fish: fishScript } satisfies Record<
  (typeof SHELLS)[number],
  unknown
>);

const runCompletion: Actions['completion'] = async ({ args: [shell], program }) => {
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

export const completion = group({ commands: COMMANDS, actions: { completion: runCompletion } });
