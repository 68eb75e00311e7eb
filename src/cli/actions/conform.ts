import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Conformed, type ConformOptions, conform as hold } from '../../conform/conform.ts';
import { explainedBy } from '../../conform/explain.ts';
import { holdsUnder, readManifest } from '../../conform/manifest.ts';
import { conformJunit, maskedReport } from '../../conform/reports.ts';
import { Target } from '../../conform/target.ts';
import { isLoopback, urlProblem } from '../../contract/address.ts';
import { GatewayError } from '../../contract/error.ts';
import { command, hint, option } from '../../contract/hint.ts';
import type { ManifestLine } from '../../contract/manifest.ts';
import { controlServer } from '../../library/control-client.ts';
import { dialect, requireMerchant } from '../../library/merchant-client.ts';
import { trustingAgent } from '../../library/trust.ts';
import { readSecret } from '../../options/secret-file.ts';
import type { ResolvedOptions } from '../../options/table.ts';
import { reason } from '../../store/files.ts';
import { packagedManifest, VERSION } from '../../system/package-info.ts';
import type { Actions } from '../commands/conform.ts';
import { readConfiguration, startConfiguration } from '../configuration.ts';
import { conformText } from '../format-conform.ts';
import type { Io } from '../io.ts';
import type { CommandResult, Output } from '../output.ts';
import { requireWritable, writeReport } from '../write-file.ts';

type Context = Parameters<Actions['conform']>[0];
/** What is asked, and with what. */
type Place = Pick<ConformOptions, 'url' | 'publicKey' | 'secretKey' | 'controlToken' | 'agent'> & {
  stop: () => Promise<void>;
};

export const conform: Actions['conform'] = async (context) => {
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
    const conformed = await hold({
      ...target,
      ...{
        lines,
        ipnUrl,
        ipnPort: portOf(options.ipnPort),
        live: live >= 2,
        alsoTry: updateProfile !== undefined,
      },
      inForce: { profile: inForce.profile, choices: inForce.choices, options: inForce },
      tools: await dialect.ipn(),
      onLine: progress(output),
    });
    return await result(conformed, { context, place, inForce, lines });
  } finally {
    await place.stop();
  }
};

/** Now and then, where no program reads it. */
function progress(output: Output) {
  const every = 100;
  return (done: number, of: number) => {
    if (!output.json && done % every === 0 && done < of) output.notice(`[${done}/${of}]`);
  };
}

async function linesOf(file: string | undefined, cwd: string): Promise<ManifestLine[]> {
  const path = file === undefined ? packagedManifest() : resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new GatewayError('usage', `the manifest ${file ?? path} cannot be read: ${reason(error)}`, {
      cause: error,
    });
  });
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
async function placeOf(context: Context, options: ResolvedOptions): Promise<Place> {
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
  const caFile = tlsCa === undefined ? undefined : resolve(context.io.cwd, tlsCa);
  if (!isWhole && !isLoopback(new URL(url).hostname)) {
    throw new GatewayError('usage', 'a deployment is asked with the keys of a merchant there', {
      hint: hint`Give them with ${option('publicKey')} and ${option('secretKey')}.`,
    });
  }
  const agent = await agentFor(caFile);
  const named = { url, publicKey: '', secretKey: '', controlToken, agent };
  // What is no emulator has no such list: then the first answers tell what it is.
  const hasList = !isWhole && (await provesToBeEmulator(named));
  const known = hasList
    ? await requireMerchant(controlServer({ url, controlToken, caFile })).catch(() => undefined)
    : undefined;
  const { publicKey = known?.publicKey ?? '', secretKey = known?.secretKey ?? '' } = given;
  return { ...named, publicKey, secretKey, stop: async () => {} };
}

async function provesToBeEmulator(named: Omit<Place, 'stop'>): Promise<boolean> {
  const target = new Target({ ...named, live: false });
  await target.identify();
  return target.isEmulator;
}

async function agentFor(caFile: string | undefined) {
  return caFile === undefined ? undefined : trustingAgent(caFile);
}

/** @param env whose keys may be sent to what is asked */
function keysOf({ options, io }: Context, env: Io['env'] = io.env) {
  const read = (given: string | undefined, flag: string) => given && readSecret(given, flag, io.cwd);
  return {
    publicKey: options.publicKey ?? (env['GATEWAY_SIM_PUBLIC_KEY'] || undefined),
    secretKey: read(options.secretKey ?? (env['GATEWAY_SIM_SECRET_KEY'] || undefined), '--secret-key'),
  };
}

async function hereOr(context: Context, options: ResolvedOptions): Promise<Place> {
  const { connect, choice, output } = context;
  try {
    const server = await connect();
    const known = await requireMerchant(server);
    const given = keysOf(context, server.isNamed ? context.io.env : {});
    const { publicKey = known.publicKey, secretKey = known.secretKey } = given;
    const { url, controlToken, caFile } = server;
    const agent = await agentFor(caFile);
    return { url, publicKey, secretKey, controlToken, agent, stop: async () => {} };
  } catch (error) {
    const isNamed = Object.values(choice).some((given) => given !== undefined);
    if (isNamed || !(error instanceof GatewayError) || error.code !== 'no_server') throw error;
    output.notice('gateway-sim: no emulator runs here: one is started for this, in memory');
  }
  const { startEmulator } = await import('./start.ts');
  const server = await startEmulator({ ...options, inMemory: true, port: 0 }, output);
  const { url, publicKey, secretKey, controlToken, tlsCa } = server;
  const agent = await agentFor(tlsCa ?? undefined);
  return {
    url,
    publicKey,
    secretKey,
    agent,
    controlToken: controlToken ?? undefined,
    stop: server.stop,
  };
}

interface Held {
  context: Context;
  place: Place;
  inForce: ResolvedOptions;
  lines: readonly ManifestLine[];
}

async function result(
  conformed: Conformed,
  { context, place, inForce, lines }: Held,
): Promise<CommandResult> {
  const { options, io, output } = context;
  const { report, verdicts } = conformed;
  const notices = [];
  const force = { profile: inForce.profile, choices: inForce.choices, options: inForce };
  const held = lines.filter((line) => holdsUnder(line, force));
  const write = (file: string, value: object) =>
    writeReport(file, `${JSON.stringify(value, null, 2)}\n`, io.cwd);
  if (options.junit !== undefined) await writeReport(options.junit, conformJunit(report, held), io.cwd);
  if (options.out !== undefined) {
    const keys = [place.publicKey, place.secretKey];
    const { differ, ...rest } = maskedReport(conformed, { keys, ipnUrl: options.ipnUrl });
    await write(options.out, { gatewaySim: VERSION, ...rest, differ });
    notices.push(
      hint`Read ${options.out} before you send it: a name in the middle of a sentence is not recognised.`,
    );
  }
  if (options.updateProfile !== undefined) {
    await write(options.updateProfile, explainedBy(verdicts, force));
    notices.push(hint`Use it with: ${command('start', '--profile', options.updateProfile)}`);
  }
  const { length } = report.differ;
  return {
    json: report,
    text: conformText(report, held, output.colour),
    notices,
    ...(length > 0 && { failure: `${length} of ${held.length} lines do not hold` }),
  };
}
