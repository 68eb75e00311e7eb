import { type ActionsOf, type Declarations, group } from '../command.ts';

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
export type Actions = ActionsOf<typeof COMMANDS>;

export const completion = group({ commands: COMMANDS, load: () => import('../actions/completion.ts') });
