import { basename, delimiter, dirname, relative } from 'node:path';
import { type Command as Commander, CommanderError } from 'commander';
import { didYouMean, nearestName, usage } from '../contract/error.ts';
import { command as commandHint, hint } from '../contract/hint.ts';
import { unlikeGatewaySim } from '../library/control-client.ts';
import { environmentName, readValue } from '../options/resolve.ts';
import { START_OPTIONS } from '../options/table.ts';
import type { Command } from './command.ts';
import { connect } from './connect.ts';
import type { Io } from './io.ts';
import { connectionFlags, Output } from './output.ts';
import { buildProgram } from './program.ts';

/**
 * Runs a command line. Never throws.
 *
 * @param argv as process.argv: two words, then the user's
 * @returns the exit code
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  if (argv[2] === COMPLETE) return complete(argv.slice(3), io);
  const version = verboseVersion(argv.slice(2));
  if (version) return writeVersion(io, version.profile);
  const invocation = invocationOf(argv, io);
  let exitCode = 0;
  const program = await buildProgram(
    async (parsed, command) => {
      exitCode = await act(parsed, command, { io, invocation });
    },
    { io, invocation, first: argv[2] },
  );
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return new Output(io, { invocation }).fail(error);
    // Help and version are not errors.
    if (error.exitCode === 0) return 0;
    // Commander has already written the error as text.
    const words = argv.slice(2, argv.includes('--') ? argv.indexOf('--') : undefined);
    if (isJsonWanted(words, io) && !OWN_STDOUT.has(words.find((word) => !word.startsWith('-')))) {
      const message = error.code === 'commander.help' ? 'no command was specified' : error.message;
      const problem = usage(message.replace(/^error: /, ''));
      new Output(io, {}).line(JSON.stringify(problem));
    }
    return 2;
  }
}

/** The command that the scripts of `completion` run. */
const COMPLETE = '__complete';

async function complete(words: readonly string[], io: Io): Promise<number> {
  const { completionsOf } = await import('./complete.ts');
  // The user may still be typing the first word.
  const program = await buildProgram(undefined, { first: words.length > 1 ? words[0] : undefined });
  const output = new Output(io, {});
  for (const line of completionsOf(program, words)) output.line(line);
  return 0;
}

/** The arguments of `--version --verbose`; undefined for any other command line. */
function verboseVersion(words: readonly string[]): { profile: string | undefined } | undefined {
  const rest = words.filter((word) => !['--verbose', '--version', '-V'].includes(word));
  if (words.length - rest.length !== 2 || !words.includes('--verbose')) return undefined;
  const [, profile] = /^--profile[= ](.*)$/s.exec(rest.join(' ')) ?? [];
  return rest.length && profile === undefined ? undefined : { profile };
}

async function writeVersion(io: Io, profile: string | undefined): Promise<number> {
  const output = new Output(io, {});
  try {
    const { versionText } = await import('./version.ts');
    output.line(await versionText(io, profile));
    return 0;
  } catch (error) {
    return output.fail(error);
  }
}

/** Commands whose stdout belongs to the emulator or program that they run. Errors must not appear there. */
const OWN_STDOUT: ReadonlySet<string | undefined> = new Set(['start', 'exec']);

/** @param flags the words of the command line that may be flags */
function isJsonWanted(flags: readonly string[], { env }: Io): boolean {
  return flags.includes('--json') || /^(1|true)$/.test(env[environmentName('json')] ?? '');
}

/** Runs a command with its options, including those before its name and in the environment. @returns the exit code */
async function act(
  parsed: Commander,
  command: Command,
  { io, invocation }: { io: Io; invocation: string },
): Promise<number> {
  const { options, flags } = valuesOf(parsed);
  const text = (name: string) => (typeof flags[name] === 'string' ? flags[name] : undefined);
  const color = flags['color'] !== false;
  const [url, dataDir] = [text('url'), text('dataDir')];
  const variable = (name: string) => io.env[environmentName(name)] || undefined;
  const json = !OWN_STDOUT.has(parsed.name()) && isJsonWanted(flags['json'] === true ? ['--json'] : [], io);
  const output = new Output(io, { json, quiet: flags['quiet'] === true, color, invocation });
  const tlsCa = text('tlsCa') ?? null;
  output.connection = connectionFlags(
    { url, dataDir: url === undefined ? (dataDir ?? null) : null, tlsCa },
    io.cwd,
  );
  const choice = {
    // A folder on the command line overrides an address in the environment.
    url: url ?? (dataDir === undefined ? variable('url') : undefined),
    dataDir: dataDir ?? variable('dataDir'),
    controlToken: text('controlToken'),
    tokenVariable: variable('controlToken'),
    tlsCa: tlsCa ?? variable('tlsCa'),
  };
  let serverUrl: string | undefined;
  try {
    const jsonVariable = variable('json');
    if (jsonVariable) readValue(START_OPTIONS.json, jsonVariable, environmentName('json'));
    requireNoExcess(parsed);
    requireChoices(parsed, flags);
    const { fields = {}, neverGuess = false } = command;
    const given = Object.entries(options).filter(([name, value]) => name in fields && value !== undefined);
    const find = async (dataDir = choice.dataDir) => {
      const server = await connect({ ...choice, dataDir }, io, !neverGuess);
      serverUrl = server.url;
      return server;
    };
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
    return output.fail(
      serverUrl !== undefined && isMisunderstood(error) ? unlikeGatewaySim(serverUrl, error) : error,
    );
  }
}

/** Whether an error comes from a response with an unexpected shape. */
const isMisunderstood = (error: unknown) =>
  [TypeError, RangeError, SyntaxError, URIError].some((kind) => error instanceof kind);

/** The options of a command and its parents. `flags` has only the options on the command line itself. */
function valuesOf(command: Commander) {
  const options: Record<string, unknown> = {};
  const flags: Record<string, unknown> = {};
  for (let at: Commander | null = command; at; at = at.parent) {
    for (const [name, value] of Object.entries(at.opts())) {
      options[name] ??= value;
      if (at.getOptionValueSource(name) === 'cli') flags[name] ??= value;
    }
  }
  return { options, flags };
}

/** Checks the values of options before any server is contacted. */
function requireChoices({ options }: Commander, flags: Readonly<Record<string, unknown>>): void {
  for (const option of options) {
    const { argChoices: choices } = option;
    const value = flags[option.attributeName()];
    if (!choices || typeof value !== 'string' || choices.includes(value)) continue;
    throw usage(
      `${option.long} must be one of ${choices.join(', ')} (got "${value}")${didYouMean(value, choices)}`,
    );
  }
}

/** A word after the name of a group must be one of its commands. */
function requireNoExcess({ args, registeredArguments, parent }: Commander): void {
  const [excess] = args.slice(registeredArguments.length);
  if (excess === undefined || !parent || registeredArguments.at(-1)?.variadic) return;
  const names = parent.commands.map((command) => command.name());
  const meant = nearestName(excess, names);
  throw usage(`unknown command '${parent.name()} ${excess}'`, {
    hint: meant
      ? hint`Did you mean: ${commandHint(`${parent.name()} ${meant}`)}?`
      : hint`Available: ${names.join(', ')}`,
  });
}

/** How the user ran the tool, so that printed commands can be pasted. */
function invocationOf([, script = 'gateway-sim']: readonly string[], { env, cwd }: Io): string {
  if (env['npm_command'] === 'exec') {
    return basename(env['_'] ?? '') === 'npm' ? 'npm exec -- gateway-sim' : 'npx gateway-sim';
  }
  const onPath = (env['PATH'] ?? '').split(delimiter).includes(dirname(script));
  if (basename(script) === 'gateway-sim' && onPath) return 'gateway-sim';
  const path = relative(cwd, script);
  const shown = path.startsWith('..') ? script : path;
  if (script.endsWith('.js')) return `node ${shown}`;
  return shown.includes('/') ? shown : `./${shown}`;
}
