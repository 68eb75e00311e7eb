import { GatewayError } from '../../contract/error.ts';
import type { SimEvent } from '../../contract/event.ts';
import { command, hint } from '../../contract/hint.ts';
import { merchantEnvironment } from '../../library/merchant-client.ts';
import { runCommand } from '../child.ts';
import type { Actions } from '../commands/exec.ts';
import { execConfiguration, readConfiguration } from '../configuration.ts';
import { isRefusedInitiate } from '../format-event.ts';
import { styleInForce } from '../in-force.ts';
import { connectionFlags, type Output } from '../output.ts';
import { noticesOf, startEmulator } from './start.ts';

/**
 * A fresh emulator around a command. It runs in this process, so that it ends with it in every case. stdout belongs to
 * the command; ours are notices and faults, on stderr.
 *
 * @returns the exit code of the command
 */
export const exec: Actions['exec'] = async ({ args, options, flags, io, output }) => {
  const [words] = args;
  if (!words.length) {
    throw new GatewayError('usage', 'exec needs a command to run', {
      hint: hint`Put it behind a --, such as: ${command('exec', '--', 'npm', 'test')}`,
    });
  }
  const file = await readConfiguration(options.config, io);
  const style = styleInForce(output.style, 'exec', flags);
  const server = await startEmulator(execConfiguration(flags, io.env, file), output, { style });
  if (!output.quiet) {
    for (const notice of noticesOf(server)) output.notice(notice);
    server.onEvent(refusalTeller(output));
  }
  const { url, controlToken, tlsCa } = server;
  output.connection = connectionFlags(server, io.cwd);
  const { hostAlias } = server.parts.runtime.options;
  const trusted = io.env['NODE_EXTRA_CA_CERTS'];
  const environment = {
    ...merchantEnvironment({ url, caFile: tlsCa ?? undefined }, server),
    // Read by gateway-sim/alias-hosts.
    ...(hostAlias.length && { GATEWAY_SIM_HOST_ALIAS: hostAlias.join() }),
    // The user's own file stays.
    ...(trusted && { NODE_EXTRA_CA_CERTS: trusted }),
    ...(controlToken !== null && { GATEWAY_SIM_CONTROL_TOKEN: controlToken }),
  };
  return runCommand(words, environment, { io, output }).finally(server.stop);
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
