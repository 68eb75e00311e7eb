import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { merchantEnvironment } from '../../library/merchant-client.ts';
import { runCommand } from '../child.ts';
import type { Actions } from '../commands/exec.ts';
import { execConfiguration, readConfiguration } from '../configuration.ts';
import { connectionFlags } from '../output.ts';
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
  const server = await startEmulator(execConfiguration(flags, io.env, file), output);
  if (!output.quiet) for (const notice of noticesOf(server)) output.notice(notice);
  const { url, dataDir, controlToken } = server;
  output.connection = connectionFlags(url, dataDir, io.cwd);
  const environment = {
    ...merchantEnvironment(url, server),
    ...(controlToken !== null && { GATEWAY_SIM_CONTROL_TOKEN: controlToken }),
  };
  return runCommand(words, environment, output).finally(server.stop);
};
