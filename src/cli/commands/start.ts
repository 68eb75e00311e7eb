import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { ERRORS, kebab } from '../../contract/error.ts';
import { maskedIn } from '../../contract/secrets.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import { SEEN_IN_PS } from '../../options/resolve.ts';
import {
  type OptionName,
  type OptionSpec,
  type ResolvedOptions,
  START_OPTIONS,
} from '../../options/start-options.ts';
import { DEFAULT_DATA_DIR } from '../../store/server-file.ts';
import { VERSION } from '../../system/package-info.ts';
import { announce, bannerText, leftText, noticesOf, readyEvent } from '../banner.ts';
import { COMMON_OPTIONS, type Context, defineCommand, list, type OptionDeclaration } from '../command.ts';
import { foldersAbove, readConfiguration, startConfiguration } from '../configuration.ts';
import { type ParentProcess, parentProcess, trimLog } from '../detached.ts';
import { endByHangup, onceThenExit, onNpmExit } from '../signals.ts';

/** The groups of the help, in order: what people use first, then everything else by subject. */
const GROUPS: Readonly<Record<string, readonly OptionName[]>> = {
  'Options:': ['port', 'inMemory', 'profile', 'auto', 'forwardIpn', 'db', 'detach', 'quiet'],
  'Server:': ['host', 'publicUrl', 'tls', 'proxy', 'hostAlias'],
  'Payments:': ['currency', 'loose', 'errorStatus', 'delivery', 'autoDelay', 'paymentExpires', 'seed'],
  'IPNs:': ['ipnRetries', 'ipnSchedule', 'ipnFormat', 'amountFormat', 'ipnOn', 'allowIpnHost', 'ipnInsecure'],
  'Checkout:': ['panel', 'sandboxEmail', 'sandboxCode'],
  'Access:': ['publicKey', 'secretKey', 'allowHost', 'allowOrigin'],
  'State:': ['fixtures', 'fsync'],
};

const GROUP_OF: ReadonlyMap<OptionName, string> = new Map(
  Object.entries(GROUPS).flatMap(([group, names]) => names.map((name) => [name, group] as const)),
);

/**
 * The flags of `start`, from the options table, except those that every command has.
 *
 * @param defaults as text, where they differ from the defaults of `start`
 */
export function startFlags(
  isWanted: (spec: OptionSpec) => boolean,
  defaults: Readonly<Record<string, string>> = {},
) {
  const flags: Record<string, OptionDeclaration> = {};
  for (const name of new Set([...GROUP_OF.keys(), ...namesOf(START_OPTIONS)])) {
    const spec: OptionSpec = START_OPTIONS[name];
    const { kind, description, choices, placeholder = choices?.join('|') } = spec;
    if (spec.fileOnly || name in COMMON_OPTIONS || !isWanted(spec)) continue;
    const group = GROUP_OF.get(name) ?? 'Options:';
    if (kind === 'boolean') {
      const off = { flag: `--no-${kebab(name)}`, description: `do not ${description}` };
      flags[name] = { group, ...(spec.default === true ? off : { description }) };
      continue;
    }
    const fallback = defaults[name] ?? spec.default;
    const shown = fallback === undefined ? '' : ` (default: ${fallback})`;
    const isSecret = kind === 'secret' && name !== 'publicKey';
    flags[name] = {
      group,
      description: `${description}${shown}${isSecret ? `; ${SEEN_IN_PS}` : ''}`,
      ...(placeholder !== undefined && { placeholder }),
      ...(kind === 'list' && { parse: list(name, description).parse }),
    };
  }
  return flags;
}

export const start = defineCommand({
  summary: 'start the emulator',
  options: startFlags(() => true),
  examples: [
    'start',
    'start --port 0 --in-memory --json --quiet',
    'start --currency NPR:Rs --loose',
    'start --detach',
  ],
  run: async (context) => {
    const { flags, io, output } = context;
    const parent = parentProcess();
    try {
      const file = await readConfiguration(io);
      const options = startConfiguration(flags, io.env, file);
      output.quiet = options.quiet;
      output.json = options.json;
      // The detached process reads the same flags, variables and file.
      if (!options.detach || parent) return await startHere(options, context, parent);
      const { startInBackground } = await import('../detach.ts');
      await startInBackground(options, context);
    } catch (error) {
      // A program that waits for the ready event on stdout must not get an error document.
      output.json = false;
      if (!parent) throw error;
      // The parent reports it: this process could not lock the folder and must not write to its log.
      await parent.failed(error);
    }
    return undefined;
  },
});

async function startHere(
  options: ResolvedOptions,
  context: Context,
  parent: ParentProcess | undefined,
): Promise<number | undefined> {
  const { flags, io, output } = context;
  const standingFixtures = startConfiguration(flags, io.env, undefined).fixtures === undefined;
  const other = stateAbove(options, io.cwd);
  const { startEmulator } = await import('../start-emulator.ts');
  const server = await startEmulator(options, output, standingFixtures);
  // Listens before the ready event, after which a signal may arrive.
  const stop = onceThenExit(() => {
    if (!output.quiet && !output.json) output.notice('\nStopping…');
    void server.stop();
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) io.signals.on(signal, () => stop());
  io.signals.once('SIGHUP', endByHangup);
  const { runtime } = server.parts;
  const ready = readyEvent({ ...server, pid: process.pid }, runtime.baseUrl(), options.proxy);
  const notices = [...noticesOf(server, output), ...other];
  if (parent) {
    trimLog();
    output.notice(`--- gateway-sim ${VERSION}, process ${process.pid}, ${new Date().toISOString()}`);
  }
  // A log is a file. The command that started this process prints the keys.
  const announced = parent ? maskedIn(ready, server.parts.secrets.mask) : ready;
  announce(announced, notices, output, () => bannerText(announced, server, output, io.cwd));
  output.secrets = server.parts.secrets;
  // One line per event; with --json one document per event.
  if (!output.quiet)
    await server.onEvent(import('../format.ts').then(({ eventPrinter }) => eventPrinter(output)));
  if (parent) {
    if (!(await parent.ready({ ready, notices }))) {
      await server.stop();
      await parent.stopped();
      return undefined;
    }
  } else {
    onNpmExit(io.env, () => {
      output.notice(
        'gateway-sim: npm exited, so the emulator is stopping; use start --detach to keep it running',
      );
      void server.stop();
    });
  }
  await server.stopped;
  await parent?.stopped();
  if (server.isLost) return ERRORS.state_damaged.exitCode;
  const next = server.dataDir === null ? null : server.parts.clock.nextAfterRestart();
  if (next !== null && !output.quiet) output.notice(`gateway-sim: ${leftText(new Date(next).toISOString())}`);
  return undefined;
}

/** Warns if a parent folder already has a state and this start creates another one. */
function stateAbove({ dataDir, inMemory }: ResolvedOptions, cwd: string): string[] {
  if (inMemory || dataDir !== DEFAULT_DATA_DIR || existsSync(resolve(cwd, dataDir))) return [];
  const above = foldersAbove(cwd).map((folder) => join(folder, dataDir));
  const theirs = above.find((folder) => existsSync(join(folder, 'db.json')));
  if (theirs === undefined) return [];
  const use = `to use the existing one, start with --data-dir ${relative(cwd, theirs)}`;
  return [`gateway-sim: created a new state in ${dataDir}; ${use}`];
}
