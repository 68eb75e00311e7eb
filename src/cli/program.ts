import { Command as Commander, Help, Option } from 'commander';
import { synonymOf } from '../contract/error.ts';
import { kebab, renderHint } from '../contract/hint.ts';
import { SEEN_IN_PS } from '../options/resolve.ts';
import { VERSION } from '../system/package-info.ts';
import {
  type Command,
  type Group,
  isDefaultCommand,
  type OptionDeclaration,
  type OptionDeclarations,
} from './command.ts';
import type { Io } from './io.ts';
import { hintStyle } from './output.ts';

/** The commands and groups, in the order of the help. Only the requested one is loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<Command | Group>>> = {
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
  completion: async () => (await import('./commands/completion.ts')).completion,
};

const EXIT_CODE_HELP = `
Exit codes:
  0  ok
  1  a check failed
  2  wrong usage
  3  no server
  4  not found or wrong state
  5  port or data folder in use, or folder not writable
  6  state damaged, or its folder removed or replaced during the run
`;

const COMMON_OPTIONS: OptionDeclarations = {
  url: { placeholder: 'url', description: 'address of the running emulator' },
  dataDir: { placeholder: 'folder', description: 'data folder of the running emulator' },
  tlsCa: {
    placeholder: 'file',
    description:
      'certificate to trust for an HTTPS emulator (not needed if the emulator is found through its data folder)',
  },
  controlToken: { placeholder: 'token', description: `token required on /_sim; ${SEEN_IN_PS}` },
  json: { description: 'print one JSON document on stdout' },
  color: { flag: '--no-color', description: 'disable colours' },
};

/**
 * Builds the command line from the declarations, to run it or to generate documentation and completions.
 *
 * @param first the first word of the command line: if it is a command, no other command is loaded
 */
export async function buildProgram(
  runner: (parsed: Commander, command: Command) => Promise<void> = async () => {},
  {
    io,
    invocation = 'gateway-sim',
    first,
  }: { io?: Io; invocation?: string; first?: string | undefined } = {},
): Promise<Commander> {
  const program = new Commander(invocation)
    .description('A local emulator of a hosted payment gateway. No real money moves.')
    .version(VERSION, '-V, --version', 'print the version; with --verbose also the active profile')
    .addHelpText('after', examples(['start', 'payments create', 'pay --approve'], invocation))
    .addHelpText('after', EXIT_CODE_HELP);
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
      offered.action(() => runner(offered, command));
    }
  }
  prepare(program, io);
  return program;
}

function offer(
  parent: Commander,
  name: string,
  declared: Command,
  { isInGroup, invocation }: { isInGroup: boolean; invocation: string },
): Commander {
  const { args = [], choices, fields = {}, options = {}, summary, about, usage, advice } = declared;
  const isDefault = isInGroup && isDefaultCommand(name, args);
  const command = parent.command(name, { isDefault }).description(summary);
  for (const arg of args) command.argument(arg);
  const [first] = command.registeredArguments;
  if (choices && first) first.argChoices = [...choices];
  if (usage) command.usage(usage);
  // An unknown command of the group arrives here as an argument. `act` reports it better than commander.
  if (isDefault) command.allowExcessArguments();
  if (declared.allowUnknown) command.allowUnknownOption();
  for (const [key, option] of Object.entries({ ...fields, ...options }))
    command.addOption(optionOf(key, option));
  const fullName = isInGroup ? `${parent.name()} ${name}` : name;
  const help = advice
    ? renderHint(advice, hintStyle(invocation))
    : `For help, run: ${invocation} ${fullName} --help`;
  command.showHelpAfterError(`  ${help}`);
  if (about) command.addHelpText('after', () => `\n${flowed(about, command)}`);
  return command.addHelpText('after', examples(declared.examples ?? [fullName], invocation));
}

/** Wraps paragraphs to the width of the help, except those with indented lines. */
function flowed(text: string, command: Commander): string {
  const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
  const flow = (one: string) => (/^ /m.test(one) ? one : LAYOUT.boxWrap(one.replaceAll('\n', ' '), width));
  return text.replace(/^\n+/, '').split(/\n\n+/).map(flow).join('\n\n');
}

/** Longer names have their description on the next line. */
const MAX_TERM = 24;
const LAYOUT = Object.assign(new Help(), { minWidthToWrap: 20 });

const layout: Partial<Help> = {
  minWidthToWrap: LAYOUT.minWidthToWrap,
  padWidth: (command, helper) => Math.min(MAX_TERM, LAYOUT.padWidth.call(helper, command, helper)),
  formatItem: (term, width, description, helper) => {
    const format = (name: string) => LAYOUT.formatItem.call(helper, name, width, description, helper);
    return term.length <= width || !description ? format(term) : `  ${term}\n${format('')}`;
  },
};

function examples(lines: readonly string[], invocation: string): string {
  const heading = lines.length > 1 ? 'Examples' : 'Example';
  return `\n${heading}:\n${lines.map((line) => `  ${invocation} ${line}`).join('\n')}`;
}

function optionOf(name: string, declared: OptionDeclaration): Option {
  const { placeholder, description, choices, required = false, parse } = declared;
  const flag = declared.flag ?? `--${kebab(name)}`;
  const option = new Option(placeholder ? `${flag} <${placeholder}>` : flag, description);
  if (choices) option.argChoices = [...choices];
  if (parse) option.argParser(parse);
  return option.default(declared.default).makeOptionMandatory(required);
}

/** Every command also accepts the common options after its name, and reports errors the same way. */
function prepare(command: Commander, io: Io | undefined): void {
  command
    .exitOverride()
    .configureHelp(layout)
    .configureOutput({
      outputError: (text, write) => write(withSynonym(text.replace(/^error: /, 'gateway-sim: '), command)),
      ...(io && {
        writeOut: (text: string) => void io.stdout.write(text),
        writeErr: (text: string) => void io.stderr.write(text),
      }),
    });
  const known = new Set(command.options.map((option) => option.attributeName()));
  for (const [name, declared] of Object.entries(COMMON_OPTIONS)) {
    if (known.has(name)) continue;
    const option = optionOf(name, declared);
    command.addOption(command.parent ? option.helpGroup(OF_EVERY_COMMAND) : option);
  }
  const help = new Option('-h, --help', 'show help');
  command.addHelpOption(command.parent ? help.helpGroup(OF_EVERY_COMMAND) : help);
  if (!command.parent) command.helpCommand('help [command]', 'show the help of a command');
  for (const sub of command.commands) prepare(sub, io);
}

const OF_EVERY_COMMAND = 'Global options:';

/** Commander's message about an unknown name, with a known synonym if there is one. */
function withSynonym(text: string, { options, commands }: Commander): string {
  const [, dashes = '', written = ''] =
    /^gateway-sim: unknown (?:option|command) '(-*)([\w-]+)/.exec(text) ?? [];
  const known = dashes ? options.map(({ long }) => long?.slice(2) ?? '') : commands.map((one) => one.name());
  const meant = synonymOf(written, known);
  return meant === undefined
    ? text
    : `${text.replace(/\n\(Did you mean[^\n]*/, '').trimEnd()}\n(Did you mean ${dashes}${meant}?)\n`;
}
