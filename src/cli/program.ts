import { Command, CommanderError, Option } from 'commander';
import { GatewayError, nearestName } from '../contract/error.ts';
import { command as commandHint, hint, kebab, renderHint } from '../contract/hint.ts';
import { environmentName } from '../options.ts';
import { VERSION } from '../system/package-info.ts';
import type { AnyGroup, Call, Declaration, OptionDeclaration, OptionDeclarations } from './command.ts';
import { cards } from './commands/cards.ts';
import { clock } from './commands/clock.ts';
import { completion } from './commands/completion.ts';
import { emulator } from './commands/emulator.ts';
import { exec } from './commands/exec.ts';
import { faults } from './commands/faults.ts';
import { inbox } from './commands/inbox.ts';
import { init } from './commands/init.ts';
import { ipn } from './commands/ipn.ts';
import { keys } from './commands/keys.ts';
import { logs } from './commands/logs.ts';
import { openapi } from './commands/openapi.ts';
import { pay, payments } from './commands/payments.ts';
import { start } from './commands/start.ts';
import { state } from './commands/state.ts';
import { wallets } from './commands/wallets.ts';
import { connect } from './connect.ts';
import { invocationOf } from './invocation.ts';
import type { Io } from './io.ts';
import { type CommandResult, connectionFlags, hintStyle, Output } from './output.ts';

const GROUPS: readonly AnyGroup[] = [
  start,
  exec,
  pay,
  payments,
  ipn,
  keys,
  wallets,
  state,
  cards,
  faults,
  clock,
  emulator,
  inbox,
  logs,
  init,
  openapi,
  completion,
];

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

/** What every command takes. */
const COMMON_OPTIONS: OptionDeclarations = {
  url: { placeholder: 'url', description: 'address of the running emulator' },
  dataDir: { placeholder: 'folder', description: 'folder of the running emulator' },
  controlToken: { placeholder: 'token', description: 'token that /_sim asks for' },
  json: { description: 'one JSON document on stdout' },
  color: { flag: '--no-color', description: 'no colours' },
};

/** The command of a group that its name alone stands for. */
const DEFAULT_COMMANDS: readonly string[] = ['list', 'show'];

type Run = (call: never) => Promise<CommandResult | number | undefined>;

/** How a command that commander found is run. */
type Runner = (
  command: Command,
  declared: Declaration,
  load: () => Promise<Run | undefined>,
) => Promise<void>;

/**
 * Runs a command line. Never throws.
 *
 * @param argv as process.argv: two words, then those of the user
 * @returns the exit code
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const invocation = invocationOf(argv, io.env, io.cwd);
  let exitCode = 0;
  const program = buildProgram(
    async (command, declared, load) => {
      exitCode = await act(command, declared, load, { io, invocation, program });
    },
    { io, invocation, first: argv[2] },
  );
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    // Commander has said what is wrong; help and version are no errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return new Output(io, { json: false, quiet: false, color: true, invocation }).fail(error);
  }
}

/**
 * The command line, as declared: for running it, and for what is made from it.
 *
 * @param first the first word of the command line: where it is a command, the others are left out, which nobody will see
 */
export function buildProgram(
  runner: Runner = async () => {},
  {
    io,
    invocation = 'gateway-sim',
    first,
  }: { io?: Io; invocation?: string; first?: string | undefined } = {},
): Command {
  const program = new Command('gateway-sim')
    .description('A local emulator of a hosted payment gateway. No real money moves.')
    .version(VERSION, '-V, --version')
    .addHelpText('after', examples(['start', 'payments create', 'pay --approve']))
    .addHelpText('after', EXIT_CODE_HELP);
  // A completion script is about all of them.
  const wanted = GROUPS.filter(
    (one) =>
      first !== undefined &&
      first !== 'completion' &&
      (one.name ? [one.name] : Object.keys(one.commands)).includes(first),
  );
  const style = hintStyle(invocation);
  for (const one of wanted.length ? wanted : GROUPS) {
    const parent = one.name ? program.command(one.name).description(one.summary ?? '') : program;
    if (one.examples) parent.addHelpText('after', examples(one.examples));
    for (const [name, declared] of Object.entries(one.commands)) {
      const command = declare(parent, name, declared, parent !== program);
      if (declared.advice) command.showHelpAfterError(`  ${renderHint(declared.advice, style)}`);
      command.action(() => runner(command, declared, async () => (await one.load())[name]));
    }
  }
  for (const command of [program, ...everyCommand(program)]) prepare(command, command === program, io);
  return program;
}

function declare(parent: Command, name: string, declared: Declaration, inGroup: boolean): Command {
  const { args = [], choices, fields = {}, options = {}, summary, about, usage } = declared;
  const isDefault = inGroup && DEFAULT_COMMANDS.includes(name);
  const command = parent.command(name, { isDefault }).description(summary);
  for (const arg of args) command.argument(arg);
  const [first] = command.registeredArguments;
  if (choices && first) first.argChoices = [...choices];
  if (usage) command.usage(usage);
  // What is no command of the group ends up here, as an argument: act says so better than commander.
  if (isDefault) command.allowExcessArguments();
  if (declared.allowUnknown) command.allowUnknownOption();
  for (const [key, option] of Object.entries({ ...fields, ...options }))
    command.addOption(optionOf(key, option));
  if (about) command.addHelpText('after', about);
  return command.addHelpText('after', examples(declared.examples));
}

/** The examples at the end of a help text. */
function examples(lines: readonly string[]): string {
  const heading = lines.length > 1 ? 'Examples' : 'Example';
  return `\n${heading}:\n${lines.map((line) => `  gateway-sim ${line}`).join('\n')}`;
}

function optionOf(name: string, declared: OptionDeclaration): Option {
  const { placeholder, description, choices, required = false, parse } = declared;
  const flag = declared.flag ?? `--${kebab(name)}`;
  const option = new Option(placeholder ? `${flag} <${placeholder}>` : flag, description);
  if (choices) option.argChoices = [...choices];
  if (declared.default !== undefined) option.default(declared.default);
  if (parse) option.argParser((text: string, before: unknown) => parse(text, before));
  return option.makeOptionMandatory(required);
}

function* everyCommand(command: Command): Generator<Command> {
  for (const sub of command.commands) {
    yield sub;
    yield* everyCommand(sub);
  }
}

/** Every command takes the common options behind its name too, and reports errors the same way. */
function prepare(command: Command, showOptions: boolean, io: Io | undefined): void {
  command.exitOverride().configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'gateway-sim: ')),
    ...(io && {
      writeOut: (text: string) => void io.stdout.write(text),
      writeErr: (text: string) => void io.stderr.write(text),
    }),
  });
  const known = new Set(command.options.map((option) => option.attributeName()));
  for (const [name, declared] of Object.entries(COMMON_OPTIONS)) {
    if (!known.has(name)) command.addOption(optionOf(name, declared).hideHelp(!showOptions));
  }
}

/** Runs a command with its options, those given before its name, and those of the environment. @returns the exit code */
async function act(
  command: Command,
  declared: Declaration,
  load: () => Promise<Run | undefined>,
  { io, invocation, program }: { io: Io; invocation: string; program: Command },
): Promise<number> {
  const flags: Record<string, unknown> = {};
  let color = true;
  for (let at: Command | null = command; at; at = at.parent) {
    if (at.getOptionValue('color') === false) color = false;
    for (const [name, value] of Object.entries(at.opts())) flags[name] ??= value;
  }
  const text = (name: string) => (typeof flags[name] === 'string' ? flags[name] : undefined);
  const variable = (name: string) => io.env[environmentName(name)] || undefined;
  const json = flags['json'] ?? /^(1|true)$/.test(variable('json') ?? '');
  const output = new Output(io, { json: json === true, quiet: flags['quiet'] === true, color, invocation });
  const [url, dataDir] = [text('url'), text('dataDir')];
  output.connection = connectionFlags(url, url === undefined ? (dataDir ?? null) : null, io.cwd);
  const choice = {
    // A folder on the command line is meant instead of an address of the environment.
    url: url ?? (dataDir === undefined ? variable('url') : undefined),
    dataDir: dataDir ?? variable('dataDir'),
    controlToken: text('controlToken') ?? variable('controlToken'),
  };
  const call: Call<readonly string[], OptionDeclarations, OptionDeclarations> = {
    args: command.processedArgs as string[],
    options: flags,
    fields: given(flags, declared.fields),
    flags,
    choice,
    connect: ({ guess } = { guess: true }) => connect(choice, io.cwd, guess),
    io,
    output,
    program,
  };
  try {
    requireNoExcess(command);
    const action = await load();
    const result = await action?.(call as never);
    return typeof result === 'object' ? output.show(result) : (result ?? 0);
  } catch (error) {
    return output.fail(error);
  }
}

function given(flags: Readonly<Record<string, unknown>>, fields: OptionDeclarations = {}) {
  return Object.fromEntries(
    Object.keys(fields).flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
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
