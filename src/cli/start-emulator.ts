import type { HintStyle } from '../contract/error.ts';
import type { ResolvedOptions } from '../options/table.ts';
import { startServer } from '../server.ts';
import type { Output } from './output.ts';

/**
 * @param more.style how the emulator's hints write commands
 * @param more.standingFixtures whether the fixtures come from the configuration file
 */
export function startEmulator(
  options: ResolvedOptions,
  output: Output,
  more: { style?: HintStyle; standingFixtures?: boolean } = {},
): ReturnType<typeof startServer> {
  return startServer(options, {
    style: output.style,
    ...more,
    warn: (text) => output.notice(`gateway-sim: ${text}`),
    report: (error) =>
      output.notice(`gateway-sim internal error: ${String((error as Error)?.stack ?? error)}`),
  });
}

export type RunningServer = Awaited<ReturnType<typeof startEmulator>>;
