import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import type { ResolvedOptions } from '../options/table.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { Edge } from './edge.ts';
import { answerProbe } from './probes.ts';
import { isProxied } from './proxied.ts';
import { endRaw, NO_PROXY, refuse } from './refusal.ts';

/** Answers a request without the app; false when that is not for it, with nothing of the body read. */
export type Lane = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/** Receivers' answers and open pages get this long to end on a stop, in real time. */
const DRAIN_MS = 1_500;

export function portOf(server: Server | undefined): number {
  return (server?.address() as AddressInfo | null)?.port ?? 0;
}

/** Answers a request of Node's. */
export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/**
 * Hono, and the parts of fetch that it stands on, take as long to load as everything else: they are loaded once no
 * request has come for this long (milliseconds of real time), or when the first one needs them.
 */
const LOAD_AFTER_MS = 50;

/**
 * Listens on the host, and on ::1 too when that is 127.0.0.1: `localhost` means either.
 *
 * @param load what answers requests; loaded once
 * @param lane asked before that
 * @param edge what stands in front of both: TLS, the proxy
 * @param basePaths below which the routes are, too
 * @throws GatewayError `port_in_use`, or `usage` for an address that is not of this machine
 */
export async function listen(
  { host, port }: Pick<ResolvedOptions, 'host' | 'port'>,
  load: () => Promise<RequestListener>,
  dialect: Dialect,
  { lane = () => false, edge, basePaths = [] }: Surroundings = {},
): Promise<Server[]> {
  const { listener, start } = loadedLater(load);
  const surroundings = { lane, edge, basePaths };
  const server = serverFor(listener, dialect, surroundings);
  await bind(server, port, host);
  const timer = setTimeout(start, LOAD_AFTER_MS).unref();
  server.once('close', () => clearTimeout(timer));
  if (host !== '127.0.0.1') return [server];
  const second = serverFor(listener, dialect, surroundings);
  try {
    await bind(second, portOf(server), '::1');
    return [server, second];
  } catch (error) {
    // A machine without IPv6, or with that port taken there, still has its IPv4 loopback.
    if (error instanceof GatewayError) return [server];
    throw error;
  }
}

interface Surroundings {
  lane?: Lane;
  edge?: Edge | undefined;
  basePaths?: readonly string[];
}

function loadedLater(load: () => Promise<RequestListener>) {
  let loading: Promise<void> | undefined;
  let loaded: RequestListener | undefined;
  const start = () => {
    loading ??= load().then((listener) => {
      loaded = listener;
    });
    return loading;
  };
  const listener: RequestListener = (incoming, outgoing) => {
    if (loaded) loaded(incoming, outgoing);
    else void start().then(() => loaded?.(incoming, outgoing));
  };
  return { listener, start };
}

/** Maximum requests of one connection that wait for the answers to those before them (chosen). */
const MAX_WAITING = 1_000;

/**
 * Answers the requests of one connection one after the other: the answers to all that a client sends at once, and does
 * not read, would pile up in memory.
 */
function inTurn(answer: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    // Node gives it the connection once the answer before it is written out.
    if (outgoing.socket) return answer(incoming, outgoing);
    const count = waiting.get(socket) ?? 0;
    if (count === MAX_WAITING) return socket.destroy();
    waiting.set(socket, count + 1);
    return outgoing.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      // Node is not done with giving it.
      process.nextTick(answer, incoming, outgoing);
    });
  };
}

/** The address of a route that was asked for below one of these paths; a route of our own that begins like one stays. */
function withoutBase(url: string, basePaths: readonly string[], { paths }: Dialect): string {
  const base = basePaths.find((path) => url.startsWith(path) && /^[/?]|^$/.test(url.slice(path.length)));
  const own = [...Object.values(paths.initiate), ...Object.values(paths.checkout)];
  if (base === undefined || own.some((path) => url.startsWith(path))) return url;
  const rest = url.slice(base.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function serverFor(
  listener: RequestListener,
  dialect: Dialect,
  { lane, edge, basePaths }: Required<Surroundings>,
): Server {
  const answer = inTurn((incoming, outgoing) => {
    // Here and not in the app: on a finished answer a header more is many times as expensive.
    outgoing.setHeader('X-Gateway-Sim', '1');
    if (incoming.headers.host === undefined && incoming.httpVersion === '1.1')
      refuse(outgoing, 400, 'the request has no Host header', dialect);
    else if (isProxied(incoming) || !answerProbe(incoming, outgoing)) listener(incoming, outgoing);
  });
  /** The last two answers in line on each connection, the newest first. */
  const newest = new WeakMap<Duplex, [ServerResponse, ServerResponse | undefined]>();
  const server = createServer(
    // A request without Host is refused below with a body, which Node's own refusal does not have.
    { requestTimeout: 30_000, keepAliveTimeout: 65_000, requireHostHeader: false },
    (incoming, outgoing) => {
      newest.set(incoming.socket, [outgoing, newest.get(incoming.socket)?.[0]]);
      if (edge && !edge.admits(incoming, outgoing)) return;
      if (basePaths.length) incoming.url = withoutBase(incoming.url ?? '', basePaths, dialect);
      // What the lane answers is small, and Node stops reading where much of it waits.
      if (!lane(incoming, outgoing)) answer(incoming, outgoing);
    },
  );
  /** Answers behind those before it, or it would be taken for one of theirs. */
  const behindOthers = (socket: Duplex, refusal: () => void) => {
    const [last, former] = newest.get(socket) ?? [];
    // The last one may be of the request that is broken.
    const before = last?.req.complete ? last : former;
    if (before && !before.writableFinished && !socket.destroyed) before.once('close', refusal);
    else refusal();
  };
  server.on('clientError', (error, socket) =>
    behindOthers(socket, () => answerMalformed(error, socket, dialect)),
  );
  // Node would close the connection of the one and refuse the other without a word of who did.
  server.on('connect', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    behindOthers(socket, () => {
      if (edge) edge.connect(server, request, socket, head);
      else endRaw(socket, 405, NO_PROXY, dialect);
    });
  });
  server.on('checkExpectation', (_, outgoing) =>
    refuse(outgoing, 417, 'the Expect header is not understood', dialect),
  );
  edge?.attach(server);
  return server;
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(bindError(error, port, host)));
    server.listen({ port, host }, resolve);
  });
}

function bindError(error: NodeJS.ErrnoException, port: number, host: string): GatewayError {
  const { code, message } = error;
  if (code === 'EADDRINUSE') {
    const advice = hint`Take a free one with ${option('port', '0')}, or choose one with ${option('port')}.`;
    const text = `port ${port} on ${host} is in use by another process`;
    return new GatewayError('port_in_use', text, { hint: advice, cause: error });
  }
  if (code === 'EACCES') {
    const advice = hint`Choose a port above 1023 with ${option('port')}.`;
    const text = `port ${port} on ${host} may not be used without more rights`;
    return new GatewayError('port_in_use', text, { hint: advice, cause: error });
  }
  const advice = hint`Give an address of this machine with ${option('host')}.`;
  return new GatewayError('usage', `cannot listen on ${host}: ${message}`, { hint: advice, cause: error });
}

/** What Node's parser refuses still gets an answer before the connection closes. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex, dialect: Dialect): void {
  const end = (status: number, reason: string) => endRaw(socket, status, reason, dialect);
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else if (error.code === 'HPE_HEADER_OVERFLOW') end(431, 'the headers are too large');
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') end(408, 'the request was not complete in time');
  else end(400, 'the request is not valid HTTP');
}

/** Lets a server answer what is under way, at most `DRAIN_MS` long, and closes it. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(force);
}
