import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { RecordedRequest } from '../contract/event.ts';
import type { HintStyle } from '../contract/hint.ts';
import type { Settings } from '../domain/settings.ts';
import type { ResolvedOptions } from '../options/table.ts';
import type { Audits } from '../usecases/audits.ts';
import type { UseCases } from '../usecases/use-cases.ts';
import type { Dialect } from '../wire/dialect.ts';

export interface ServerRuntime {
  options: ResolvedOptions;
  settings: Settings;
  /** Where the state is kept; null in memory. */
  dataDir: string | null;
  /** The certificate that clients trust; null where plain http is spoken. */
  tlsCa: string | null;
  pid: number;
  startedAt: string;
  /** The address that checkout URLs are built on: `--public-url`, else the bound address. */
  baseUrl: () => string;
  /** Asked for under /_sim; null when none is: only this machine can reach the emulator, and no token was given. */
  controlToken: string | null;
  /** How pages write commands and options: as the user of this emulator would type them. */
  style: HintStyle;
  /** Aborted when the server begins to stop: endless answers end then. */
  stopped: AbortSignal;
  stop: () => Promise<void>;
}

/** All that the routes work with: the use cases by noun, what is read, and how the service is spoken. */
export interface AppParts extends UseCases {
  runtime: ServerRuntime;
  dialect: Dialect;
  audits: Audits;
}

/**
 * What a handler of the service tells the request log beside status and time. A status only where the answer did not go
 * out by the usual way. Only a request to the service has an id.
 */
export type RequestLog = Partial<
  Pick<RecordedRequest, 'id' | 'requestBody' | 'responseBody' | 'paymentId' | 'status' | 'notes' | 'fault'>
>;

export interface AppEnvironment {
  Bindings: Partial<HttpBindings> & {
    /** Asked for by what calls the service from within: gets what the log kept of the call. */
    onRecorded?: (recorded: RecordedRequest) => void;
  };
  Variables: { requestLog: RequestLog };
}

export type App = Hono<AppEnvironment>;
export type AppContext = Context<AppEnvironment>;
