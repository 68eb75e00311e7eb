import { Argument, type Command } from 'commander';
import { option } from '../../contract/hint.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';

const WHERE = `
The script holds every command, so that nothing is run while you type. It completes "gateway-sim", which has to be
on the PATH by that name (npm install -g, or node_modules/.bin); what stands behind npx is completed by nobody.

  bash  gateway-sim completion bash >~/.local/share/bash-completion/completions/gateway-sim
        or in ~/.bashrc:  source <(gateway-sim completion bash)
  zsh   gateway-sim completion zsh >"\${fpath[1]}/_gateway-sim"
        or in ~/.zshrc, behind compinit:  source <(gateway-sim completion zsh)
  fish  gateway-sim completion fish >~/.config/fish/completions/gateway-sim.fish`;

/** The commands that set things up and need no running emulator: `init`, `openapi`, `completion`. */
export function addSetup(add: Add, program: Command): void {
  const setup = async () => import('../actions/setup.ts');
  add(
    program,
    'init',
    'write a commented configuration and fixtures to edit',
    async () => (await setup()).init,
  )
    .option('--dir <folder>', 'folder to write them to (default: this one)')
    .option('--force', 'write over files that are there')
    .addHelpText(...examples('gateway-sim init', 'gateway-sim init --dir test/gateway'));
  add(
    program,
    'openapi',
    'the OpenAPI document of service and control API',
    async () => (await setup()).openapi,
  )
    .option('--out <file>', 'write it to this file')
    .option('--url <url>', 'address of the emulator that stands in it (default: http://127.0.0.1:4477)')
    .addHelpText(...examples('gateway-sim openapi --out openapi.json'));
  add(program, 'completion', 'a script that completes commands and options in your shell', async () =>
    (await import('../actions/completion.ts')).completion(program),
  )
    .addArgument(new Argument('[shell]', 'of which shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', WHERE)
    .addHelpText(...examples('gateway-sim completion bash', 'gateway-sim completion zsh'));
}
