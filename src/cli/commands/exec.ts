import { GatewayError } from '../../contract/error.ts';
import type { SimEvent } from '../../contract/event.ts';
import { command, hint } from '../../contract/hint.ts';
import { merchantEnvironment } from '../../library/merchant-client.ts';
import { noticesOf } from '../banner.ts';
import { runCommand } from '../child.ts';
import { type ActionsOf, type Declarations, flag, group } from '../command.ts';
import { execConfiguration, readConfiguration } from '../configuration.ts';
import { isRefusedInitiate } from '../format-event.ts';
import { styleInForce } from '../in-force.ts';
import { connectionFlags, type Output } from '../output.ts';
import { startFlags } from './start.ts';

const ABOUT = `
The emulator is a fresh one, in memory and on a free port: only the flags --port and --data-dir say otherwise, not the
variables or the configuration file. The command finds it by GATEWAY_SIM_URL, GATEWAY_SIM_PUBLIC_KEY,
GATEWAY_SIM_SECRET_KEY and GATEWAY_SIM_INITIATE_URL; with --tls it trusts it by NODE_EXTRA_CA_CERTS (unless that is
set) and GATEWAY_SIM_TLS_CA; with --proxy and --host-alias it reaches those hosts here by what stderr names. Its exit code is passed on: 128 and the number of the signal that
ended it; 127 when there is no such command, 126 when it cannot be run. Without a terminal, as in CI, what it leaves
running is ended too.`;

const OWN_DEFAULTS = { port: 'a free one', dataDir: 'none, the state is kept in memory' };

const COMMANDS = {
  exec: {
    args: ['[command...]'],
    summary: 'run a command beside a fresh emulator',
    usage: '[start options] -- <command...>',
    options: {
      ...startFlags(({ commandOnly }) => !commandOnly, OWN_DEFAULTS),
      quiet: flag('no notices on stderr'),
    },
    advice: hint`Options of the command go behind the --, such as: ${command('exec', '--', 'npm', 'test', '--coverage')}`,
    about: ABOUT,
    examples: ['exec -- npm test', 'exec --auto approve -- npx playwright test'],
  },
} as const satisfies Declarations;

type Actions = ActionsOf<typeof COMMANDS>;

/**
 * A fresh emulator around a command. It runs in this process, so that it ends with it in every case. stdout belongs to
 * the command; ours are notices and faults, on stderr.
 *
 * @returns the exit code of the command
 */
const runExec: Actions['exec'] = async ({ args, options, flags, io, output }) => {
  const [words] = args;
  if (!words.length) {
    throw new GatewayError('usage', 'exec needs a command to run', {
      hint: hint`Put it behind a --, such as: ${command('exec', '--', 'npm', 'test')}`,
    });
  }
  const file = await readConfiguration(options.config, io);
  const style = styleInForce(output.style, 'exec', flags);
  const { startEmulator } = await import('../start-emulator.ts');
  const server = await startEmulator(execConfiguration(flags, io.env, file), output, { style });
  if (!output.quiet) {
    for (const notice of noticesOf(server)) output.notice(notice);
    server.onEvent(refusalTeller(output));
  }
  const { url, controlToken, tlsCa } = server;
  output.connection = connectionFlags(server, io.cwd);
  const { hostAlias, proxy } = server.parts.runtime.options;
  const trusted = io.env['NODE_EXTRA_CA_CERTS'];
  const client = proxy
    ? await (await import('../client-environment.ts')).clientEnvironment(server, io)
    : undefined;
  if (!output.quiet) for (const notice of client?.notices ?? []) output.notice(notice);
  const environment = {
    ...merchantEnvironment({ url, caFile: tlsCa ?? undefined }, server),
    // Read by gateway-sim/alias-hosts, which knows no path.
    ...(hostAlias.length && { GATEWAY_SIM_HOST_ALIAS: hostAlias.join().replace(/\/[^,]*/g, '') }),
    // The user's own file stays.
    ...(trusted && { NODE_EXTRA_CA_CERTS: trusted }),
    ...client?.variables,
    ...(controlToken !== null && { GATEWAY_SIM_CONTROL_TOKEN: controlToken }),
  };
  const end = () => Promise.all([server.stop(), client?.remove()]);
  return runCommand(words, environment, { io, output }).finally(end);
};

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

export const exec = group({ commands: COMMANDS, actions: { exec: runExec } });
