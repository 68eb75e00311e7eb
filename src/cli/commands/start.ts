import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import { GatewayError } from '../../domain/error.ts';
import { faultView } from '../../http/control/faults.ts';
import { activityView } from '../../http/control/watch.ts';
import {
  environmentSource,
  kebab,
  type OptionSource,
  type OptionSpec,
  type ResolvedOptions,
  resolveOptions,
  START_OPTIONS,
} from '../../options.ts';
import { packagedFixtures, VERSION } from '../../release.ts';
import { type RunningServer, startServer } from '../../server.ts';
import { parseJsonc } from '../jsonc.ts';
import { activityLines } from '../lines.ts';
import { type Output, pairs } from '../output.ts';
import type { Call } from '../program.ts';

const CONFIG_FILE = 'gateway-sim.config.json';

/** `gateway-sim start`: runs until it is stopped. */
export async function start({ options: flags, output }: Call): Promise<undefined> {
  const options = resolveOptions([
    flagSource(flags),
    environmentSource(process.env),
    ...(await fileSource(typeof flags['config'] === 'string' ? flags['config'] : undefined)),
  ]);
  const server = await startServer(options, {
    version: VERSION,
    fixtures: packagedFixtures(),
    report: (error) =>
      output.notice(`gateway-sim failed inside: ${String((error as Error)?.stack ?? error)}`),
  });
  for (const notice of server.notices) output.notice(`gateway-sim: ${notice}`);
  for (const fault of server.parts.faults.list)
    output.notice(`gateway-sim: FAULT ON  ${faultView(fault).summary}`);
  announce(server, options, output);
  follow(server, output);
  stopOnSignals(server, output);
  if (flags['open'] === true) await openPage(`${server.url}/_sim`, output);
  await server.stopped;
  return undefined;
}

async function openPage(url: string, output: Output): Promise<void> {
  const { default: open } = await import('open');
  await open(url).catch(() => output.notice(`No browser could be opened: go to ${url}`));
}

function flagSource(flags: Readonly<Record<string, unknown>>): OptionSource {
  const values = Object.fromEntries(
    Object.keys(START_OPTIONS)
      // A boolean that is on by default stands in the flags even when nobody gave it.
      .filter((name) => flags[name] !== undefined && !(flags[name] === true && isOnByDefault(name)))
      .map((name) => [name, flags[name]]),
  );
  return { values, label: (name) => `--${kebab(name)}` };
}

function isOnByDefault(name: string): boolean {
  const spec: OptionSpec = START_OPTIONS[name as keyof typeof START_OPTIONS];
  return spec.default === true;
}

async function fileSource(named: string | undefined): Promise<OptionSource[]> {
  const path = resolve(named ?? CONFIG_FILE);
  if (named === undefined && !existsSync(path)) return [];
  const values = await readConfig(path);
  // Editors take the schema from here.
  delete values['$schema'];
  return [{ values, label: (name) => `"${name}" in ${basename(path)}` }];
}

async function readConfig(path: string): Promise<Record<string, unknown>> {
  try {
    const parsed = parseJsonc(await readFile(path, 'utf8'));
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
    throw new Error('it is not a JSON object');
  } catch (error) {
    throw new GatewayError('usage', `${path} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

function announce(server: RunningServer, options: ResolvedOptions, output: Output): void {
  const { url, port, publicKey, secretKey, dataDir, controlToken } = server;
  const dashboardUrl = `${server.parts.facts.baseUrl()}/_sim`;
  if (output.json) {
    output.line(
      JSON.stringify({
        event: 'ready',
        url,
        port,
        publicKey,
        secretKey,
        dashboardUrl,
        dataDir,
        controlToken,
        pid: process.pid,
      }),
    );
    return;
  }
  if (output.quiet) {
    output.line(`ready ${url}`);
    return;
  }
  output.line(output.commands(banner(server, options, output, dashboardUrl)));
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
    const view = activityView(activity, server.parts);
    if (output.json) output.line(JSON.stringify(view));
    else for (const line of activityLines(view, output.colour)) output.line(output.commands(line));
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
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}
