import { type Place, type Values, valuesOfAll } from './command-tree.ts';

/*
 * Bash and zsh read the same tables and walk the command line by the same functions; how each gets at the words and
 * shows what fits is its own. All of it is in the script, so that nothing runs while somebody types.
 */

/** For bash 3.2 (which macOS has) and newer. It takes --option=value apart, into three words, and shows no descriptions. */
const BASH = `# What bash offers behind "gateway-sim"; made by: gateway-sim completion bash

_gateway_sim() {
  local cur=\${COMP_WORDS[COMP_CWORD]} where option position rest i
  local words=() commands options names valued
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ \${COMP_WORDS[i]} != '=' ]]; then words+=("\${COMP_WORDS[i]}"); fi
  done
  if [[ $cur == '=' ]]; then cur=; fi
  _gateway_sim_walk "\${words[@]}"
  if ((rest > 1)); then
    _gateway_sim_any_file
  elif ((rest == 1)); then
    _gateway_sim_any_command
  else
    _gateway_sim_offer "$cur"
  fi
}

_gateway_sim_words() { COMPREPLY=($(compgen -W "\${*%%:*}" -- "$cur")); }
_gateway_sim_commands() { _gateway_sim_words "\${commands[@]}"; }
_gateway_sim_options() { _gateway_sim_words "\${options[@]}"; }
_gateway_sim_any_command() { COMPREPLY=($(compgen -c -- "$cur")); }
_gateway_sim_any_file() { _gateway_sim_paths -f; }
_gateway_sim_any_folder() { _gateway_sim_paths -d; }
_gateway_sim_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$cur"))
}
`;

/** To be sourced, or to lie as `_gateway-sim` in a folder of fpath. */
const ZSH = `#compdef gateway-sim
# What zsh offers behind "gateway-sim"; made by: gateway-sim completion zsh

_gateway-sim() {
  local where option names valued
  local -i position rest
  local -a commands options
  _gateway_sim_walk "\${(@)words[2,CURRENT-1]}"
  if ((rest)); then
    words=("\${(@)words[CURRENT-rest+1,-1]}")
    CURRENT=$rest
    _normal
    return
  fi
  if [[ -z $option && $words[CURRENT] == --*=* ]]; then
    option=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  _gateway_sim_offer "$words[CURRENT]"
}

_gateway_sim_words() { compadd -- "$@" }
_gateway_sim_commands() { _describe command commands }
_gateway_sim_options() { _describe -o option options }
_gateway_sim_any_command() { _command_names -e }
_gateway_sim_any_file() { _files }
_gateway_sim_any_folder() { _files -/ }
`;

const COMMON = `
# Given the words before the one to complete: at which command one is, which option waits for its value, how many
# arguments there were, and how many words there are behind --, where the command line of somebody else begins.
_gateway_sim_walk() {
  where= option= position=0 rest=0
  _gateway_sim_place ''
  while (($#)); do
    if [[ $1 == '--' ]]; then
      rest=$#
      return
    elif [[ $valued == *" $1 "* ]]; then
      if (($# == 1)); then option=$1; else shift; fi
    elif [[ $names == *" $1 "* ]]; then
      where="\${where:+$where }$1"
      _gateway_sim_place "$where"
    elif [[ $1 != -* ]]; then
      position=$((position + 1))
    fi
    shift
  done
}

_gateway_sim_offer() {
  local at=\${where:+$where }
  if [[ -n $option ]]; then
    _gateway_sim_values "$at$option"
  elif [[ $1 == -* ]]; then
    _gateway_sim_options
  elif ((\${#commands[@]})); then
    _gateway_sim_commands
  else
    _gateway_sim_values "$at$position" || _gateway_sim_options
  fi
}
`;

export function bashScript(places: readonly Place[]): string {
  return `${BASH}${COMMON}${tables(places)}
complete -F _gateway_sim gateway-sim
`;
}

export function zshScript(places: readonly Place[]): string {
  return `${ZSH}${COMMON}${tables(places)}
# Loaded from fpath, this file is the function itself, called for the first time.
if [[ $funcstack[1] == _gateway-sim ]]; then
  _gateway-sim "$@"
else
  compdef _gateway-sim gateway-sim
fi
`;
}

function tables(places: readonly Place[]): string {
  return `
_gateway_sim_place() {
  case $1 in
${places.map(placeCase).join('\n')}
  esac
}

_gateway_sim_values() {
  case $1 in
${valuesOfAll(places)
  .flatMap(({ key, values }) => (values ? [`    ${quoted(key)}) ${offer(values)} ;;`] : []))
  .join('\n')}
    *) return 1 ;;
  esac
}
`;
}

function placeCase({ path, commands, options }: Place): string {
  const list = (words: readonly string[]) => words.map((word) => `\n        ${quoted(word)}`).join('');
  const line = (words: readonly string[]) => quoted(['', ...words, ''].join(' '));
  const valued = options.filter(({ values }) => values !== undefined).flatMap(({ flags }) => flags);
  return `    ${quoted(path)})
      commands=(${list(commands.map(({ name, description }) => `${name}:${description}`))})
      options=(${list(options.flatMap(({ flags, description }) => flags.map((flag) => `${flag}:${description}`)))})
      names=${line(commands.map(({ name }) => name))}
      valued=${line(valued)}
      ;;`;
}

function offer(values: NonNullable<Values>): string {
  return typeof values === 'string'
    ? `_gateway_sim_any_${values}`
    : `_gateway_sim_words ${values.map(quoted).join(' ')}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
