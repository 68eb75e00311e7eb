import { timestamp } from '../contract/timestamp.ts';
import { baseUrlOf } from '../options/base-url.ts';
import type { Clock } from '../system/clock.ts';
import type { Shutdown } from '../system/shutdown.ts';
import type { ServerRuntime } from './environment.ts';

interface RuntimePlan extends Pick<ServerRuntime, 'options' | 'settings' | 'controlToken' | 'style'> {
  surroundings: { version: string };
  clock: Pick<Clock, 'now'>;
  /** Without a port until it listens. */
  listening: { port?: number };
}

/** What the routes know of the emulator that they are part of. */
export function runtimeOf(
  { options, settings, controlToken, style, surroundings, clock, listening }: RuntimePlan,
  places: Pick<ServerRuntime, 'dataDir' | 'tlsCa'>,
  { stopping, stop }: Pick<Shutdown, 'stopping' | 'stop'>,
): ServerRuntime {
  return {
    options,
    settings,
    ...places,
    controlToken,
    style,
    stop,
    version: surroundings.version,
    pid: process.pid,
    startedAt: timestamp(clock.now()),
    baseUrl: () => baseUrlOf(options, listening.port),
    stopped: stopping.signal,
  };
}
