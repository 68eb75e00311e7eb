import { alike, offers, type Place } from './command-tree.ts';

const FUNCTIONS = `# Where on the command line we are: the commands so far in one line, then how many arguments stand behind them.
function __gateway_sim_where
    set -l tokens (commandline -opc)
    set -e tokens[1]
    set -l place ''
    set -l position 0
    set -l skip 0
    for token in $tokens
        if test $skip = 1
            set skip 0
            continue
        end
        switch $token
            case --
                set place --
                break
            case '-*'
                contains -- (string trim -- "$place $token") $__gateway_sim_valued; and set skip 1
            case '*'
                set -l next (string trim -- "$place $token")
                if contains -- $next $__gateway_sim_places
                    set place $next
                else
                    set position (math $position + 1)
                end
        end
    end
    printf '%s\\n' "$place" $position
end

function __gateway_sim_at
    set -l where (__gateway_sim_where)
    contains -- "$where[1]" $argv
end

function __gateway_sim_position
    set -l where (__gateway_sim_where)
    test "$where[1]" = "$argv[1]"; and test $where[2] = $argv[2]
end
`;

export function fishScript(places: readonly Place[]): string {
  const valued = places.flatMap(({ path, options }) =>
    options
      .filter(({ values }) => values !== undefined)
      .flatMap(({ flags }) => flags.map((flag) => `${path} ${flag}`.trim())),
  );
  return [
    '# What fish offers behind "gateway-sim"; made by: gateway-sim completion fish\n',
    `set -g __gateway_sim_places ${places.flatMap(({ path }) => (path ? [quoted(path)] : [])).join(' ')}`,
    `set -g __gateway_sim_valued ${valued.map(quoted).join(' ')}\n`,
    FUNCTIONS,
    'complete -c gateway-sim -e',
    'complete -c gateway-sim -f',
    "complete -c gateway-sim -n '__gateway_sim_at --' -F",
    ...places.flatMap(commandLines),
    ...places.flatMap(positionLines),
    ...optionLines(places),
    '',
  ].join('\n');
}

function commandLines({ path, commands }: Place): string[] {
  return commands.map(({ name, description }) =>
    completed(condition('at', path), `-a ${name} -d ${quoted(description)}`),
  );
}

function positionLines({ path, positions }: Place): string[] {
  return positions.flatMap((values, index) =>
    values ? [completed(quoted(`__gateway_sim_position ${quoted(path)} ${index}`), offer(values))] : [],
  );
}

/** One line for each option, however many commands have it. */
function optionLines(places: readonly Place[]): string[] {
  const rows = alike(places.flatMap(({ path, options }) => options.map((option) => [path, option] as const)));
  return rows.map(({ value: { flags, description, values }, keys }) => {
    const names = flags.map((flag) =>
      flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
    );
    const value = values === undefined ? '' : ` ${values === null ? '-x' : offer(values)}`;
    return completed(condition('at', ...keys), `${names.join(' ')}${value} -d ${quoted(description)}`);
  });
}

function completed(where: string, what: string): string {
  return `complete -c gateway-sim -n ${where} ${what}`;
}

function condition(name: string, ...paths: readonly string[]): string {
  return quoted(`__gateway_sim_${name} ${paths.map(quoted).join(' ')}`);
}

const offer = offers(
  {
    file: '-r -F',
    folder: "-x -a '(__fish_complete_directories)'",
    command: "-x -a '(__fish_complete_command)'",
  },
  (words) => `-x -a ${quoted(words.join(' '))}`,
);

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
