import { Argument, type Command, Option } from 'commander';
import { kebab, option } from '../../contract/hint.ts';
import { type OptionSpec, START_OPTIONS } from '../../options.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';

/** The command `start`, its flags made of the options table. */
export function addStart(add: Add, program: Command): void {
  const start = add(
    program,
    'start',
    'start the emulator',
    async () => (await import('../actions/start.ts')).start,
  );
  for (const option of startFlags(() => true)) start.addOption(option);
  start.addHelpText(
    ...examples(
      'gateway-sim start',
      'gateway-sim start --port 0 --in-memory --json --quiet',
      'gateway-sim start --currency NPR:Rs --loose',
      'gateway-sim start --detach',
    ),
  );
}

const ABOUT_EXEC = `
The emulator is a fresh one, in memory and on a free port: only the flags --port and --data-dir say otherwise, not the
variables or the configuration file. The command finds it by GATEWAY_SIM_URL, GATEWAY_SIM_PUBLIC_KEY,
GATEWAY_SIM_SECRET_KEY and GATEWAY_SIM_INITIATE_URL. Its exit code is passed on: 128 and the number of the signal that
ended it; 127 when there is no such command, 126 when it cannot be run. Without a terminal, as in CI, what it leaves
running is ended too.`;

/** The command `exec`, with the flags of `start` that are about the emulator. */
export function addExec(add: Add, program: Command): void {
  const exec = add(
    program,
    'exec',
    'run a command beside a fresh emulator',
    async () => (await import('../actions/exec.ts')).exec,
  )
    .usage('[start options] -- <command...>')
    .addArgument(new Argument('[command...]', 'what to run, with its own options'));
  for (const option of startFlags(({ commandOnly }) => !commandOnly)) exec.addOption(option);
  exec
    .option('--quiet', 'no notices on stderr')
    .showHelpAfterError(
      '  Options of the command go behind the --, such as: gateway-sim exec -- npm test --coverage',
    )
    .addHelpText('after', ABOUT_EXEC)
    .addHelpText(
      ...examples('gateway-sim exec -- npm test', 'gateway-sim exec --auto approve -- npx playwright test'),
    );
}

function* startFlags(isWanted: (spec: OptionSpec) => boolean): Generator<Option> {
  for (const [name, spec] of Object.entries<OptionSpec>(START_OPTIONS)) {
    if (spec.kind !== 'structure' && isWanted(spec)) yield flagOf(name, spec);
  }
  yield new Option(
    '--config <file>',
    'configuration file (default: gateway-sim.config.json, where there is one)',
  );
}

function flagOf(name: string, spec: OptionSpec): Option {
  const flag =
    spec.kind === 'boolean'
      ? `--${spec.default === true ? 'no-' : ''}${kebab(name)}`
      : `--${kebab(name)} <${spec.placeholder ?? spec.choices?.join('|')}>`;
  const shown = spec.kind === 'boolean' || spec.default === undefined ? '' : ` (default: ${spec.default})`;
  const option = new Option(
    flag,
    spec.default === true ? `do not ${spec.description}` : `${spec.description}${shown}`,
  );
  // A repeated flag adds to the list; a text with commas is taken apart later, like that of a variable.
  if (spec.kind === 'list')
    option.argParser((value: string, list: string[] = []) => [...list, ...value.split(',')]);
  return option;
}
