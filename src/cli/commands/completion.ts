import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import { defineCommand } from '../command.ts';

/*
 * The scripts ask the program itself: "gateway-sim __complete <words>" answers as `completionsOf` says.
 */

/** For bash 3.2 (which macOS has) and newer; it shows no descriptions. */
const BASH = `# What bash offers behind "gateway-sim"; made by: gateway-sim completion bash
_gateway_sim() {
  local IFS=$'\\n' cur=\${COMP_WORDS[COMP_CWORD]} offered
  if [[ $cur == '=' ]]; then cur=; fi
  offered=($("$1" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  case \${offered[0]} in
    :folder)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -d -- "$cur")) ;;
    :command | ':rest 1') COMPREPLY=($(compgen -c -- "$cur")) ;;
    :*)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "\${offered[*]%%$'\\t'*}" -- "$cur")) ;;
  esac
}
complete -F _gateway_sim gateway-sim
`;

/** To be sourced, or to lie as `_gateway-sim` in a folder of fpath. */
const ZSH = `#compdef gateway-sim
# What zsh offers behind "gateway-sim"; made by: gateway-sim completion zsh
_gateway-sim() {
  local -a offered
  local -i count
  offered=("\${(@f)$($words[1] __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $offered[1] in
    :file) compset -P '--*='; _files ;;
    :folder) compset -P '--*='; _files -/ ;;
    :command) _command_names -e ;;
    :rest*)
      count=\${offered[1]#:rest }
      words=("\${(@)words[CURRENT-count+1,-1]}")
      CURRENT=$count
      _normal ;;
    ?*)
      offered=("\${(@)offered//:/\\\\:}")
      offered=("\${(@)offered/$'\\t'/:}")
      _describe gateway-sim offered ;;
  esac
}
# Loaded from fpath, this file is the function itself, called for the first time.
if [[ $funcstack[1] == _gateway-sim ]]; then
  _gateway-sim "$@"
else
  compdef _gateway-sim gateway-sim
fi
`;

const FISH = `# What fish offers behind "gateway-sim"; made by: gateway-sim completion fish
function __gateway_sim
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l offered ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    switch "$offered[1]"
        case :folder
            __fish_complete_directories "$current"
        case :command
            __fish_complete_command
        case ':*'
            __fish_complete_path "$current"
        case '*'
            printf '%s\\n' $offered
    end
end
complete -c gateway-sim -e
complete -c gateway-sim -f -a '(__gateway_sim)'
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH };
const SHELLS = namesOf(SCRIPTS);

const WHERE = `
The script asks gateway-sim while you type. It completes "gateway-sim", which has to be on the PATH by that name (npm
install -g, or node_modules/.bin); npx commands cannot be completed.

  bash  gateway-sim completion bash >~/.local/share/bash-completion/completions/gateway-sim
        or in ~/.bashrc:  source <(gateway-sim completion bash)
  zsh   gateway-sim completion zsh >"\${fpath[1]}/_gateway-sim"
        or in ~/.zshrc, behind compinit:  source <(gateway-sim completion zsh)
  fish  gateway-sim completion fish >~/.config/fish/completions/gateway-sim.fish`;

export const completion = defineCommand({
  args: ['[shell]'],
  choices: SHELLS,
  summary: 'a script that completes commands and options in your shell',
  about: WHERE,
  examples: ['completion bash', 'completion zsh'],
  run: async ({ args: [given] }) => {
    const shell = SHELLS.find((name) => name === given);
    if (shell) return { json: { shell, script: SCRIPTS[shell] }, text: SCRIPTS[shell].trimEnd() };
    const problem = given === undefined ? 'completion needs the name of a shell' : `no script for "${given}"`;
    throw new GatewayError('usage', `${problem}. Available: ${SHELLS.join(', ')}`, {
      hint: hint`${command('completion', '--help')} tells where to put the script.`,
    });
  },
});
