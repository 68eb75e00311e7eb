import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConformOptions } from '../../conform/conform.ts';
import type { Conformed } from '../../conform/reports.ts';
import { isLoopback, urlProblem } from '../../contract/address.ts';
import { GatewayError } from '../../contract/error.ts';
import { command, hint, option } from '../../contract/hint.ts';
import type { ManifestLine } from '../../contract/manifest.ts';
import { PROFILE_NAMES } from '../../contract/profiles.ts';
import { controlServer } from '../../library/control-client.ts';
import { dialect, requireMerchant } from '../../library/merchant-client.ts';
import { trustingAgent } from '../../library/trust.ts';
import { readSecret, SEEN_IN_PS } from '../../options/secret-file.ts';
import type { ResolvedOptions } from '../../options/table.ts';
import { reason } from '../../store/files.ts';
import { packaged, VERSION } from '../../system/package-info.ts';
import { type Context, counted, defineCommand, flag, type GivenValues, text } from '../command.ts';
import { readConfiguration, startConfiguration } from '../configuration.ts';
import type { Io } from '../io.ts';
import type { CommandResult, Output } from '../output.ts';
import { requireWritable, writeReports } from '../write-file.ts';

const ABOUT = `
Holds every line of the manifest against an emulator or a deployment: a request, and what must come back. Without
--target it asks the emulator that runs here, or one of its own in memory. Of a target on this machine that proves to be
gateway-sim (by X-Gateway-Sim on GET /_sim/livez) everything is tried, and what is left pending is canceled. Of any other
only the sandbox is, and elsewhere with at most five requests a second. Nothing is settled that was not made by this run. For IPNs from elsewhere give an address
that leads to this machine (a tunnel to --ipn-port), else they are not seen. Exit code 1 when a line does not hold.`;

const OPTIONS = {
  target: text('base-url', 'what to ask, such as https://pay.example.com (default: the emulator here)'),
  profile: text('name|file', `what to expect: ${PROFILE_NAMES.join(', ')}, or a file (default: document)`),
  publicKey: text('key', 'public key of a merchant there'),
  secretKey: text('key', `secret key of the same merchant; ${SEEN_IN_PS}`),
  ipnUrl: text('url', 'public address that leads to --ipn-port of this machine'),
  ipnPort: text('number', 'port to listen on for IPNs (default: a free one)'),
  live: counted('try live mode of what is no emulator here, too: give it twice, real money may move'),
  all: flag('show every line that differs, and not one for each cause'),
  manifest: text('file', 'hold these lines against it instead'),
  out: text('file', 'write the differences, with keys and personal data masked'),
  updateProfile: text('file', 'write a profile that explains the differences, for start --profile'),
  junit: text('file', 'write the result as JUnit XML, too'),
};

type ConformContext = Context & { options: GivenValues<typeof OPTIONS> };

/** What is asked, and with what. */
type Place = Pick<ConformOptions, 'url' | 'publicKey' | 'secretKey' | 'controlToken' | 'agent'> & {
  stop: () => Promise<void>;
};

export const conform = defineCommand({
  summary: 'hold what is known of the service interface against an emulator or a deployment',
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
      throw new GatewayError(
        'usage',
        '--ipn-url needs --ipn-port beside it: the port of this machine that it leads to',
      );
    if (live === 1) output.notice('gateway-sim: --live once tries nothing: give it twice to try live mode');
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
          output.notice(`gateway-sim: ${id} got no answer (${why}), and was tried again${then}`);
        },
      });
      return await result(conformed, { context, place, inForce, lines });
    } finally {
      await place.stop();
    }
  },
});

/** Now and then, where no program reads it. */
function progress(output: Output) {
  const every = 100;
  return (done: number, of: number) => {
    if (!output.json && done % every === 0 && done < of) output.notice(`[${done}/${of}]`);
  };
}

async function linesOf(file: string | undefined, cwd: string): Promise<ManifestLine[]> {
  const path = file === undefined ? packaged('fixtures/fidelity/manifest.jsonl') : resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new GatewayError('usage', `the manifest ${file ?? path} cannot be read: ${reason(error)}`, {
      cause: error,
    });
  });
  const { readManifest } = await import('../../conform/manifest.ts');
  return readManifest(text, file ?? 'the manifest');
}

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new GatewayError('usage', `--ipn-port must be a whole number from 0 to 65535 (got "${given}")`);
}

function requireUrl(flag: string, url: string): string {
  const problem = urlProblem(url);
  if (problem === undefined) return url;
  throw new GatewayError('usage', `${flag} ${problem}`);
}

/** The target that was named; else the emulator that runs here; else one of our own. */
async function placeOf(context: ConformContext, options: ResolvedOptions): Promise<Place> {
  const { target } = context.options;
  if (target === undefined) return hereOr(context, options);
  const url = requireUrl('--target', target);
  if (/[?#@]/.test(url)) {
    const what = '--target must be the base address alone, without a user, a query and a fragment';
    throw new GatewayError('usage', `${what}, such as https://pay.example.com`);
  }
  const given = keysOf(context);
  const isWhole = given.publicKey !== undefined && given.secretKey !== undefined;
  const { controlToken = context.choice.tokenVariable, tlsCa } = context.choice;
  const trusted = tlsCa && resolve(context.io.cwd, tlsCa);
  if (!isWhole && !isLoopback(new URL(url).hostname)) {
    throw new GatewayError('usage', 'a deployment is asked with the keys of a merchant there', {
      hint: hint`Give them with ${option('publicKey')} and ${option('secretKey')}.`,
    });
  }
  const agent = await agentFor(trusted);
  const named = { url, publicKey: '', secretKey: '', controlToken, agent };
  // What is no emulator has no such list: then the first answers tell what it is.
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

/** @param env whose keys may be sent to what is asked */
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
    output.notice('gateway-sim: no emulator runs here: one is started for this, in memory');
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
  const [{ explainedBy }, { holdsUnder }, { conformJunit, maskedReport }, { conformText }] =
    await Promise.all([
      import('../../conform/explain.ts'),
      import('../../conform/manifest.ts'),
      import('../../conform/reports.ts'),
      import('../format-conform.ts'),
    ]);
  const { options, io, output } = context;
  const { report, verdicts, gone } = conformed;
  const notices = [];
  const force = { profile: inForce.profile, choices: inForce.choices, options: inForce };
  const held = lines.filter((line) => holdsUnder(line, force));
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
    notices.push(hint`Read ${out} before you send it: a name in the middle of a sentence is not recognised.`);
  if (updateProfile !== undefined) {
    notices.push(
      explained
        ? hint`Use it with: ${command('start', '--profile', updateProfile)}`
        : hint`${updateProfile} was not written: no choice of a profile explains a difference.`,
    );
  }
  const { length } = report.differ;
  return {
    json: report,
    text: conformText(report, held, { colour: output.colour, all: options.all === true }),
    notices,
    ...(length > 0 && { failure: `${length} of ${held.length} lines do not hold` }),
    ...unwritten,
    ...(gone && { failure: gone.message, failureCode: gone.code }),
  };
}
