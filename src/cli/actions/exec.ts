import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { merchantEnvironment } from '../../library/merchant-client.ts';
import { runCommand } from '../child.ts';
import { execConfiguration, readConfiguration } from '../configuration.ts';
import { connectionFlags } from '../output.ts';
import type { CommandContext } from '../program.ts';
import { configOf, noticesOf, startEmulator } from './start.ts';

/**
 * `gateway-sim exec`: a fresh emulator around a command. It runs in this process, so that it ends with it however that
 * is. stdout belongs to the command; ours are notices and faults, on stderr.
 */
export async function exec({ args, flags, output }: CommandContext): Promise<undefined> {
  const words = args.filter((word) => word !== undefined);
  if (!words.length) {
    throw new GatewayError('usage', 'exec needs a command to run', {
      hint: hint`Put it behind a --, such as: ${command('exec', '--', 'npm', 'test')}`,
    });
  }
  const file = await readConfiguration(configOf(flags));
  const server = await startEmulator(execConfiguration(flags, process.env, file), output);
  if (!output.quiet) for (const notice of noticesOf(server)) output.notice(notice);
  const { url, dataDir, controlToken } = server;
  output.connection = connectionFlags(url, dataDir);
  const environment = {
    ...merchantEnvironment(url, server),
    ...(controlToken !== null && { GATEWAY_SIM_CONTROL_TOKEN: controlToken }),
  };
  try {
    output.passOn(await runCommand(words, environment, output));
  } finally {
    await server.stop();
  }
  return undefined;
}
