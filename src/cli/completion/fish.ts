import { type Place, type Values, valuesOfAll } from './command-tree.ts';

const FUNCTIONS = `# Where on the command line we are: the commands so far in one line, then the same with the number of arguments behind them.
function __gateway_sim_where
    set -l tokens (commandline -opc)
    set -l place ''
    set -l position 0
    while set -e tokens[1]; and set -q tokens[1]
        set -l next (string trim -- "$place $tokens[1]")
        if test "$tokens[1]" = --
            set place --
            break
        else if string match -q -- '-*' $tokens[1]
            contains -- $next $__gateway_sim_valued; and set -e tokens[1]
        else if contains -- $next $__gateway_sim_places
            set place $next
        else
            set position (math $position + 1)
        end
    end
    string trim -- "$place" "$place $position"
end

function __gateway_sim_at
    for where in (__gateway_sim_where)
        contains -- "$where" $argv; and return
    end
    return 1
end
`;

export function fishScript(places: readonly Place[]): string {
  const known = valuesOfAll(places);
  return [
    '# What fish offers behind "gateway-sim"; made by: gateway-sim completion fish\n',
    `set -g __gateway_sim_places ${places.flatMap(({ path }) => (path ? [quoted(path)] : [])).join(' ')}`,
    `set -g __gateway_sim_valued ${known.map(({ key }) => quoted(key)).join(' ')}\n`,
    FUNCTIONS,
    'complete -c gateway-sim -e',
    'complete -c gateway-sim -f',
    "complete -c gateway-sim -n '__gateway_sim_at --' -F",
    ...places.flatMap(({ path, commands }) =>
      commands.map(({ name, description }) => completed([path], `-a ${name} -d ${quoted(description)}`)),
    ),
    ...known.flatMap(({ key, values }) =>
      values && /(^| )\d+$/.test(key) ? [completed([key], offer(values))] : [],
    ),
    ...optionLines(places),
    '',
  ].join('\n');
}

/** One line for each option, however many commands have it. */
function optionLines(places: readonly Place[]): string[] {
  const lines = new Map<string, string[]>();
  for (const { path, options } of places) {
    for (const { flags, description, values } of options) {
      const names = flags.map((flag) => flag.replace('--', '-l ').replace(/^-(?=\w$)/, '-s '));
      const value = values === undefined ? '' : ` ${values === null ? '-x' : offer(values)}`;
      const line = `${names.join(' ')}${value} -d ${quoted(description)}`;
      lines.set(line, [...(lines.get(line) ?? []), path]);
    }
  }
  return [...lines].map(([line, paths]) => completed(paths, line));
}

function completed(places: readonly string[], what: string): string {
  const condition = `__gateway_sim_at ${places.map(quoted).join(' ')}`;
  return `complete -c gateway-sim -n ${quoted(condition)} ${what}`;
}

const ANY = {
  file: '-r -F',
  folder: "-x -a '(__fish_complete_directories)'",
  command: "-x -a '(__fish_complete_command)'",
};

function offer(values: NonNullable<Values>): string {
  return typeof values === 'string' ? ANY[values] : `-x -a ${quoted(values.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
