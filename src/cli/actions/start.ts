import { relative } from 'node:path';
import { GatewayError } from '../../contract/error.ts';
import { command, hint, option, PLAIN } from '../../contract/hint.ts';
import { faultView } from '../../http/control/faults.ts';
import { simEventView } from '../../http/control/watch.ts';
import type { ResolvedOptions } from '../../options.ts';
import { type RunningServer, startServer } from '../../server.ts';
import { packagedFixtures, VERSION } from '../../system/package-info.ts';
import { type Flags, readConfiguration, startConfiguration } from '../configuration.ts';
import { detach, type ParentProcess, parentProcess, type ReadyEvent, trimLog } from '../detach.ts';
import { endByHangup } from '../hangup.ts';
import { eventLines } from '../lines.ts';
import { connectionFlags, type Output, pairs } from '../output.ts';
import { probe } from '../probe.ts';
import type { CommandContext } from '../program.ts';
import { onNpmExit } from '../watch-parent.ts';

/** So long may what has our port take to say who it is. */
const PROBE_MS = 1_000;

/** `gateway-sim start`: runs until it is stopped; with --detach until the one in the background answers. */
export async function start({ flags, output }: CommandContext): Promise<undefined> {
  const starter = parentProcess();
  try {
    const file = await readConfiguration(configOf(flags));
    const options = startConfiguration(flags, process.env, file);
    output.quiet = options.quiet;
    output.json = options.json;
    // The detached process reads the same flags, variables and file.
    if (options.detach && !starter) await startInBackground(options, output);
    else {
      const standingFixtures = startConfiguration(flags, process.env, undefined).fixtures === undefined;
      await startHere(options, output, { starter, standingFixtures });
    }
  } catch (error) {
    if (!starter) throw error;
    // Whoever started this one says it; this one has no business in the log of a folder that it could not take.
    await starter.failed(error);
  }
  return undefined;
}

/** The configuration file that was named on the command line. */
export function configOf(flags: Flags): string | undefined {
  return typeof flags['config'] === 'string' ? flags['config'] : undefined;
}

async function startHere(
  options: ResolvedOptions,
  output: Output,
  { starter, standingFixtures }: { starter: ParentProcess | undefined; standingFixtures: boolean },
): Promise<void> {
  const server = await startEmulator(options, output, standingFixtures).catch(async (error: unknown) => {
    throw await nameOwner(error, options);
  });
  // Before anybody hears that it is ready, and may want to end it.
  stopOnSignals(server, output);
  const ready = readyEvent(server);
  output.connection = connectionFlags(ready.url, ready.dataDir);
  const notices = noticesOf(server);
  if (starter) {
    trimLog();
    output.notice(`--- gateway-sim ${VERSION}, process ${process.pid}, ${new Date().toISOString()}`);
  }
  for (const notice of notices) output.notice(notice);
  announce(server, ready, options, output);
  follow(server, output);
  if (starter) {
    if (!(await starter.ready(ready, notices))) return server.stop();
  } else {
    onNpmExit(process.env, () => {
      output.notice('gateway-sim: npm is gone, so this stops too (start --detach stays)');
      void server.stop();
    });
  }
  if (options.open && !starter) await openPage(ready.dashboardUrl, output);
  await server.stopped;
}

/** With the command that stops it, where what has the port is another emulator. */
async function nameOwner(error: unknown, { host, port }: ResolvedOptions): Promise<unknown> {
  if (!(error instanceof GatewayError) || error.code !== 'port_in_use') return error;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if ((await probe(url, PROBE_MS)) !== 'ready') return error;
  return new GatewayError('port_in_use', `port ${port} on ${host} is in use by another gateway-sim`, {
    hint: hint`Stop it with: ${command('stop', '--url', url)} (or choose another port with ${option('port')}; 0 takes a free one)`,
    cause: error,
  });
}

/**
 * Starts an emulator in this process.
 *
 * @param output where its own faults are told, and how the commands on its pages are put
 * @param standingFixtures whether the fixtures stand in the configuration file
 */
export function startEmulator(
  options: ResolvedOptions,
  output: Output,
  standingFixtures = false,
): Promise<RunningServer> {
  return startServer(options, {
    version: VERSION,
    fixtures: packagedFixtures(),
    standingFixtures,
    style: { command: (hint) => output.commands(PLAIN.command(hint)), option: PLAIN.option },
    report: (error) =>
      output.notice(`gateway-sim failed inside: ${String((error as Error)?.stack ?? error)}`),
  });
}

/** What was found at the start and should be known, and the faults that are on. */
export function noticesOf({ notices, parts }: RunningServer): string[] {
  return [
    ...notices.map((notice) => `gateway-sim: ${notice}`),
    ...parts.faults.list.map((fault) => `gateway-sim: FAULT ON  ${faultView(fault).summary}`),
  ];
}

async function startInBackground(options: ResolvedOptions, output: Output): Promise<void> {
  const { ready, notices, log } = await detach(options);
  output.connection = connectionFlags(ready.url, ready.dataDir);
  for (const notice of notices) output.notice(notice);
  if (output.json) output.line(JSON.stringify(ready));
  else if (output.quiet) output.line(`ready ${ready.url}`);
  else output.line(output.commands(detachedBanner(ready, log)));
  if (options.open) await openPage(ready.dashboardUrl, output);
}

function detachedBanner(ready: ReadyEvent, log: string): string {
  const { url, dashboardUrl, publicKey, secretKey, dataDir, controlToken, pid } = ready;
  const facts: [string, string][] = [
    ['Base URL', url],
    ['Dashboard', dashboardUrl],
    ['Public key', publicKey],
    ['Secret key', secretKey],
    ...(controlToken ? [['Control token', controlToken] satisfies [string, string]] : []),
    ['Log', dataDir ? relative('', log) : log],
    ['Stop it', 'gateway-sim stop'],
  ];
  return `gateway-sim runs in the background (process ${pid})\n\n${pairs(facts)}`;
}

async function openPage(url: string, output: Output): Promise<void> {
  const { default: open } = await import('open');
  await open(url).catch(() => output.notice(`No browser could be opened: go to ${url}`));
}

function readyEvent(server: RunningServer): ReadyEvent {
  const { url, port, publicKey, secretKey, dataDir, controlToken } = server;
  const dashboardUrl = `${server.parts.facts.baseUrl()}/_sim`;
  return {
    event: 'ready',
    url,
    port,
    publicKey,
    secretKey,
    dashboardUrl,
    dataDir,
    controlToken,
    pid: process.pid,
  };
}

function announce(server: RunningServer, ready: ReadyEvent, options: ResolvedOptions, output: Output): void {
  if (output.json) output.line(JSON.stringify(ready));
  else if (output.quiet) output.line(`ready ${ready.url}`);
  else output.line(output.commands(banner(server, options, output, ready.dashboardUrl)));
}

function banner(
  server: RunningServer,
  options: ResolvedOptions,
  { colour }: Output,
  dashboardUrl: string,
): string {
  const { parts, url, publicKey, secretKey, dataDir, controlToken } = server;
  const { state } = parts.gateway;
  const stored = `${state.payments.size} payments, ${state.cards.size} cards`;
  const liveEmail = state.wallets.values().next().value?.email ?? 'none';
  const facts: [string, string][] = [
    ['Base URL', options.publicUrl ? `${url}  (public: ${options.publicUrl})` : url],
    ['Dashboard', dashboardUrl],
    ['Public key', publicKey],
    ['Secret key', secretKey],
    ...(controlToken ? [['Control token', controlToken] as [string, string]] : []),
    ['Sandbox', `e-mail ${options.sandboxEmail}   code ${options.sandboxCode}`],
    ['Live', `e-mail ${liveEmail}   code: gateway-sim inbox`],
    ...(options.seed === undefined
      ? []
      : [['Seed', `${options.seed}   ids, codes and card numbers repeat`] satisfies [string, string]]),
    [
      'State',
      dataDir ? `${relative('', dataDir) || '.'}/db.json  (${stored})` : 'in memory, gone when this stops',
    ],
  ];
  const example =
    'gateway-sim payments create --amount 100 --currency USD --ipn-url http://localhost:3000/ipn';
  const text = [
    `${colour.bold('gateway-sim')} ${parts.facts.version}   ${colour.yellow('LOCAL EMULATOR, no real money moves')}`,
    '',
    pairs(facts.map(([name, value]) => [name.padEnd(12), value])),
    ...parts.faults.list.map((fault) => colour.red(`FAULT ON      ${faultView(fault).summary}`)),
    '',
    `Try it        ${example}`,
    'Ctrl-C stops. gateway-sim --help lists everything.',
  ].join('\n');
  return `\n${text.replace(/^(?=.)/gm, '  ')}\n`;
}

/** One line for each thing that happens; with --json one document for each. */
function follow(server: RunningServer, output: Output): void {
  if (output.quiet) return;
  server.parts.activity.subscribe((activity) => {
    const view = simEventView(activity, server.parts);
    if (output.json) output.line(JSON.stringify(view));
    else for (const line of eventLines(view, output.colour)) output.line(output.commands(line));
  });
}

/** npm and CI send a signal twice; only one that comes later means that somebody has lost patience. */
const DOUBLED_SIGNAL_MS = 1_000;

function stopOnSignals(server: RunningServer, output: Output): void {
  let first: number | undefined;
  const onSignal = () => {
    const now = performance.now();
    if (first !== undefined && now - first > DOUBLED_SIGNAL_MS) process.exit(130);
    if (first !== undefined) return;
    first = now;
    if (!output.quiet && !output.json) output.notice('\nStopping…');
    void server.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  process.once('SIGHUP', endByHangup);
}
