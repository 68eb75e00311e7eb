import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { HintStyle } from '../contract/error.ts';
import type { RecordedRequest } from '../contract/event.ts';
import type { Secrets } from '../contract/secrets.ts';
import type { Settings } from '../domain/settings.ts';
import type { ResolvedOptions } from '../options/start-options.ts';
import type { UseCases } from '../usecases/use-cases.ts';

export interface ServerRuntime {
  options: ResolvedOptions;
  settings: Settings;
  /** Folder of the state; null with `--in-memory`. */
  dataDir: string | null;
  /** The certificate that clients must trust; null for plain HTTP. */
  tlsCa: string | null;
  pid: number;
  startedAt: string;
  /** Base of checkout URLs: `--public-url`, or the bound address. */
  baseUrl: () => string;
  /** Required under /_sim; null if none was set and only this machine can reach the emulator. */
  controlToken: string | null;
  /** Writes commands and options the way this user types them. */
  style: HintStyle;
  /** Aborted when the server begins to stop, to end streams. */
  stopped: AbortSignal;
  stop: () => Promise<void>;
}

/** The path of --public-url, which browsers see before all our paths; empty if it has none. */
export function basePath({ baseUrl }: Pick<ServerRuntime, 'baseUrl'>): string {
  return new URL(baseUrl()).pathname.replace(/\/+$/, '');
}

/** Everything that the routes need. */
export interface AppDependencies extends UseCases {
  runtime: ServerRuntime;
  secrets: Secrets;
  /** Receives every internal error. */
  report: (error: unknown) => void;
}

/**
 * What a handler of the service adds to the request log, besides status and time. It sets `status` only if the response
 * bypassed Hono. Only requests to the service have an id.
 */
export type RequestLog = Partial<
  Pick<RecordedRequest, 'id' | 'requestBody' | 'responseBody' | 'paymentId' | 'status' | 'notes' | 'fault'>
>;

export interface AppEnvironment {
  Bindings: Partial<HttpBindings> & {
    /** For calls from inside the process: receives the log entry of the request. */
    onRecorded?: (recorded: RecordedRequest) => void;
  };
  Variables: {
    requestLog: RequestLog;
    /** Learns the passwords in bodies. */
    secrets: Secrets;
    /** The body, if it was read before its handler needed it. A connection can be read only once. */
    body?: Promise<Buffer>;
  };
}

export type App = Hono<AppEnvironment>;
export type AppContext = Context<AppEnvironment>;
