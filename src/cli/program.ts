import { Command, Help, Option } from 'commander';
import { synonymOf } from '../contract/error.ts';
import { kebab, renderHint } from '../contract/hint.ts';
import { SEEN_IN_PS } from '../options/secret-file.ts';
import { VERSION } from '../system/package-info.ts';
import {
  type AnyGroup,
  type Declaration,
  isDefaultCommand,
  type OptionDeclaration,
  type OptionDeclarations,
} from './command.ts';
import type { Io } from './io.ts';
import { hintStyle } from './output.ts';

/** The commands by their first words, in the order of the help. Only what was asked for is loaded. */
const COMMANDS: readonly (readonly [words: readonly string[], load: () => Promise<AnyGroup>])[] = [
  [['start'], async () => (await import('./commands/start.ts')).start],
  [['exec'], async () => (await import('./commands/exec.ts')).exec],
  [['pay'], async () => (await import('./commands/payments.ts')).pay],
  [['payments'], async () => (await import('./commands/payments.ts')).payments],
  [['ipn'], async () => (await import('./commands/ipn.ts')).ipn],
  [['keys'], async () => (await import('./commands/keys.ts')).keys],
  [['wallets'], async () => (await import('./commands/wallets.ts')).wallets],
  [['state'], async () => (await import('./commands/state.ts')).state],
  [['cards'], async () => (await import('./commands/cards.ts')).cards],
  [['faults'], async () => (await import('./commands/faults.ts')).faults],
  [['clock'], async () => (await import('./commands/clock.ts')).clock],
  [['audit', 'reconcile'], async () => (await import('./commands/audit.ts')).audit],
  [['conform'], async () => (await import('./commands/conform.ts')).conform],
  [['status', 'stop', 'wait', 'open'], async () => (await import('./commands/emulator.ts')).emulator],
  [['inbox'], async () => (await import('./commands/inbox.ts')).inbox],
  [['logs'], async () => (await import('./commands/logs.ts')).logs],
  [['init'], async () => (await import('./commands/init.ts')).init],
  [['docs'], async () => (await import('./commands/docs.ts')).docs],
  [['openapi'], async () => (await import('./commands/openapi.ts')).openapi],
  [['completion'], async () => (await import('./commands/completion.ts')).completion],
];

const EXIT_CODE_HELP = `
Exit codes:
  0  ok
  1  a check failed
  2  wrong usage
  3  no server
  4  not found or wrong state
  5  port or data folder in use, or the folder cannot be written
  6  state damaged, or its folder removed or replaced while it ran
`;

const COMMON_OPTIONS: OptionDeclarations = {
  url: { placeholder: 'url', description: 'address of the running emulator' },
  dataDir: { placeholder: 'folder', description: 'folder of the running emulator' },
  tlsCa: {
    placeholder: 'file',
    description:
      'certificate to trust of an emulator that speaks https; one found by its folder is trusted already',
  },
  controlToken: { placeholder: 'token', description: `token that /_sim asks for; ${SEEN_IN_PS}` },
  json: { description: 'one JSON document on stdout' },
  color: { flag: '--no-color', description: 'no colours' },
};

/**
 * The command line, as declared: for running it, and for what is made from it.
 *
 * @param first the first word of the command line: where it is a command, the others are left out, which nobody will see
 */
export async function buildProgram(
  runner: (command: Command, group: AnyGroup) => Promise<void> = async () => {},
  {
    io,
    invocation = 'gateway-sim',
    first,
  }: { io?: Io; invocation?: string; first?: string | undefined } = {},
): Promise<Command> {
  const program = new Command(invocation)
    .description('A local emulator of a hosted payment gateway. No real money moves.')
    .version(VERSION, '-V, --version', 'print the version; with --verbose also the profile in force')
    .addHelpText('after', examples(['start', 'payments create', 'pay --approve'], invocation))
    .addHelpText('after', EXIT_CODE_HELP);
  const wanted = COMMANDS.filter(([words]) => words.includes(first ?? ''));
  const groups = await Promise.all((wanted.length ? wanted : COMMANDS).map(([, load]) => load()));
  const style = hintStyle(invocation);
  for (const one of groups) {
    const parent = one.name ? program.command(one.name).description(one.summary ?? '') : program;
    if (one.examples) parent.addHelpText('after', examples(one.examples, invocation));
    for (const [name, declared] of Object.entries(one.commands)) {
      const command = declare(parent, name, declared, { inGroup: parent !== program, invocation });
      if (declared.advice) command.showHelpAfterError(`  ${renderHint(declared.advice, style)}`);
      command.action(() => runner(command, one));
    }
  }
  prepare(program, io);
  return program;
}

function declare(
  parent: Command,
  name: string,
  declared: Declaration,
  { inGroup, invocation }: { inGroup: boolean; invocation: string },
): Command {
  const { args = [], choices, fields = {}, options = {}, summary, about, usage } = declared;
  const isDefault = inGroup && isDefaultCommand(name, args);
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
  if (about) command.addHelpText('after', () => `\n${flowed(about, command)}`);
  const fullName = inGroup ? `${parent.name()} ${name}` : name;
  return command.addHelpText('after', examples(declared.examples ?? [fullName], invocation));
}

/** A text in paragraphs, as wide as the help. One whose lines are indented stays as it is. */
function flowed(text: string, command: Command): string {
  const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
  const flow = (one: string) => (/^ /m.test(one) ? one : LAYOUT.boxWrap(one.replaceAll('\n', ' '), width));
  return text.replace(/^\n+/, '').split(/\n\n+/).map(flow).join('\n\n');
}

/** Names longer than this have their description below them. */
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

/** Every command takes the common options behind its name too, and reports errors the same way. */
function prepare(command: Command, io: Io | undefined): void {
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
  if (command.parent) {
    const help = new Option('-h, --help', 'display help for command').helpGroup(OF_EVERY_COMMAND);
    command.addHelpOption(help);
  }
  for (const sub of command.commands) prepare(sub, io);
}

const OF_EVERY_COMMAND = 'Options of every command:';

/** What commander says of an unknown name, with the one for which it is another word. */
function withSynonym(text: string, { options, commands }: Command): string {
  const [, dashes = '', written = ''] =
    /^gateway-sim: unknown (?:option|command) '(-*)([\w-]+)/.exec(text) ?? [];
  const known = dashes ? options.map(({ long }) => long?.slice(2) ?? '') : commands.map((one) => one.name());
  const meant = synonymOf(written, known);
  return meant === undefined
    ? text
    : `${text.replace(/\n\(Did you mean[^\n]*/, '').trimEnd()}\n(Did you mean ${dashes}${meant}?)\n`;
}
