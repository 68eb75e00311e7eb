import { createWriteStream } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { ARTIFACTS } from '../../audit/artifacts.ts';
import { DEFAULT_PORT } from '../../contract/address.ts';
import type { Delivery } from '../../contract/delivery.ts';
import { command, GatewayError, hint, option, usage } from '../../contract/error.ts';
import type { SimEvent } from '../../contract/event.ts';
import { readText } from '../../delivery/sender.ts';
import { controlServer, isUntrusted, MAX_STATE_BYTES, request } from '../../library/control-client.ts';
import { merchantEnvironment } from '../../library/merchant-client.ts';
import { isRejectedInitiate } from '../../service/merchant.ts';
import { makeFolder } from '../../system/files.ts';
import { noticesOf } from '../banner.ts';
import { runCommand } from '../child.ts';
import { clientEnvironment, noProxyVariables } from '../client-environment.ts';
import { defineCommand, duration, flag, text } from '../command.ts';
import { execConfiguration, readConfiguration } from '../configuration.ts';
import { addressOf, retry } from '../connect.ts';
import type { Io } from '../io.ts';
import type { Output } from '../output.ts';
import { interruption } from '../signals.ts';
import type { RunningServer } from '../start-emulator.ts';
import { orStorageFailed } from '../write-file.ts';
import { startFlags } from './start.ts';

const ABOUT = `
The emulator is in memory and on a free port. Only the flags --port and --data-dir change that, not variables or the
configuration file. It sets GATEWAY_SIM_URL, GATEWAY_SIM_PUBLIC_KEY, GATEWAY_SIM_SECRET_KEY and
GATEWAY_SIM_INITIATE_URL, and adds this machine to NO_PROXY and no_proxy; with --tls also NODE_EXTRA_CA_CERTS (unless it
is set) and GATEWAY_SIM_TLS_CA; with --proxy and --host-alias also the variables that redirect these hosts to the
emulator, which stderr lists.

The exit code is the command's. If a signal ended the command, it is 128 plus the number of the signal. 127 means that
the command was not found, and 126 that it cannot be run. Without a terminal, as in CI, background processes of the
command are also ended.`;

/**
 * Runs a command with a fresh emulator in this process, so that the emulator always ends with it. stdout belongs to the
 * command; notices and errors go to stderr.
 */
export const exec = defineCommand({
  args: ['[command...]'],
  summary: 'run a command with a fresh emulator',
  usage: '[start options] -- <command...>',
  options: {
    ...startFlags(({ commandOnly }) => !commandOnly, { port: 'a free port' }),
    quiet: flag('suppress notices on stderr'),
    waitFor: text('url', 'wait until this URL responds, for example your shop'),
    waitLimit: duration('time limit for --wait-for; exits with code 4 when reached (default: 60s)'),
    artifacts: text('folder', 'write events, state, IPNs and audit reports to this folder'),
  },
  fix: hint`Options of the command go after --, such as: ${command('exec', '--', 'npm', 'test', '--coverage')}`,
  about: ABOUT,
  examples: [
    'exec -- npm test',
    'exec --auto approve -- npx playwright test',
    `exec --port ${DEFAULT_PORT} --wait-for http://localhost:3000 --artifacts artifacts -- npm test`,
  ],
  run: async ({ args, options, flags, io, output }) => {
    const [words] = args;
    if (!words.length) {
      throw usage('exec requires a command', {
        hint: hint`Put it after --, such as: ${command('exec', '--', 'npm', 'test')}`,
      });
    }
    const file = await readConfiguration(io);
    const { waitFor, waitLimit = WAIT_LIMIT_MS } = options;
    const shopUrl = waitFor === undefined ? undefined : addressOf(waitFor, '--wait-for');
    const { artifacts: named } = options;
    const artifacts =
      named === undefined ? undefined : await orStorageFailed(prepareArtifacts(named, io.cwd), named);
    const { startEmulator } = await import('../start-emulator.ts');
    const server = await startEmulator(execConfiguration(flags, io.env, file), output);
    output.secrets = server.parts.secrets;
    const onUnwritten = (problem: string) => output.notice(`gateway-sim: ${named} is incomplete: ${problem}`);
    const finishArtifacts =
      artifacts === undefined ? undefined : await writeArtifacts(server, artifacts, onUnwritten);
    if (!output.quiet) {
      // For a person: CI has no use for it.
      if (io.stdout.isTTY)
        output.notice(`gateway-sim: ${server.url}, dashboard ${server.parts.runtime.baseUrl()}/_sim`);
      for (const notice of noticesOf(server, output)) output.notice(notice);
      await reportRejections(server, output);
    }
    const { controlToken } = server;
    output.pointTo(server);
    const { hostAlias, proxy } = server.parts.runtime.options;
    const trusted = io.env['NODE_EXTRA_CA_CERTS'];
    let client: Awaited<ReturnType<typeof clientEnvironment>> | undefined;
    try {
      if (proxy) client = await clientEnvironment(server, io);
      const loaded = [...words, io.env['NODE_OPTIONS'] ?? ''];
      const redirection = client?.notices ?? unredirected(server, loaded);
      if (!output.quiet) for (const notice of redirection) output.notice(notice);
      const environment = {
        ...merchantEnvironment(server, server),
        // For gateway-sim/alias-hosts, which does not support paths.
        ...(hostAlias.length && { GATEWAY_SIM_HOST_ALIAS: hostAlias.join().replace(/\/[^,]*/g, '') }),
        // The user's own file has priority.
        ...(trusted && { NODE_EXTRA_CA_CERTS: trusted }),
        ...noProxyVariables(io.env),
        ...client?.variables,
        ...(controlToken !== null && { GATEWAY_SIM_CONTROL_TOKEN: controlToken }),
        ...(artifacts !== undefined && { [ARTIFACTS]: artifacts }),
      };
      if (shopUrl !== undefined) await waitForAnswer(shopUrl, waitLimit, io);
      return await runCommand(words, environment, { io, output });
    } finally {
      if (!output.quiet) for (const line of await rejectedIpns(server)) output.notice(line);
      await finishArtifacts?.();
      await Promise.all([server.stop(), client?.remove()]);
    }
  },
});

/** Warns if nothing redirects the command's requests to the emulator: only alias-hosts does, without a proxy. */
function unredirected({ parts, tlsCa }: RunningServer, loaded: readonly string[]): string[] {
  const { hostAlias } = parts.runtime.options;
  const flags = tlsCa === null ? '--tls --proxy' : '--proxy';
  if (!hostAlias.length || loaded.some((word) => word.includes('alias-hosts'))) return [];
  return [
    `gateway-sim: nothing redirects the command's requests to ${hostAlias.join(', ')}, which would reach the real gateway: add ${flags}`,
    '  Or load gateway-sim/alias-hosts, if it is a Node program',
  ];
}

/** Long, because a shop in a container may need to be installed and built first. */
const WAIT_LIMIT_MS = 60_000;
/** After this time without a response, the request is sent again. */
const MAX_TRY_MS = 30_000;

async function waitForAnswer(url: string, limitMs: number, io: Io): Promise<void> {
  using interrupted = interruption('waiting', io);
  const signal = interrupted.soon;
  const send = async (leftMs: number) => {
    const answer = await request(url, { totalMs: Math.min(Math.max(1, leftMs), MAX_TRY_MS), signal });
    // Any response counts: the shop may have no page there.
    answer.destroy();
  };
  const mayChange = (error: unknown) => !isUntrusted(error) && !signal.aborted;
  await retry(limitMs, send, mayChange).catch((cause: Error) => {
    // It may have its own certificate.
    if (isUntrusted(cause)) return;
    signal.throwIfAborted();
    const limit = `${limitMs / 1_000} s`;
    throw new GatewayError('timed_out', `no response from ${url} within ${limit}: ${cause.message}`, {
      hint: hint`The command was not run. Set a longer limit with ${option('waitLimit')}.`,
      cause,
    });
  });
}

/**
 * A test suite may send invalid requests on purpose: each reason is reported once, and at most this number of reasons.
 */
const MAX_REPORTED = 20;

/**
 * Reports why initiate requests are rejected, since their responses do not contain every reason, and why requests to the
 * proxy are: most clients show only the status.
 */
async function reportRejections(server: RunningServer, output: Output): Promise<void> {
  const reported = new Set<string>();
  await server.onEvent((event) => {
    const text = rejectionText(event);
    if (text === undefined) return;
    if (reported.has(text) || reported.size >= MAX_REPORTED) return;
    reported.add(text);
    output.notice(text);
  });
}

function rejectionText(event: SimEvent): string | undefined {
  if (event.type === 'notice' && event.host !== undefined) return `gateway-sim: ${event.text}`;
  if (event.type !== 'request' || !isRejectedInitiate(event.request)) return undefined;
  const { method, target, notes } = event.request;
  return [`gateway-sim: ${method} ${target} was rejected`, ...notes].join('\n  ');
}

/** Maximum number of verdicts that `exec` prints at its end. */
const MAX_VERDICTS = 5;

/**
 * The verdicts of the genuine IPNs that were not accepted, equal ones once, in at most three lines each. Asks receivers
 * that still answer for the cause. IPNs of audits are left out.
 */
async function rejectedIpns({ parts: { ipns, store } }: RunningServer): Promise<string[]> {
  const lines = new Set<string>();
  const failed = [...store.state.deliveries.values()].filter((delivery) => {
    const payment = delivery.paymentId === null ? undefined : store.state.payments.get(delivery.paymentId);
    const isOfTests = delivery.signedWith !== '' && payment !== undefined && payment.settledBy !== 'audit';
    return isOfTests && ipns.verdict(delivery).tone === 'bad';
  });
  for (const delivery of failed) {
    if (lines.size === MAX_VERDICTS) break;
    const known = ipns.verdict(delivery);
    let isGone = false;
    if (known.unexplained) {
      const asked = await ipns
        .diagnose(delivery.id, { automatic: true }, new AbortController().signal)
        .catch(() => undefined);
      isGone = asked?.tried[0]?.status === null;
    }
    const after = ipns.verdict(ipns.require(delivery.id));
    // A gateway sends an IPN once: one that is accepted the second time is lost.
    const { cause, fix } = after.tone === 'bad' ? after : known;
    const advice = isGone
      ? 'The receiver is gone by now. In the test, sim.ipns.assertDelivered(ref) finds the cause.'
      : undefined;
    const text = [`gateway-sim: an IPN was not accepted: ${cause}`, fix && `Fix: ${fix}`, advice];
    lines.add(text.filter(Boolean).join('\n  '));
  }
  return [...lines];
}

/** The names of artifacts. */
const ARTIFACT = /^(events\.jsonl|ipns\.json|state\.json|audit(-\d+)?\.(html|json|xml))$/;
/** Marks a folder whose artifacts an earlier run wrote, so that this run may replace them. */
const MARK = '.gateway-sim-artifacts';
const NEW_FILE = { flag: 'wx', mode: 0o600 };

/** Removes the artifacts of an earlier run, and nothing else. @returns the path of the folder */
async function prepareArtifacts(named: string, cwd: string): Promise<string> {
  const folder = resolve(cwd, named);
  await makeFolder(folder);
  const names = await readdir(folder);
  const old = names.filter((name) => ARTIFACT.test(name));
  if (old[0] !== undefined && !names.includes(MARK)) {
    throw usage(`${named} contains ${old[0]}, which exec did not write: nothing was changed`, {
      hint: hint`Choose another folder with ${option('artifacts')}.`,
    });
  }
  for (const name of old) await rm(join(folder, name));
  if (!names.includes(MARK)) await writeFile(join(folder, MARK), '', NEW_FILE);
  return folder;
}

/**
 * Writes each event immediately, so that it survives a kill.
 *
 * @returns a function that writes the rest before the emulator stops, and never throws
 */
async function writeArtifacts(
  server: RunningServer,
  folder: string,
  report: (problem: string) => void,
): Promise<() => Promise<void>> {
  const onError = ({ message }: Error) => report(message);
  const { flag: flags, mode } = NEW_FILE;
  const events = createWriteStream(join(folder, 'events.jsonl'), { flags, mode }).on('error', onError);
  const write = async (name: string, text: () => string | Promise<string>) => {
    try {
      await writeFile(join(folder, name), await text(), NEW_FILE);
    } catch (error) {
      onError(error as Error);
    }
  };
  /** Kept here, because a reset of the state removes them. */
  const deliveries = new Map<string, Delivery>();
  await server.onEvent((event) => {
    if (events.writableEnded) return;
    events.write(`${JSON.stringify(event)}\n`);
    if (event.type === 'delivery') deliveries.set(event.delivery.id, event.delivery);
  });
  return async () => {
    await Promise.all([
      finished(events.end()).catch(() => undefined),
      // May be longer than the longest text.
      write('ipns.json', () => JSON.stringify({ data: [...deliveries.values()], nextCursor: null }, null, 2)),
      write('state.json', async () =>
        readText(await controlServer(server).open('GET /snapshot'), MAX_STATE_BYTES),
      ),
    ]);
  };
}
