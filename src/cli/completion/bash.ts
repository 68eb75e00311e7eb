import { offers, type Place, quoted, valueTable } from './command-tree.ts';

/**
 * The completion script of bash, for 3.2 (which macOS has) and newer. It holds the whole tree, so that nothing has
 * to be run while somebody types; bash shows no descriptions.
 */
export function bashScript(places: readonly Place[]): string {
  return `# What bash offers behind "gateway-sim"; made by: gateway-sim completion bash

_gateway_sim() {
  local cur=\${COMP_WORDS[COMP_CWORD]} where= option= rest=0 position=0 i=1 word
  local commands options valued
  COMPREPLY=()
  _gateway_sim_place ''
  while ((i < COMP_CWORD)); do
    word=\${COMP_WORDS[i]}
    i=$((i + 1))
    case $word in
      --) rest=$((COMP_CWORD - i + 1)) && break ;;
      -*)
        if [[ " $valued " == *" $word "* ]]; then
          # Bash takes --option=value apart, into three words.
          if [[ \${COMP_WORDS[i]} == '=' ]]; then
            if ((i == COMP_CWORD)); then cur=; else i=$((i + 1)); fi
          fi
          if ((i >= COMP_CWORD)); then option=$word; fi
          i=$((i + 1))
        fi
        ;;
      *)
        if [[ " $commands " == *" $word "* ]]; then
          where="\${where:+$where }$word"
          _gateway_sim_place "$where"
        else
          position=$((position + 1))
        fi
        ;;
    esac
  done
  if ((rest > 1)); then
    _gateway_sim_files -f
  elif ((rest == 1)); then
    COMPREPLY=($(compgen -c -- "$cur"))
  elif [[ -n $option ]]; then
    _gateway_sim_values "\${where:+$where }$option"
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  else
    _gateway_sim_values "\${where:+$where }$position"
    if [[ -z $cur && \${#COMPREPLY[@]} == 0 ]]; then COMPREPLY=($(compgen -W "$options")); fi
  fi
}

_gateway_sim_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$cur"))
}

_gateway_sim_place() {
  case $1 in
${places.map(placeCase).join('\n')}
  esac
}

_gateway_sim_values() {
  case $1 in
${valueTable(places)
  .map(({ keys, values }) => `    ${keys.map(quoted).join(' | ')})\n      ${offer(values)}\n      ;;`)
  .join('\n')}
  esac
}

complete -F _gateway_sim gateway-sim
`;
}

function placeCase({ path, commands, options }: Place): string {
  const flags = (some: Place['options']) => quoted(some.flatMap(({ flags }) => flags).join(' '));
  return `    ${quoted(path)})
      commands=${quoted(commands.map(({ name }) => name).join(' '))}
      options=${flags(options)}
      valued=${flags(options.filter(({ values }) => values !== undefined))}
      ;;`;
}

const offer = offers(
  {
    file: '_gateway_sim_files -f',
    folder: '_gateway_sim_files -d',
    command: 'COMPREPLY=($(compgen -c -- "$cur"))',
  },
  (words) => `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$cur"))`,
);
