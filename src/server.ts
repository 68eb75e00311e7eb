import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { ActivityLog } from './activity.ts';
import { Clock } from './clock.ts';
import { Courier } from './delivery/courier.ts';
import { Egress } from './delivery/egress.ts';
import { Poster } from './delivery/post.ts';
import { GatewayError, nearestName } from './domain/error.ts';
import { createIds } from './domain/ids.ts';
import { defaultMerchant } from './domain/merchant.ts';
import { DOCUMENTED_CURRENCIES, parseAmountFormat, parseCurrency } from './domain/money.ts';
import { type Context, type Settings, timestamp } from './domain/settings.ts';
import type { Outcome, State, Wallet } from './domain/state.ts';
import { Gateway } from './gateway.ts';
import { createApp } from './http/app.ts';
import type { AppParts } from './http/environment.ts';
import { asGatewayError, errorBody, statusOf } from './http/errors.ts';
import { isLoopback } from './http/guard.ts';
import { parseDuration, type ResolvedOptions } from './options.ts';
import { systemRandom } from './random.ts';
import { DataFolder } from './store/folder.ts';
import { readSnapshotFile, type Snapshot } from './store/snapshot.ts';
import { Store } from './store/store.ts';

/** What comes from outside the options. */
export interface ServerSurroundings {
  version: string;
  /** The file with the state that a new folder starts with. */
  fixtures: string;
  /** Told of every fault of ours, for the log. */
  report: (error: unknown) => void;
}

/** A running emulator. */
export interface RunningServer {
  url: string;
  port: number;
  publicKey: string;
  secretKey: string;
  dataDir: string | null;
  controlToken: string | null;
  /** What the user should know about the state that was found. */
  notices: readonly string[];
  parts: AppParts;
  /** Resolves when everything is stopped, whoever asked for it. */
  stopped: Promise<void>;
  /** Answers what is under way, stores everything, lets go of port and folder. */
  stop: () => Promise<void>;
}

/** Receivers' answers and open pages get this long to end on a stop, in real time. */
const DRAIN_MS = 1_500;

/**
 * Builds and starts an emulator; resolves when it answers.
 *
 * @throws GatewayError `port_in_use`, `folder_in_use`, `storage_failed`, `state_damaged` or `usage`
 */
export async function startServer(
  options: ResolvedOptions,
  surroundings: ServerSurroundings,
): Promise<RunningServer> {
  const folder = options.inMemory ? null : await DataFolder.take(options.dataDir);
  try {
    return await startOn(folder, options, surroundings);
  } catch (error) {
    await folder?.release();
    throw error;
  }
}

async function startOn(
  folder: DataFolder | null,
  options: ResolvedOptions,
  { version, fixtures, report }: ServerSurroundings,
): Promise<RunningServer> {
  const initial = async (): Promise<Snapshot> => {
    const snapshot = await readSnapshotFile(fixtures);
    if (!snapshot) throw new GatewayError('state_damaged', `the fixtures ${fixtures} do not exist`);
    return snapshot;
  };
  const store = folder
    ? await Store.open({ folder: folder.path, fsync: options.fsync }, initial)
    : await Store.inMemory(await initial());
  const random = systemRandom();
  const clock = new Clock();
  const listening: { port?: number } = {};
  // Naming the address to forward to lets its host out.
  const letOut = [
    ...options.allowIpnHost,
    ...(options.forwardIpn ? [new URL(options.forwardIpn).hostname] : []),
  ];
  const egress = new Egress(letOut, () => (listening.port ? { port: listening.port } : undefined));
  const settings = settingsOf(options, egress);
  const ids = createIds(random);
  const context = (): Context => ({ now: clock.now(), ids, settings });
  await store.commit((state) => prepare(state, options, settings));
  const poster = new Poster(egress);
  const courier = new Courier({ store, clock, poster, context, version });
  const gateway = new Gateway({ store, clock, courier, settings, context, random });
  const activity = new ActivityLog();
  activity.follow(store);
  const stopping = new AbortController();
  const controlToken = isLoopback(options.host)
    ? null
    : (options.controlToken ?? randomBytes(18).toString('base64url'));
  let stopped: Promise<void> | undefined;
  let announceEnd: (end: Promise<void>) => void = () => {};
  const ended = new Promise<void>((resolve) => {
    announceEnd = resolve;
  });
  const stop = () => {
    if (!stopped) {
      stopped = stopAll();
      announceEnd(stopped);
    }
    return stopped;
  };
  const parts: AppParts = {
    gateway,
    activity,
    facts: {
      version,
      options,
      dataDir: folder?.path ?? null,
      pid: process.pid,
      startedAt: timestamp(clock.now()),
      baseUrl: () =>
        options.publicUrl?.replace(/\/+$/, '') ?? urlOf(options.host, listening.port ?? options.port),
      controlToken,
      stopped: stopping.signal,
      stop,
    },
  };
  const app = createApp(parts, report);
  const servers = await listen(options, (request, env) => app.fetch(request, env), report);
  listening.port = portOf(servers[0]);
  courier.start();
  const url = urlOf(options.host, listening.port);
  await folder?.announce({ url, pid: process.pid, controlToken });
  const { publicKey, secretKey } = defaultMerchant(store.state);

  async function stopAll(): Promise<void> {
    stopping.abort();
    clock.stop();
    courier.stop();
    await Promise.all(servers.map(close));
    await store.close();
    await folder?.release();
  }

  return {
    url,
    port: listening.port,
    publicKey,
    secretKey,
    dataDir: folder?.path ?? null,
    controlToken,
    notices: store.notices,
    parts,
    stopped: ended,
    stop,
  };
}

function settingsOf(options: ResolvedOptions, egress: Egress): Settings {
  const currencies = [...DOCUMENTED_CURRENCIES, ...options.currency.map(parseCurrency)];
  return {
    currencies: new Map(currencies.map((currency) => [currency.code, currency])),
    charges: { payment: { percent: '2', fixed: '0' } },
    loose: options.loose,
    sandboxEmail: options.sandboxEmail,
    sandboxCode: options.sandboxCode,
    ipn: ipnSettings(options),
    delivery: options.delivery,
    unreachable: (url) => (options.forwardIpn === undefined ? egress.unreachable(url) : null),
  };
}

/** A wait of the schedule, and how long a receiver may take, at most. */
const LONGEST_WAIT_MS = 30 * 24 * 3_600_000;
const LONGEST_TIMEOUT_MS = 10 * 60_000;
const SENT_ON_REQUEST = ['canceled', 'failed', 'expired'] as const;

function ipnSettings(options: ResolvedOptions): Settings['ipn'] {
  const amountFormat = parseAmountFormat(options.amountFormat);
  if (!amountFormat) {
    throw new GatewayError(
      'usage',
      `--amount-format must be sent, stored or fixed:N with N from 0 to 8 (got "${options.amountFormat}")`,
    );
  }
  if (options.ipnTimeout < 1 || options.ipnTimeout > LONGEST_TIMEOUT_MS) {
    throw new GatewayError('usage', '--ipn-timeout must be from 1ms to 10m');
  }
  const alsoOn = options.ipnOn.map((text) => {
    const status = SENT_ON_REQUEST.find((name) => name === text);
    if (status) return status;
    const meant = nearestName(text, SENT_ON_REQUEST);
    throw new GatewayError(
      'usage',
      `--ipn-on takes ${SENT_ON_REQUEST.join(', ')} (got "${text}")${meant ? `: did you mean ${meant}?` : ''}`,
    );
  });
  return {
    format: options.ipnFormat,
    amountFormat,
    on: new Set(['succeeded', ...alsoOn]),
    schedule: scheduleOf(options),
    timeoutMs: options.ipnTimeout,
    forwardTo: options.forwardIpn ?? null,
  };
}

function scheduleOf({ ipnSchedule, ipnRetries }: ResolvedOptions): number[] {
  const waits = ipnSchedule.map((text) => {
    const wait = parseDuration(text);
    if (wait !== undefined && wait <= LONGEST_WAIT_MS) return wait;
    throw new GatewayError(
      'usage',
      `--ipn-schedule must be durations such as 1s,5s,30s, each at most 720h (got "${text}")`,
    );
  });
  const last = waits.length - 1;
  if (ipnRetries === undefined) return waits;
  return Array.from({ length: ipnRetries }, (_, index) => waits[Math.min(index, last)] ?? 0);
}

/** Brings a state in line with the options: pinned keys, and a wallet of each kind in every currency. */
function prepare(state: State, options: ResolvedOptions, settings: Settings): Outcome<null> {
  const merchant = defaultMerchant(state);
  const { publicKey = merchant.publicKey, secretKey = merchant.secretKey } = options;
  const repinned = publicKey !== merchant.publicKey || secretKey !== merchant.secretKey;
  const wallets = [...settings.currencies.keys()].flatMap((currency) => missingWallets(state, currency));
  return {
    change: {
      ...(repinned && { merchants: [{ ...merchant, publicKey, secretKey }] }),
      ...(wallets.length && { wallets }),
    },
    result: null,
  };
}

/** For a currency that is new here: a wallet for everybody who has one in another currency. */
function missingWallets(state: State, currency: string): Wallet[] {
  const all = [...state.wallets.values()];
  if (all.some((wallet) => wallet.currency === currency)) return [];
  const first = all[0]?.currency;
  return all
    .filter((wallet) => wallet.currency === first)
    .map((wallet) => ({ ...wallet, id: wallet.id.replace(/[a-z]+$/, currency.toLowerCase()), currency }));
}

function portOf(server: Server | undefined): number {
  return (server?.address() as AddressInfo | null)?.port ?? 0;
}

function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/** Listens on the host, and on ::1 too when that is 127.0.0.1: `localhost` means either. */
async function listen(
  options: ResolvedOptions,
  fetch: Fetch,
  report: (error: unknown) => void,
): Promise<Server[]> {
  const listener = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
    hostname: options.host,
    errorHandler: (thrown) => refuseRequest(thrown, report),
  });
  const make = () => {
    const server = createServer(
      { requestTimeout: 30_000, keepAliveTimeout: 65_000 },
      (incoming, outgoing) => {
        // Here and not in the app: on a finished answer a header more is many times as expensive.
        outgoing.setHeader('X-Gateway-Sim', '1');
        void listener(incoming, outgoing);
      },
    );
    server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      answerMalformed(error, socket as Socket),
    );
    return server;
  };
  const server = make();
  await bind(server, options.port, options.host);
  if (options.host !== '127.0.0.1') return [server];
  const second = make();
  const { port } = server.address() as AddressInfo;
  try {
    await bind(second, port, '::1');
    return [server, second];
  } catch (error) {
    // A machine without IPv6, or with that port taken there, still has its IPv4 loopback.
    if (error instanceof GatewayError) return [server];
    throw error;
  }
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(bindError(error, port, host)));
    server.listen({ port, host }, () => resolve());
  });
}

function bindError(error: NodeJS.ErrnoException, port: number, host: string): GatewayError {
  if (error.code === 'EADDRINUSE') {
    return new GatewayError('port_in_use', `port ${port} on ${host} is in use by another process`, {
      remedy: 'Choose another one with --port (0 takes a free one), or stop what has it: gateway-sim stop.',
      cause: error,
    });
  }
  if (error.code === 'EACCES') {
    return new GatewayError('port_in_use', `port ${port} on ${host} may not be used without more rights`, {
      remedy: 'Choose a port above 1023 with --port.',
      cause: error,
    });
  }
  return new GatewayError('usage', `cannot listen on ${host}: ${error.message}`, {
    remedy: 'Give an address of this machine with --host.',
    cause: error,
  });
}

/** What hono never sees: a request whose address or Host header makes no sense. */
function refuseRequest(thrown: unknown, report: (error: unknown) => void): Response {
  const isMalformed = thrown instanceof Error && thrown.name === 'RequestError';
  const error = isMalformed
    ? new GatewayError('unparseable_body', `the request is malformed: ${thrown.message}`)
    : asGatewayError(thrown);
  if (!isMalformed) report(thrown);
  return Response.json(errorBody(error, false), { status: statusOf(error) });
}

/** What Node's parser refuses still gets an answer in the one error shape before the connection closes. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'the headers are too large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request was not complete in time']
        : ['400 Bad Request', 'the request is not valid HTTP'];
  const body = JSON.stringify(errorBody(new GatewayError('unparseable_body', reason), false));
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Gateway-Sim: 1\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(force);
}
