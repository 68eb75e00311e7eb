import { offers, type Place, quoted, valueTable } from './command-tree.ts';

/** The completion script of zsh, to be sourced or to lie as \`_gateway-sim\` in a folder of fpath. It holds the whole tree. */
export function zshScript(places: readonly Place[]): string {
  return `#compdef gateway-sim
# What zsh offers behind "gateway-sim"; made by: gateway-sim completion zsh

_gateway-sim() {
  local where= option= word
  local -i i=2 position=0
  local -a commands options valued names
  _gateway-sim-place ''
  while (( i < CURRENT )); do
    word=$words[i]
    (( i += 1 ))
    case $word in
      --)
        # From here on it is the command line of somebody else.
        words=("\${(@)words[i,-1]}")
        (( CURRENT -= i - 1 ))
        _normal
        return
        ;;
      -*)
        if (( $valued[(Ie)$word] )); then
          (( i == CURRENT )) && option=$word
          (( i += 1 ))
        fi
        ;;
      *)
        names=("\${(@)commands%%:*}")
        if (( $names[(Ie)$word] )); then
          where="\${where:+$where }$word"
          _gateway-sim-place $where
        else
          (( position += 1 ))
        fi
        ;;
    esac
  done
  if [[ -z $option && $words[CURRENT] == --*=* ]]; then
    option=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  if [[ -n $option ]]; then
    _gateway-sim-values "\${where:+$where }$option"
  elif [[ $words[CURRENT] == -* ]]; then
    _describe -o option options
  elif (( $#commands )); then
    _describe command commands
  else
    _gateway-sim-values "\${where:+$where }$position" || _describe -o option options
  fi
}

_gateway-sim-place() {
  case $1 in
${places.map(placeCase).join('\n')}
  esac
}

_gateway-sim-values() {
  case $1 in
${valueTable(places)
  .map(({ keys, values }) => `    ${keys.map(quoted).join(' | ')}) ${offer(values)} ;;`)
  .join('\n')}
    *) return 1 ;;
  esac
}

# Loaded from fpath, this file is the function itself, called for the first time.
if [[ $funcstack[1] == _gateway-sim ]]; then
  _gateway-sim "$@"
else
  compdef _gateway-sim gateway-sim
fi
`;
}

function placeCase({ path, commands, options }: Place): string {
  const list = (words: readonly string[]) => words.map((word) => `\n        ${quoted(word)}`).join('');
  const valued = options.filter(({ values }) => values !== undefined).flatMap(({ flags }) => flags);
  return `    ${quoted(path)})
      commands=(${list(commands.map(({ name, description }) => `${name}:${description}`))})
      options=(${list(options.flatMap(({ flags, description }) => flags.map((flag) => `${flag}:${description}`)))})
      valued=(${valued.join(' ')})
      ;;`;
}

const offer = offers(
  { file: '_files', folder: '_files -/', command: '_command_names -e' },
  (words) => `compadd -- ${words.map(quoted).join(' ')}`,
);
