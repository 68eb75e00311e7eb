import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConformOptions } from '../../conform/conform.ts';
import type { ManifestLine } from '../../conform/manifest.ts';
import type { ConformReport } from '../../conform/report.ts';
import { isLoopback, urlProblem } from '../../contract/address.ts';
import { hint, option, usage } from '../../contract/error.ts';
import { PROFILE_NAMES } from '../../contract/profiles.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import { controlServer, trustingAgent } from '../../library/control-client.ts';
import { requireMerchant } from '../../library/merchant-client.ts';
import { portOf, readSecret, SEEN_IN_PS } from '../../options/resolve.ts';
import type { ResolvedOptions } from '../../options/start-options.ts';
import { reason } from '../../system/files.ts';
import { packaged } from '../../system/package-info.ts';
import { type Context, defineCommand, type GivenValues, type OptionDeclaration, text } from '../command.ts';
import { readConfiguration, startConfiguration } from '../configuration.ts';
import { isNoneNamed } from '../connect.ts';
import { type Colours, Printed } from '../printed.ts';

const ABOUT = `
Checks an emulator or a deployment against every line of the manifest: a request and the expected response. Without
a URL, it checks the running emulator, or a temporary one in memory.

A target on this machine that identifies itself as gateway-sim (X-Gateway-Sim on GET /_sim/livez) is tested fully,
and payments left pending are canceled. On any other target, only the sandbox is tested. A remote target gets at most five
requests per second. Only payments of this run are settled. To receive IPNs from a remote target, use --ipn-url with a
tunnel to --ipn-port. The exit code is 1 if a line differs.`;

const OPTIONS = {
  target: text('url', 'base address to check, like the argument (default: the running emulator)'),
  profile: text('name', `expected behaviour: ${PROFILE_NAMES.join(', ')} (default: document)`),
  publicKey: text('key', 'public key of a merchant of the target'),
  secretKey: text('key', `secret key of the same merchant; ${SEEN_IN_PS}`),
  ipnUrl: text('url', 'public address that forwards to --ipn-port on this machine'),
  ipnPort: text('number', 'port to listen on for IPNs (default: a free port)'),
  live: {
    description: 'also test live mode of a deployment (repeat the flag to confirm; may move real money)',
    parse: (_, before = 0) => before + 1,
  } satisfies OptionDeclaration<number | undefined>,
  manifest: text('file', 'check these lines instead of the built-in ones'),
};

type ConformContext = Context & { options: GivenValues<typeof OPTIONS> };

export const conform = defineCommand({
  args: ['[url]'],
  summary: 'check an emulator or deployment against the documented behaviour',
  options: OPTIONS,
  about: ABOUT,
  examples: [
    'conform',
    'conform --profile server',
    'conform https://pay.example.com --public-key pub_… --secret-key @key.txt',
  ],
  run: async (context) => {
    const { args, options, io, output } = context;
    const [url = options.target] = args;
    if (url !== options.target && options.target !== undefined)
      throw usage('conform accepts the address as its argument or with --target, not both');
    const { profile, ipnUrl, ipnPort, live = 0 } = options;
    const inForce = startConfiguration({ profile }, io.env, await readConfiguration(io));
    const lines = await manifestLines(options.manifest, io.cwd);
    if (ipnUrl !== undefined) requireUrl('--ipn-url', ipnUrl);
    if (ipnUrl !== undefined && ipnPort === undefined)
      throw usage('--ipn-url requires --ipn-port, the local port that it forwards to');
    const port = ipnPort === undefined ? undefined : portOf(ipnPort, '--ipn-port');
    if (live === 1) output.notice('gateway-sim: live mode is not tested; repeat --live to confirm');
    const { stop, ...target } = await placeOf(url, context, inForce);
    try {
      const { conform } = await import('../../conform/conform.ts');
      const { report, gone } = await conform({
        ...target,
        lines,
        ipnUrl,
        ipnPort: port,
        live: live >= 2,
        inForce,
        // From time to time, unless a program reads the output.
        onLine: (done, of) => {
          if (!output.json && done % 100 === 0 && done < of) output.notice(`[${done}/${of}]`);
        },
      });
      const { agree, differ, unseen } = report;
      return {
        json: report,
        text: await reportText(report, lines, output.colour),
        ...(differ.length > 0 && {
          failure: `${differ.length} of ${agree + differ.length + unseen.length} lines differ`,
        }),
        ...(gone && { failure: gone.message, failureCode: gone.code }),
      };
    } finally {
      await stop?.();
    }
  },
});

async function manifestLines(file: string | undefined, cwd: string): Promise<ManifestLine[]> {
  const path = file === undefined ? packaged('fixtures/fidelity/manifest.jsonl') : resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw usage(`the manifest ${file ?? path} cannot be read: ${reason(error)}`, { cause: error });
  });
  const { readManifest } = await import('../../conform/manifest.ts');
  return readManifest(text, file ?? 'the manifest');
}

function requireUrl(flag: string, url: string): void {
  const problem = urlProblem(url);
  if (problem !== undefined) throw usage(`${flag} ${problem}`);
}

/** The target and its credentials. */
type Place = Pick<ConformOptions, 'url' | 'publicKey' | 'secretKey' | 'controlToken' | 'agent'> & {
  stop?: () => Promise<void>;
};

/** The named target, else the running emulator, else a temporary one. */
async function placeOf(
  named: string | undefined,
  context: ConformContext,
  started: ResolvedOptions,
): Promise<Place> {
  const { choice, connect, io, output } = context;
  if (named !== undefined) return targetAt(named, context);
  const agentOf = async ({ tlsCa }: { tlsCa?: string | null | undefined }) =>
    tlsCa ? trustingAgent(tlsCa) : undefined;
  try {
    const server = await connect();
    const known = await requireMerchant(server);
    const given = keysOf(context, server.isNamed ? io.env : {});
    const { publicKey = known.publicKey, secretKey = known.secretKey } = given;
    const { url, controlToken } = server;
    return { url, publicKey, secretKey, controlToken, agent: await agentOf(server) };
  } catch (error) {
    if (!isNoneNamed(error, choice)) throw error;
  }
  output.notice(
    'gateway-sim: no emulator found, so a temporary one is started in memory; to use a running one, set --url',
  );
  const { startEmulator } = await import('../start-emulator.ts');
  const server = await startEmulator({ ...started, inMemory: true, port: 0 }, output);
  const { url, publicKey, secretKey, controlToken, stop } = server;
  return { url, publicKey, secretKey, controlToken, agent: await agentOf(server), stop };
}

/** @param env the variables with keys that may be sent to the target */
function keysOf({ options, io }: ConformContext, env = io.env) {
  const secretKey = options.secretKey ?? (env['GATEWAY_SIM_SECRET_KEY'] || undefined);
  return {
    publicKey: options.publicKey ?? (env['GATEWAY_SIM_PUBLIC_KEY'] || undefined),
    secretKey: secretKey && readSecret(secretKey, '--secret-key', io.cwd),
  };
}

async function targetAt(url: string, context: ConformContext): Promise<Place> {
  requireUrl('the target', url);
  if (/[?#@]/.test(url)) {
    const what = 'the target must be a base address without a user name, query or fragment';
    throw usage(`${what}, such as https://pay.example.com`);
  }
  const given = keysOf(context);
  const isWhole = given.publicKey !== undefined && given.secretKey !== undefined;
  if (!isWhole && !isLoopback(new URL(url).hostname)) {
    throw usage('checking a deployment requires the keys of one of its merchants', {
      hint: hint`Set them with ${option('publicKey')} and ${option('secretKey')}.`,
    });
  }
  const { choice, io } = context;
  const { controlToken = choice.tokenVariable } = choice;
  const tlsCa = choice.tlsCa && resolve(io.cwd, choice.tlsCa);
  const agent = tlsCa ? await trustingAgent(tlsCa) : undefined;
  const { publicKey = '', secretKey = '' } = given;
  const place = { url, publicKey, secretKey, controlToken, agent };
  if (isWhole) return place;
  const { Target } = await import('../../conform/target.ts');
  const target = new Target({ ...place, live: false });
  await target.identify();
  // Only an emulator has a list of merchants.
  if (!target.isEmulator) return place;
  const known = await requireMerchant(controlServer({ url, controlToken, tlsCa })).catch(() => undefined);
  return {
    ...place,
    publicKey: given.publicKey ?? known?.publicKey ?? '',
    secretKey: given.secretKey ?? known?.secretKey ?? '',
  };
}

/** A report as text: differences, lines that were not seen and why, and the counts. */
async function reportText(
  { target, profile, agree, differ, unseen }: ConformReport,
  lines: readonly ManifestLine[],
  colour: Colours,
): Promise<Printed> {
  // Its schema is not needed to declare the command.
  const { AREAS } = await import('../../conform/manifest.ts');
  const byId = new Map(lines.map((line) => [line.id, line]));
  const differences = namesOf(AREAS).flatMap((area) => {
    const own = differ.filter(({ id }) => byId.get(id)?.area === area);
    const texts = own.map(({ id, expected, got }) => {
      const { says = '', source } = byId.get(id) ?? {};
      return Printed.line`  ${colour.red('DIFFERS')} ${colour.bold(id)}: ${says} (${source?.kind ?? ''})\n    expected: ${expected}\n    got:      ${got}`;
    });
    return own.length ? [colour.bold(AREAS[area]), ...texts] : [];
  });
  const reasons = new Map<string, number>();
  for (const { why } of unseen) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const counts = [
    colour.green(`${agree} agree`),
    differ.length ? colour.red(`${differ.length} differ`) : '0 differ',
    `${unseen.length} not seen`,
  ];
  return Printed.lines([
    ...differences,
    ...[...reasons].map(([why, count]) => Printed.line`${count} not seen: ${why}`),
    Printed.line`${target} against the profile ${profile}: ${Printed.lines(counts, ', ')}`,
  ]);
}
