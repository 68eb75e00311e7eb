import { Command, CommanderError, Option } from 'commander';
import { GatewayError, nearestName } from '../contract/error.ts';
import { command as commandHint, hint } from '../contract/hint.ts';
import { environmentName } from '../options.ts';
import { VERSION } from '../system/package-info.ts';
import { addCards } from './commands/cards.ts';
import { examples } from './commands/examples.ts';
import { addIpn } from './commands/ipn.ts';
import { addPayments } from './commands/payments.ts';
import { addSetup } from './commands/setup.ts';
import { addSimulator } from './commands/simulator.ts';
import { addExec, addStart } from './commands/start.ts';
import { addState } from './commands/state.ts';
import { addTrouble } from './commands/trouble.ts';
import { addWatch } from './commands/watch.ts';
import { invocationOf } from './invocation.ts';
import { asInvoked, type CommandResult, connectionFlags, Output, outliveReaders } from './output.ts';

/** What every command is given. */
export interface CommandContext {
  /** Positional arguments; what is optional and absent is undefined. */
  args: readonly (string | undefined)[];
  /** Options of the command and of the whole program, by camelCase name. */
  options: Readonly<Record<string, unknown>>;
  /** The same without what the environment says: what stands on the command line. */
  flags: Readonly<Record<string, unknown>>;
  output: Output;
}

type Run = (call: CommandContext) => Promise<CommandResult | undefined>;

const EXIT_CODE_HELP = `
Exit codes:
  0  ok
  1  a check failed
  2  wrong usage
  3  no server
  4  not found or wrong state
  5  port or data folder in use, or the folder cannot be written
  6  state damaged
`;

/** Runs the command line; sets process.exitCode and never throws. */
export async function run(argv: readonly string[]): Promise<void> {
  const invocation = invocationOf(argv, process.env, process.cwd());
  const program = buildProgram(invocation, argv[2]);
  outliveReaders();
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said what is wrong; help and version are no errors.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    new Output({ json: false, color: true, invocation }).fail(error);
  }
}

const PROGRAM_OPTIONS = [
  ['--url <url>', 'address of the running emulator'],
  ['--data-dir <folder>', 'folder of the running emulator'],
  ['--control-token <token>', 'token that /_sim asks for'],
  ['--json', 'one JSON document on stdout'],
  ['--no-color', 'no colours'],
] as const;

/** What declares which commands. */
const DECLARATIONS: readonly [names: readonly string[], declare: (add: Add, program: Command) => void][] = [
  [['start'], addStart],
  [['exec'], addExec],
  [['pay', 'payments'], addPayments],
  [['ipn'], addIpn],
  [['keys', 'wallets'], addSimulator],
  [['state'], addState],
  [['cards'], addCards],
  [['faults', 'clock'], addTrouble],
  [['status', 'stop', 'wait', 'inbox', 'logs', 'open'], addWatch],
  // A completion script is about all of them.
  [['init', 'openapi'], addSetup],
];

/**
 * The command line, as declared: for running it, and for what is made from it.
 *
 * @param invocation how the user invoked the tool
 * @param first the first word of the command line: where it is a command, the others are left out, which nobody will see
 */
export function buildProgram(invocation: string, first?: string): Command {
  const program = new Command('gateway-sim')
    .description('A local emulator of a hosted payment gateway. No real money moves.')
    .version(VERSION, '-V, --version')
    .addHelpText(...examples('gateway-sim start', 'gateway-sim payments create', 'gateway-sim pay --approve'))
    .addHelpText('after', EXIT_CODE_HELP);
  const add: Add = (parent, usage, summary, load) => {
    const isDefault = parent !== program && ['list', 'show'].includes(usage);
    const command = parent.command(usage, { isDefault }).description(summary);
    // What is no command of the group ends up here, as an argument: act says so better than commander.
    if (isDefault) command.allowExcessArguments();
    return command.action((...given: unknown[]) => act(command, given, load, invocation));
  };
  const wanted = DECLARATIONS.filter(([names]) => first !== undefined && names.includes(first));
  for (const [, declare] of wanted.length ? wanted : DECLARATIONS) declare(add, program);
  for (const command of [program, ...everyCommand(program)])
    prepare(command, command === program, invocation);
  return program;
}

function* everyCommand(command: Command): Generator<Command> {
  for (const sub of command.commands) {
    yield sub;
    yield* everyCommand(sub);
  }
}

/** Every command takes the program's own options behind its name too, and reports errors the same way. */
function prepare(command: Command, showOptions: boolean, invocation: string): void {
  command.exitOverride().configureOutput({
    writeErr: (text) => process.stderr.write(asInvoked(text, invocation)),
    outputError: (text, write) => write(text.replace(/^error: /, 'gateway-sim: ')),
  });
  const known = new Set(command.options.map(({ long }) => long));
  for (const [flags, description] of PROGRAM_OPTIONS) {
    if (known.has(flags.split(' ', 1)[0])) continue;
    command.addOption(new Option(flags, description).hideHelp(!showOptions));
  }
}

/** Runs a command with its options, those given before its name, and those of the environment. */
async function act(
  command: Command,
  given: unknown[],
  load: () => Promise<Run>,
  invocation: string,
): Promise<void> {
  const flags: Record<string, unknown> = {};
  let color = true;
  for (let at: Command | null = command; at; at = at.parent) {
    if (at.getOptionValue('color') === false) color = false;
    for (const [name, value] of Object.entries(at.opts())) flags[name] ??= value;
  }
  const options = { ...flags };
  for (const name of ['url', 'dataDir', 'controlToken', 'json']) {
    // A folder on the command line is meant instead of an address of the environment.
    if (name === 'url' && flags['dataDir'] !== undefined) continue;
    const value = process.env[environmentName(name)];
    if (value) options[name] ??= name === 'json' ? /^(1|true)$/.test(value) : value;
  }
  const { json, quiet } = options;
  const output = new Output({ json: json === true, quiet: quiet === true, color, invocation });
  const { url, dataDir } = flags as { url?: string; dataDir?: string };
  output.connection = connectionFlags(url, url === undefined && dataDir !== undefined ? dataDir : null);
  try {
    requireNoExcess(command);
    const run = await load();
    // A command that takes any number of arguments has them in a list of their own.
    const args = given.slice(0, command.registeredArguments.length).flat() as (string | undefined)[];
    const shown = await run({ args, options, flags, output });
    if (shown) output.show(shown);
  } catch (error) {
    output.fail(error);
  }
}

/** What is behind the name of a group is a command of it, or a mistake. */
function requireNoExcess({ args, registeredArguments, parent }: Command): void {
  const [excess] = args.slice(registeredArguments.length);
  if (excess === undefined || !parent || registeredArguments.at(-1)?.variadic) return;
  const names = parent.commands.map((command) => command.name());
  const meant = nearestName(excess, names);
  throw new GatewayError('usage', `unknown command '${parent.name()} ${excess}'`, {
    hint: meant
      ? hint`Did you mean: ${commandHint(`${parent.name()} ${meant}`)}?`
      : hint`There are: ${names.join(', ')}`,
  });
}

/** Adds a command below a parent; its module is loaded only when it runs. */
export type Add = (parent: Command, usage: string, summary: string, load: () => Promise<Run>) => Command;
