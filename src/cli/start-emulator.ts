import { urlOf } from '../contract/address.ts';
import { command, GatewayError, hint, SECOND_EMULATOR } from '../contract/error.ts';
import type { ResolvedOptions } from '../options/start-options.ts';
import { startServer } from '../server.ts';
import type { Output } from './output.ts';

/** @param standingFixtures whether the fixtures come from the configuration file */
export function startEmulator(
  options: ResolvedOptions,
  output: Output,
  standingFixtures = false,
): ReturnType<typeof startServer> {
  return startServer(options, {
    style: output.style,
    standingFixtures,
    warn: (text) => output.notice(`gateway-sim: ${text}`),
    report: (error) =>
      output.notice(`gateway-sim internal error: ${String((error as Error)?.stack ?? error)}`),
  }).catch(async (error: unknown) => {
    throw await nameOwner(error, options);
  });
}

/** If another emulator uses the port, adds the command that stops it. */
async function nameOwner(error: unknown, { host, port }: ResolvedOptions): Promise<unknown> {
  if (!(error instanceof GatewayError) || error.code !== 'port_in_use') return error;
  const { PROBE_MS, probe } = await import('./connect.ts');
  const url = urlOf(host, port);
  if ((await probe({ url }, PROBE_MS)) !== 'ready') return error;
  return new GatewayError('port_in_use', `port ${port} on ${host} is in use by another gateway-sim`, {
    hint: hint`${SECOND_EMULATOR}, or stop this one with: ${command('stop', '--url', url)}`,
    cause: error,
  });
}

export type RunningServer = Awaited<ReturnType<typeof startEmulator>>;
