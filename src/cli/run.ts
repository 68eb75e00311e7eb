import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { Command as Commander, CommanderError, type ErrorOptions, Help, Option } from 'commander';
import { GatewayError, hint, kebab, nearestName, renderHint, synonymOf, usage } from '../contract/error.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { environmentName, readValue } from '../options/resolve.ts';
import { isFileOnly, START_OPTIONS } from '../options/start-options.ts';
import { packaged, VERSION } from '../system/package-info.ts';
import { COMMON_OPTIONS, type Command, type Group, type OptionDeclaration } from './command.ts';
import { foldersAbove } from './configuration.ts';
import { NEVER_GUESS } from './connection-flags.ts';
import type { Io } from './io.ts';
import { hintStyle, Output } from './output.ts';
import { columns, wrapped } from './printed.ts';

/** The commands and groups, in the order of the help. Only the requested one is loaded. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command | Group>>> = {
  start: async () => (await import('./commands/start.ts')).start,
  exec: async () => (await import('./commands/exec.ts')).exec,
  pay: async () => (await import('./commands/payments.ts')).pay,
  payments: async () => (await import('./commands/payments.ts')).payments,
  ipn: async () => (await import('./commands/ipn.ts')).ipn,
  keys: async () => (await import('./commands/keys.ts')).keys,
  wallets: async () => (await import('./commands/wallets.ts')).wallets,
  state: async () => (await import('./commands/state.ts')).state,
  cards: async () => (await import('./commands/cards.ts')).cards,
  faults: async () => (await import('./commands/faults.ts')).faults,
  clock: async () => (await import('./commands/clock.ts')).clock,
  audit: async () => (await import('./commands/audit.ts')).audit,
  reconcile: async () => (await import('./commands/audit.ts')).reconcile,
  conform: async () => (await import('./commands/conform.ts')).conform,
  status: async () => (await import('./commands/emulator.ts')).status,
  stop: async () => (await import('./commands/emulator.ts')).stop,
  wait: async () => (await import('./commands/emulator.ts')).wait,
  open: async () => (await import('./commands/emulator.ts')).open,
  inbox: async () => (await import('./commands/inbox.ts')).inbox,
  logs: async () => (await import('./commands/logs.ts')).logs,
  init: async () => (await import('./commands/init.ts')).init,
  docs: async () => (await import('./commands/docs.ts')).docs,
  openapi: async () => (await import('./commands/openapi.ts')).openapi,
};

/**
 * Runs a command line. Never throws.
 *
 * @param argv as process.argv: two words, then the user's
 * @returns the exit code
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const words = argv.slice(2);
  const [first] = words;
  const invocation = invocationOf(argv, io);
  if (first === undefined) {
    new Output(io, {}).line(introduction(invocation));
    return 0;
  }
  try {
    let exitCode = 0;
    const program = await buildProgram({
      first,
      invocation,
      io,
      onCommand: async (parsed, command) => {
        exitCode = await act(parsed, command, invocation, io);
      },
    });
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return new Output(io, { invocation }).fail(error);
    // Help and version are not errors.
    if (error.exitCode === 0) return 0;
    // Commander has already written the error as text.
    const flags = argv.slice(2, argv.includes('--') ? argv.indexOf('--') : undefined);
    if (isJsonWanted(flags, io) && !OWN_STDOUT.has(flags.find((word) => !word.startsWith('-')))) {
      const message = error.code === 'commander.help' ? 'no command was specified' : error.message;
      new Output(io, {}).document(JSON.stringify(usage(message.replace(/^error: /, ''))));
    }
    return 2;
  }
}

/** What a command line without a command prints: what this is, the first commands, and where the rest is. */
function introduction(invocation: string): string {
  const commands = Object.entries({
    start: 'start it, and show its keys and dashboard',
    'payments create': 'initiate a payment as a shop would',
    'pay --approve': 'pay it, and send its IPN to your shop',
    'exec -- npm test': 'run your tests with their own emulator',
    docs: 'read the documentation, or search it',
  });
  const width = invocation.length + 'exec -- npm test'.length + 5;
  const rows = commands.map(([name, about]) =>
    wrapped(`  ${invocation} ${name}`.padEnd(width) + about, ' '.repeat(6)),
  );
  return [
    'gateway-sim is a local emulator of a hosted payment gateway.',
    'No real money moves.',
    '',
    ...rows,
    '',
    `For all commands, run: ${invocation} --help`,
  ].join('\n');
}

/** Commands whose stdout belongs to the emulator or program that they run. Errors must not appear there. */
const OWN_STDOUT: ReadonlySet<string | undefined> = new Set(['start', 'exec']);

/** @param flags the words of the command line that may be flags */
function isJsonWanted(flags: readonly string[], { env }: Io): boolean {
  return flags.includes('--json') || /^(1|true)$/.test(env[environmentName('json')] ?? '');
}

/** Runs a command with its options, including those before its name and in the environment. @returns the exit code */
async function act(parsed: Commander, command: Command, invocation: string, io: Io): Promise<number> {
  const options: Record<string, unknown> = parsed.optsWithGlobals();
  /** Only the options on the command line itself. */
  const flags = Object.fromEntries(
    Object.entries(options).filter(([name]) => parsed.getOptionValueSourceWithGlobals(name) === 'cli'),
  );
  const json = !OWN_STDOUT.has(parsed.name()) && isJsonWanted(flags['json'] === true ? ['--json'] : [], io);
  const color = flags['color'] !== false;
  const output = new Output(io, { json, quiet: flags['quiet'] === true, color, invocation });
  const text = (name: string) => (typeof flags[name] === 'string' ? flags[name] : undefined);
  const variable = (name: string) => io.env[environmentName(name)] || undefined;
  const [url, dataDir, tlsCa] = [text('url'), text('dataDir'), text('tlsCa')];
  output.secrets.learn([options, parsed.args]);
  output.pointTo({ url, dataDir: url === undefined ? (dataDir ?? null) : null, tlsCa: tlsCa ?? null });
  const choice = {
    // A folder on the command line overrides an address in the environment.
    url: url ?? (dataDir === undefined ? variable('url') : undefined),
    dataDir: dataDir ?? variable('dataDir'),
    controlToken: text('controlToken'),
    tokenVariable: variable('controlToken'),
    tlsCa: tlsCa ?? variable('tlsCa'),
  };
  let serverUrl: string | undefined;
  const find = async (folder = choice.dataDir) => {
    const { connect } = await import('./connect.ts');
    const server = await connect({ ...choice, dataDir: folder }, io, !NEVER_GUESS.has(nameOf(parsed)));
    serverUrl = server.url;
    return server;
  };
  try {
    const jsonVariable = variable('json');
    if (jsonVariable) readValue(START_OPTIONS.json, jsonVariable, environmentName('json'));
    requireNoExcess(parsed);
    const { fields = {} } = command;
    const given = Object.entries(options).filter(([name, value]) => name in fields && value !== undefined);
    const result = await command.run({
      args: parsed.processedArgs,
      options,
      fields: Object.fromEntries(given),
      flags,
      choice,
      connect: find,
      call: async (...request) => (await find()).call(...request),
      io,
      output,
    });
    return typeof result === 'object' ? output.show(result) : (result ?? 0);
  } catch (error) {
    // A response with an unexpected shape.
    const isMisunderstood = [TypeError, RangeError, SyntaxError, URIError].some(
      (kind) => error instanceof kind,
    );
    if (serverUrl !== undefined && isMisunderstood) {
      const { unlikeGatewaySim } = await import('../library/control-client.ts');
      return output.fail(unlikeGatewaySim(serverUrl, error));
    }
    return output.fail(error instanceof GatewayError ? withFlags(error, command) : error);
  }
}

/** The name of a command with its group, such as `state reset`. */
function nameOf(command: Commander): string {
  const { parent } = command;
  return parent?.parent ? `${parent.name()} ${command.name()}` : command.name();
}

/** The error of a field that a flag sets names the flag. */
function withFlags(error: GatewayError, { fields = {} }: Command): GatewayError {
  if (error.code !== 'invalid_fields') return error;
  return error.masked((problem) => {
    const [name = ''] = problem.split(' ', 1);
    return name in fields ? `--${kebab(name)}${problem.slice(name.length)}` : problem;
  });
}

/** A word after the name of a group must be one of its commands. */
function requireNoExcess({ args, registeredArguments, parent }: Commander): void {
  const [excess] = args.slice(registeredArguments.length);
  if (excess === undefined || !parent || registeredArguments.at(-1)?.variadic) return;
  const names = parent.commands.map((command) => command.name());
  const meant = nearestName(excess, names);
  const unknown = `unknown command '${parent.name()} ${excess}'`;
  if (meant) throw usage(`${unknown}: did you mean ${parent.name()} ${meant}?`);
  throw usage(unknown, { hint: hint`Available: ${names.join(', ')}` });
}

/** The shortest way to run this program in the folder, so that printed commands can be pasted. */
function invocationOf([, script = 'gateway-sim']: readonly string[], { env, cwd }: Io): string {
  if (env['npm_command'] === 'exec') {
    return basename(env['_'] ?? '') === 'npm' ? 'npm exec -- gateway-sim' : 'npx gateway-sim';
  }
  const onPath = (env['PATH'] ?? '').split(delimiter).includes(dirname(script));
  if (basename(script) === 'gateway-sim' && onPath) return 'gateway-sim';
  if (isFoundByNpx(cwd)) return 'npx gateway-sim';
  const path = relative(cwd, script);
  const shown = path.length < script.length ? path : script;
  if (script.endsWith('.js')) return `node ${shown}`;
  return shown.includes('/') ? shown : `./${shown}`;
}

/** Whether `npx gateway-sim` runs this program: it is installed here or in a parent folder, or the folder is its clone. */
function isFoundByNpx(cwd: string): boolean {
  const root = packaged('');
  for (const folder of foldersAbove(cwd)) {
    const installed = join(folder, 'node_modules', '.bin', 'gateway-sim');
    if (existsSync(installed))
      return realpathSync(installed) === join(realpathSync(root), 'bin', 'gateway-sim.js');
    if (existsSync(join(folder, 'package.json')) && relative(root, folder) === '') return true;
  }
  return false;
}

const EXIT_CODE_HELP = `
Exit codes:
  0  ok
  1  a check failed
  2  wrong usage, or a check that proved nothing
  3  no server
  4  not found or wrong state
  5  port or data folder in use, or folder not writable
  6  state damaged, or its folder removed or replaced during the run
`;

/**
 * Builds the command line from the declarations, to run it or to generate documentation.
 *
 * @param first the first word of the command line: if it is a command, no other command is loaded
 */
export async function buildProgram({
  first,
  invocation = 'gateway-sim',
  io,
  onCommand,
}: {
  first?: string | undefined;
  invocation?: string;
  io?: Io;
  onCommand?: (parsed: Commander, command: Command) => Promise<void>;
} = {}): Promise<Commander> {
  const program = new Program(invocation)
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: columns,
      getErrHelpWidth: columns,
      outputError: (text, write) => write(`gateway-sim: ${text}`),
      ...(io && {
        writeOut: (text: string) => void io.stdout.write(text),
        writeErr: (text: string) => void io.stderr.write(text),
      }),
    })
    .description('A local emulator of a hosted payment gateway. No real money moves.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .showHelpAfterError(`  For all commands, run: ${invocation} --help`)
    .addHelpText('after', examples(['start', 'payments create', 'pay --approve'], invocation))
    .addHelpText('after', EXIT_CODE_HELP);
  for (const [name, declared] of Object.entries(COMMON_OPTIONS)) program.addOption(optionOf(name, declared));
  const wanted = Object.entries(COMMANDS).filter(([word]) => word === first);
  const loaded = (wanted.length ? wanted : Object.entries(COMMANDS)).map(([word, load]) =>
    load().then((one) => [word, one] as const),
  );
  for (const [word, one] of await Promise.all(loaded)) {
    const isGroup = 'commands' in one;
    const parent = isGroup ? program.command(word).description(one.summary) : program;
    if (isGroup) parent.addHelpText('after', examples(one.examples, invocation));
    for (const [name, command] of Object.entries(isGroup ? one.commands : { [word]: one })) {
      const offered = offer(parent, name, command, { isInGroup: isGroup, invocation });
      offered.action(() => onCommand?.(offered, command));
    }
  }
  return program.helpCommand('help [command]', 'show the help of a command');
}

function offer(
  parent: Commander,
  name: string,
  declared: Command,
  { isInGroup, invocation }: { isInGroup: boolean; invocation: string },
): Commander {
  const { args = [], fields = {}, options = {}, summary, about, usage, fix } = declared;
  // The name of a group alone runs this command.
  const isDefault = isInGroup && ['list', 'show'].includes(name) && !args.length;
  const command = parent.command(name, { isDefault }).description(summary);
  for (const arg of args) command.argument(arg);
  if (usage) command.usage(usage);
  // An unknown command of the group arrives here as an argument. `act` reports it better than commander.
  if (isDefault) command.allowExcessArguments();
  if (declared.allowUnknown) command.allowUnknownOption();
  for (const [key, option] of Object.entries({ ...fields, ...options }))
    command.addOption(optionOf(key, option));
  const fullName = isInGroup ? `${parent.name()} ${name}` : name;
  // What the user typed may be a command that the group does not have.
  const topic = isDefault ? parent.name() : fullName;
  const help = fix ? renderHint(fix, hintStyle(invocation)) : `For help, run: ${invocation} ${topic} --help`;
  command.showHelpAfterError(`  ${help}`);
  if (about) command.addHelpText('after', () => `\n${flowed(about, command)}`);
  return command.addHelpText('after', examples(declared.examples ?? [fullName], invocation));
}

/** Wraps paragraphs to the width of the help, except those with indented lines. */
function flowed(text: string, command: Commander): string {
  const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
  const flow = (one: string) =>
    /^ /m.test(one) ? one : new Layout().boxWrap(one.replaceAll('\n', ' '), width);
  return text.replace(/^\n+/, '').split(/\n\n+/).map(flow).join('\n\n');
}

/** Longer names have their description on the next line. */
const MAX_TERM = 24;

class Layout extends Help {
  override minWidthToWrap = 20;
  override showGlobalOptions = true;

  override padWidth(command: Commander, helper: Help): number {
    return Math.min(MAX_TERM, super.padWidth(command, helper));
  }

  override visibleOptions(command: Commander): Option[] {
    const options = super.visibleOptions(command);
    return command.parent ? options.filter(({ long }) => long !== '--help') : options;
  }

  /** Options that every command has are one sentence: the help of the program describes them. */
  override formatItemList(heading: string, items: string[], helper: Help): string[] {
    if (heading !== 'Global Options:' || !items.length) return super.formatItemList(heading, items, helper);
    const flags = Object.entries(COMMON_OPTIONS).map(([name, { flag }]) => flag ?? `--${kebab(name)}`);
    const sentence = `Every command also has ${flags.join(', ')} and --help.`;
    return [this.boxWrap(sentence, helper.helpWidth ?? 80), ''];
  }

  override formatItem(term: string, width: number, description: string, helper: Help): string {
    const format = (name: string) => super.formatItem(name, width, description, helper);
    return term.length <= width || !description ? format(term) : `  ${term}\n${format('')}`;
  }
}

function examples(lines: readonly string[], invocation: string): string {
  const heading = lines.length > 1 ? 'Examples' : 'Example';
  return `\n${heading}:\n${lines.map((line) => onLines(`${invocation} ${line}`)).join('\n')}`;
}

const MAX_LINE = 80;

/** A command, indented, on as many lines as it needs. It breaks before options and words, and can still be pasted. */
function onLines(text: string): string {
  const words = text.match(/(?:[^\s']|'[^']*')+/g) ?? [];
  const lines: string[] = [];
  let line = ' ';
  for (const [index, word] of words.entries()) {
    // The value of an option stays beside it.
    const next = words[index + 1];
    const pair =
      word.startsWith('--') && next !== undefined && !next.startsWith('-') ? `${word} ${next}` : word;
    if (line.trim() !== '' && `${line} ${pair} \\`.length > MAX_LINE) {
      lines.push(`${line} \\`);
      line = '   ';
    }
    line += ` ${word}`;
  }
  return [...lines, line].join('\n');
}

function optionOf(name: string, declared: OptionDeclaration): Option {
  const { placeholder, description, choices, required = false, parse } = declared;
  const flag = declared.flag ?? `--${kebab(name)}`;
  const option = new Option(placeholder ? `${flag} <${placeholder}>` : flag, description);
  if (choices) option.choices([...choices]);
  if (declared.group !== undefined) option.helpGroup(declared.group);
  if (parse) option.argParser(parse);
  return option.default(declared.default).makeOptionMandatory(required);
}

/** Commander, with our help and messages. */
class Program extends Commander {
  override createCommand(name: string): Program {
    return new Program(name);
  }

  override createHelp(): Help {
    return new Layout();
  }

  override error(message: string, options?: ErrorOptions): never {
    return super.error(withSynonym(message.replace(/^error: /, ''), this), options);
  }
}

/** Commander's message about an unknown name, with its synonym or its key in the configuration file, if it has one. */
function withSynonym(text: string, command: Commander): string {
  const { options, commands } = command;
  const [, dashes = '', written = ''] = /^unknown (?:option|command) '(-*)([\w-]+)/.exec(text) ?? [];
  const key = namesOf(START_OPTIONS).find((name) => isFileOnly(name) && kebab(name) === written);
  if (dashes && key !== undefined && OWN_STDOUT.has(command.name()))
    return `unknown option '--${written}': set "${key}" in the configuration file`;
  const known = dashes ? options.map(({ long }) => long?.slice(2) ?? '') : commands.map((one) => one.name());
  const meant = synonymOf(written, known);
  const others = /\n\(Did you mean (?:one of )?([^\n]*)\?\)/;
  if (meant === undefined) return text.replace(others, ': did you mean $1?');
  return `${text.replace(others, '')}: did you mean ${dashes}${meant}?`;
}
