import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ChalkInstance } from 'chalk';
import type { ConformOptions } from '../../conform/conform.ts';
import type { Conformed } from '../../conform/reports.ts';
import { isLoopback, urlProblem } from '../../contract/address.ts';
import type { Cause, ConformReport } from '../../contract/conform.ts';
import { GatewayError, usage } from '../../contract/error.ts';
import { command, hint, option } from '../../contract/hint.ts';
import { AREAS, type ManifestLine } from '../../contract/manifest.ts';
import { PROFILE_NAMES } from '../../contract/profiles.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import { controlServer } from '../../library/control-client.ts';
import { dialect, requireMerchant } from '../../library/merchant-client.ts';
import { trustingAgent } from '../../library/trust.ts';
import { readSecret, SEEN_IN_PS } from '../../options/secret-file.ts';
import type { ResolvedOptions } from '../../options/table.ts';
import { reason } from '../../store/files.ts';
import { packaged, VERSION } from '../../system/package-info.ts';
import { type Context, counted, defineCommand, flag, type GivenValues, text } from '../command.ts';
import { readConfiguration, startConfiguration } from '../configuration.ts';
import { type CommandResult, type Io, type Output, onOneLine } from '../output.ts';
import { requireWritable, writeReports } from '../write-file.ts';

/** A report as text: differences, lines that were not seen and why, and the counts. */
export function conformText(
  report: ConformReport,
  held: readonly ManifestLine[],
  { colour, all }: { colour: ChalkInstance; all: boolean },
): string {
  const { target, profile, agree, differ, causes, unseen } = report;
  const counts = [
    colour.green(`${agree} agree`),
    differ.length ? colour.red(`${differ.length} differ`) : '0 differ',
    `${unseen.length} not seen`,
  ];
  return [
    ...(all ? linesText(report, held, colour) : causes.map((one) => causeText(one, colour))),
    ...(differ.length && !all
      ? ['Use --all to show each line with the expected and the actual result.']
      : []),
    ...unseenText(unseen),
    `${target} against the profile ${profile}: ${counts.join(', ')}`,
  ].join('\n');
}

/** Maximum ids per cause. */
const EXAMPLES = 3;

function causeText({ cause, ids }: Cause, colour: ChalkInstance): string {
  const examples = ids.slice(0, EXAMPLES).join(', ') + (ids.length > EXAMPLES ? ', …' : '');
  return `${colour.red('DIFFERS')} ${colour.bold(`${ids.length} x`)} ${onOneLine(cause)} (${examples})`;
}

function linesText(
  { differ }: ConformReport,
  held: readonly ManifestLine[],
  colour: ChalkInstance,
): string[] {
  const byId = new Map(held.map((line) => [line.id, line]));
  return namesOf(AREAS).flatMap((area) => {
    const own = differ.filter(({ id }) => byId.get(id)?.area === area);
    if (!own.length) return [];
    return [
      colour.bold(AREAS[area]),
      ...own.map(({ id, expected, got }) => {
        const { says = '', source } = byId.get(id) ?? {};
        return `  ${colour.red('DIFFERS')} ${colour.bold(id)}: ${says} (${source?.kind})\n    expected: ${onOneLine(expected)}\n    got:      ${onOneLine(got)}`;
      }),
    ];
  });
}

function unseenText(unseen: ConformReport['unseen']): string[] {
  const counts = new Map<string, number>();
  for (const { why } of unseen) counts.set(why, (counts.get(why) ?? 0) + 1);
  return [...counts].map(([why, count]) => `${count} not seen: ${onOneLine(why)}`);
}

const ABOUT = `
Checks an emulator or a deployment against every line of the manifest: a request and the expected response. Without
--target, it checks the running emulator, or a temporary one in memory.

A target on this machine that identifies itself as gateway-sim (X-Gateway-Sim on GET /_sim/livez) is tested fully,
and payments left pending are canceled. On any other target, only the sandbox is tested. A remote target gets at most five
requests per second. Only payments of this run are settled. To receive IPNs from a remote target, use --ipn-url with a
tunnel to --ipn-port. The exit code is 1 if a line differs.`;

const OPTIONS = {
  target: text(
    'base-url',
    'base address to check, such as https://pay.example.com (default: the running emulator)',
  ),
  profile: text(
    'name|file',
    `expected behaviour: ${PROFILE_NAMES.join(', ')}, or a file (default: document)`,
  ),
  publicKey: text('key', 'public key of a merchant of the target'),
  secretKey: text('key', `secret key of the same merchant; ${SEEN_IN_PS}`),
  ipnUrl: text('url', 'public address that forwards to --ipn-port on this machine'),
  ipnPort: text('number', 'port to listen on for IPNs (default: a free port)'),
  live: counted('also test live mode of a deployment (repeat the flag to confirm; may move real money)'),
  all: flag('show every line that differs, instead of one per cause'),
  manifest: text('file', 'check these lines instead of the built-in ones'),
  out: text('file', 'write the differences to a file, with keys and personal data masked'),
  updateProfile: text('file', 'write a profile that explains the differences, for start --profile'),
  junit: text('file', 'also write the result as JUnit XML'),
};

type ConformContext = Context & { options: GivenValues<typeof OPTIONS> };

/** The target and its credentials. */
type Place = Pick<ConformOptions, 'url' | 'publicKey' | 'secretKey' | 'controlToken' | 'agent'> & {
  stop: () => Promise<void>;
};

export const conform = defineCommand({
  summary: 'check an emulator or deployment against the documented behaviour',
  options: OPTIONS,
  about: ABOUT,
  examples: [
    'conform',
    'conform --profile newer-server',
    'conform --target https://pay.example.com --public-key pub_… --secret-key @key.txt --out differences.json',
  ],
  run: async (context) => {
    const { options, io, output } = context;
    const { profile, ipnUrl, live = 0, updateProfile } = options;
    const file = await readConfiguration(undefined, io);
    const inForce = startConfiguration({ ...(profile !== undefined && { profile }) }, io.env, file);
    const lines = await linesOf(options.manifest, io.cwd);
    if (ipnUrl !== undefined) requireUrl('--ipn-url', ipnUrl);
    if (ipnUrl !== undefined && options.ipnPort === undefined)
      throw usage('--ipn-url requires --ipn-port, the local port that it forwards to');
    if (live === 1) output.notice('gateway-sim: live mode is not tested; repeat --live to confirm');
    await requireWritable([options.out, updateProfile, options.junit], io.cwd);
    const place = await placeOf(context, inForce);
    try {
      const { stop: _, ...target } = place;
      const { conform } = await import('../../conform/conform.ts');
      const conformed = await conform({
        ...target,
        lines,
        ipnUrl,
        ipnPort: portOf(options.ipnPort),
        live: live >= 2,
        alsoTry: updateProfile !== undefined,
        inForce: { profile: inForce.profile, choices: inForce.choices, options: inForce },
        tools: await dialect.ipn(),
        onLine: progress(output),
        onLost: ({ id }, why, status) => {
          const then = status === undefined ? '' : `: status ${status}`;
          output.notice(`gateway-sim: ${id} got no response (${why}) and was retried${then}`);
        },
      });
      return await result(conformed, { context, place, inForce, lines });
    } finally {
      await place.stop();
    }
  },
});

/** Reports progress from time to time, unless a program reads the output. */
function progress(output: Output) {
  const every = 100;
  return (done: number, of: number) => {
    if (!output.json && done % every === 0 && done < of) output.notice(`[${done}/${of}]`);
  };
}

async function linesOf(file: string | undefined, cwd: string): Promise<ManifestLine[]> {
  const path = file === undefined ? packaged('fixtures/fidelity/manifest.jsonl') : resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw usage(`the manifest ${file ?? path} cannot be read: ${reason(error)}`, {
      cause: error,
    });
  });
  const { readManifest } = await import('../../conform/manifest.ts');
  return readManifest(text, file ?? 'the manifest');
}

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw usage(`--ipn-port must be a whole number from 0 to 65535 (got "${given}")`);
}

function requireUrl(flag: string, url: string): string {
  const problem = urlProblem(url);
  if (problem === undefined) return url;
  throw usage(`${flag} ${problem}`);
}

/** The named target, else the running emulator, else a temporary one. */
async function placeOf(context: ConformContext, options: ResolvedOptions): Promise<Place> {
  const { target } = context.options;
  if (target === undefined) return hereOr(context, options);
  const url = requireUrl('--target', target);
  if (/[?#@]/.test(url)) {
    const what = '--target must be a base address without a user name, query or fragment';
    throw usage(`${what}, such as https://pay.example.com`);
  }
  const given = keysOf(context);
  const isWhole = given.publicKey !== undefined && given.secretKey !== undefined;
  const { controlToken = context.choice.tokenVariable, tlsCa } = context.choice;
  const trusted = tlsCa && resolve(context.io.cwd, tlsCa);
  if (!isWhole && !isLoopback(new URL(url).hostname)) {
    throw usage('checking a deployment requires the keys of one of its merchants', {
      hint: hint`Set them with ${option('publicKey')} and ${option('secretKey')}.`,
    });
  }
  const agent = await agentFor(trusted);
  const named = { url, publicKey: '', secretKey: '', controlToken, agent };
  // Only an emulator has a list of merchants.
  const hasList = !isWhole && (await provesToBeEmulator(named));
  const known = hasList
    ? await requireMerchant(controlServer({ url, controlToken, tlsCa: trusted })).catch(() => undefined)
    : undefined;
  const { publicKey = known?.publicKey ?? '', secretKey = known?.secretKey ?? '' } = given;
  return { ...named, publicKey, secretKey, stop: async () => {} };
}

async function provesToBeEmulator(named: Omit<Place, 'stop'>): Promise<boolean> {
  const { Target } = await import('../../conform/target.ts');
  const target = new Target({ ...named, live: false });
  await target.identify();
  return target.isEmulator;
}

async function agentFor(tlsCa: string | null | undefined) {
  return tlsCa ? trustingAgent(tlsCa) : undefined;
}

/** @param env the variables with keys that may be sent to the target */
function keysOf({ options, io }: ConformContext, env: Io['env'] = io.env) {
  const read = (given: string | undefined, flag: string) => given && readSecret(given, flag, io.cwd);
  return {
    publicKey: options.publicKey ?? (env['GATEWAY_SIM_PUBLIC_KEY'] || undefined),
    secretKey: read(options.secretKey ?? (env['GATEWAY_SIM_SECRET_KEY'] || undefined), '--secret-key'),
  };
}

async function hereOr(context: ConformContext, options: ResolvedOptions): Promise<Place> {
  const { connect, choice, output } = context;
  try {
    const server = await connect();
    const known = await requireMerchant(server);
    const given = keysOf(context, server.isNamed ? context.io.env : {});
    const { publicKey = known.publicKey, secretKey = known.secretKey } = given;
    const { url, controlToken, tlsCa } = server;
    const agent = await agentFor(tlsCa);
    return { url, publicKey, secretKey, controlToken, agent, stop: async () => {} };
  } catch (error) {
    const isNamed = Object.values(choice).some((given) => given !== undefined);
    if (isNamed || !(error instanceof GatewayError) || error.code !== 'no_server') throw error;
    output.notice(
      'gateway-sim: no emulator found, so a temporary one is started in memory; to use a running one, set --url',
    );
  }
  const { startEmulator } = await import('../start-emulator.ts');
  const server = await startEmulator({ ...options, inMemory: true, port: 0 }, output);
  const { url, publicKey, secretKey, controlToken, tlsCa } = server;
  const agent = await agentFor(tlsCa);
  return {
    url,
    publicKey,
    secretKey,
    agent,
    controlToken,
    stop: server.stop,
  };
}

interface Held {
  context: ConformContext;
  place: Place;
  inForce: ResolvedOptions;
  lines: readonly ManifestLine[];
}

async function result(
  conformed: Conformed,
  { context, place, inForce, lines }: Held,
): Promise<CommandResult> {
  const [{ explainedBy }, { appliesWith }, { conformJunit, maskedReport }, { conformText }] =
    await Promise.all([
      import('../../conform/explain.ts'),
      import('../../conform/manifest.ts'),
      import('../../conform/reports.ts'),
      import('./conform.ts'),
    ]);
  const { options, io, output } = context;
  const { report, verdicts, gone } = conformed;
  const notices = [];
  const force = { profile: inForce.profile, choices: inForce.choices, options: inForce };
  const held = lines.filter((line) => appliesWith(line, force));
  const { out, updateProfile, junit } = options;
  const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
  const masked = () => {
    const keys = [place.publicKey, place.secretKey];
    const { differ, ...rest } = maskedReport(conformed, { keys, ipnUrl: options.ipnUrl });
    return toJson({ gatewaySim: VERSION, ...rest, differ });
  };
  const explained = updateProfile === undefined ? undefined : explainedBy(verdicts, force);
  const unwritten = await writeReports(
    [
      [junit, () => conformJunit(report, held)],
      [out, masked],
      [explained && updateProfile, () => toJson(explained ?? {})],
    ],
    io.cwd,
  );
  if (out !== undefined)
    notices.push(hint`Review ${out} before you share it: names inside sentences are not masked.`);
  if (updateProfile !== undefined) {
    notices.push(
      explained
        ? hint`Use it with: ${command('start', '--profile', updateProfile)}`
        : hint`${updateProfile} was not written: no profile choice explains the differences.`,
    );
  }
  const { length } = report.differ;
  return {
    json: report,
    text: conformText(report, held, { colour: output.colour, all: options.all === true }),
    notices,
    ...(length > 0 && { failure: `${length} of ${held.length} lines differ` }),
    ...unwritten,
    ...(gone && { failure: gone.message, failureCode: gone.code }),
  };
}
