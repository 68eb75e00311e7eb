import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../contract/error.ts';
import type { SimEvent } from '../../contract/event.ts';
import { command, hint, option } from '../../contract/hint.ts';
import { controlServer } from '../../library/control-client.ts';
import { isRefusedInitiate, merchantEnvironment } from '../../library/merchant-client.ts';
import { request } from '../../library/request.ts';
import { isUntrusted } from '../../library/trust.ts';
import { ARTIFACTS, artifactsIn } from '../artifacts.ts';
import { noticesOf } from '../banner.ts';
import { runCommand } from '../child.ts';
import type { ClientEnvironment } from '../client-environment.ts';
import { defineCommand, duration, flag, text } from '../command.ts';
import { execConfiguration, readConfiguration } from '../configuration.ts';
import { addressOf } from '../connect.ts';
import type { Io } from '../io.ts';
import { connectionFlags, type Output } from '../output.ts';
import { interruption } from '../signals.ts';
import { startFlags, styleInForce } from './start.ts';

const ABOUT = `
The emulator is a fresh one, in memory and on a free port: only the flags --port and --data-dir say otherwise, not the
variables or the configuration file. The command finds it by GATEWAY_SIM_URL, GATEWAY_SIM_PUBLIC_KEY,
GATEWAY_SIM_SECRET_KEY and GATEWAY_SIM_INITIATE_URL; with --tls it trusts it by NODE_EXTRA_CA_CERTS (unless that is
set) and GATEWAY_SIM_TLS_CA; with --proxy and --host-alias it reaches those hosts here, and stderr names the variables
for that. Its exit code is passed on: 128 and the number of the signal that ended it; 127 when there is no such command, 126 when it cannot be run. Without a terminal, as in CI, what it leaves
running is ended too.`;

const OWN_DEFAULTS = { port: 'a free one', dataDir: 'none, the state is kept in memory' };

/**
 * A fresh emulator around a command. It runs in this process, so that it ends with it in every case. stdout belongs to
 * the command; ours are notices and faults, on stderr.
 *
 * @returns the exit code of the command
 */
export const exec = defineCommand({
  args: ['[command...]'],
  summary: 'run a command beside a fresh emulator',
  usage: '[start options] -- <command...>',
  options: {
    ...startFlags(({ commandOnly }) => !commandOnly, OWN_DEFAULTS),
    quiet: flag('no notices on stderr'),
    waitFor: text('url', 'run the command once something answers there, such as the shop'),
    waitLimit: duration('give up on --wait-for after this long, with exit code 4 (default: 60s)'),
    artifacts: text('folder', 'leave the events, the state, the IPNs as HAR and reports of audits there'),
  },
  advice: hint`Options of the command go behind the --, such as: ${command('exec', '--', 'npm', 'test', '--coverage')}`,
  about: ABOUT,
  examples: [
    'exec -- npm test',
    'exec --auto approve -- npx playwright test',
    'exec --port 4477 --wait-for http://localhost:3000 --artifacts artifacts -- npm test',
  ],
  run: async ({ args, options, flags, io, output }) => {
    const [words] = args;
    if (!words.length) {
      throw new GatewayError('usage', 'exec needs a command to run', {
        hint: hint`Put it behind a --, such as: ${command('exec', '--', 'npm', 'test')}`,
      });
    }
    const file = await readConfiguration(options.config, io);
    const style = styleInForce(output.style, 'exec', flags);
    const shopUrl = options.waitFor === undefined ? undefined : addressOf(options.waitFor, '--wait-for');
    const artifacts =
      options.artifacts === undefined ? undefined : await artifactsIn(options.artifacts, io.cwd, output);
    const { startEmulator } = await import('../start-emulator.ts');
    const server = await startEmulator(execConfiguration(flags, io.env, file), output, { style });
    if (artifacts) server.onEvent(artifacts.record);
    if (!output.quiet) {
      for (const notice of noticesOf(server)) output.notice(notice);
      server.onEvent(refusalTeller(output));
    }
    const { controlToken } = server;
    output.connection = connectionFlags(server, io.cwd);
    const { hostAlias, proxy } = server.parts.runtime.options;
    const trusted = io.env['NODE_EXTRA_CA_CERTS'];
    let client: ClientEnvironment | undefined;
    try {
      if (proxy) client = await (await import('../client-environment.ts')).clientEnvironment(server, io);
      if (!output.quiet) for (const notice of client?.notices ?? []) output.notice(notice);
      const environment = {
        ...merchantEnvironment(server, server),
        // Read by gateway-sim/alias-hosts, which knows no path.
        ...(hostAlias.length && { GATEWAY_SIM_HOST_ALIAS: hostAlias.join().replace(/\/[^,]*/g, '') }),
        // The user's own file stays.
        ...(trusted && { NODE_EXTRA_CA_CERTS: trusted }),
        ...client?.variables,
        ...(controlToken !== null && { GATEWAY_SIM_CONTROL_TOKEN: controlToken }),
        ...(artifacts && { [ARTIFACTS]: artifacts.folder }),
      };
      if (shopUrl !== undefined) await waitForAnswer(shopUrl, options.waitLimit ?? WAIT_LIMIT_MS, io);
      return await runCommand(words, environment, { io, output });
    } finally {
      await artifacts?.end(controlServer(server));
      await Promise.all([server.stop(), client?.remove()]);
    }
  },
});

/** A shop in a container may have to be installed and built first. */
const WAIT_LIMIT_MS = 60_000;
const WAIT_POLL_MS = 100;
/** A shop that accepts connections but does not answer yet is asked again. */
const MAX_TRY_MS = 30_000;

/** Whatever is answered: a shop may have no page there, or a certificate of its own. */
async function waitForAnswer(url: string, limitMs: number, io: Io): Promise<void> {
  using interrupted = interruption('the waiting', io);
  const signal = interrupted.soon;
  const deadline = performance.now() + limitMs;
  for (;;) {
    const left = deadline - performance.now();
    const totalMs = Math.min(Math.max(1, left), MAX_TRY_MS);
    const problem = await request(url, { totalMs, signal }).then(
      (answer) => void answer.destroy(),
      (error: Error) => (isUntrusted(error) ? undefined : error),
    );
    if (!problem) return;
    signal.throwIfAborted();
    if (left <= 0) {
      throw new GatewayError(
        'timed_out',
        `nothing answered at ${url} within ${limitMs / 1_000} s: ${problem.message}`,
        { hint: hint`The command was not run. ${option('waitLimit')} waits longer.`, cause: problem },
      );
    }
    await sleep(WAIT_POLL_MS);
  }
}

/** A test suite may be refused on purpose, again and again: each reason is told once, and only so many. */
const MAX_REFUSALS_TOLD = 20;

/** Tells why initiates are refused, which their answers do not say in full. */
function refusalTeller(output: Output): (event: SimEvent) => void {
  const told = new Set<string>();
  return (event) => {
    if (event.type !== 'request' || !isRefusedInitiate(event.request)) return;
    const { method, target, notes } = event.request;
    const text = [`gateway-sim: ${method} ${target} was refused`, ...notes].join('\n  ');
    if (told.has(text) || told.size >= MAX_REFUSALS_TOLD) return;
    told.add(text);
    output.notice(text);
  };
}
