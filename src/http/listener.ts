import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { hostName, isLoopback } from '../contract/address.ts';
import { GatewayError, hint, option, usage } from '../contract/error.ts';
import { JSON_TYPE } from '../contract/media-types.ts';
import type { ResolvedOptions } from '../options/start-options.ts';
import { serviceError } from '../service/errors.ts';
import { CHECKOUT_PATHS, INITIATE_PATHS } from '../service/names.ts';

/*
 * From the socket to the app. Loads neither Hono nor TLS, because every start loads it. `serve` of @hono/node-server
 * would load Hono before it listens, on one address only, and answer what Node rejects without a body.
 */

/** Answers a request of `node:http`. */
export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/** TLS and the proxy, in front of a server. */
export interface Front {
  /**
   * Handles the connections of a server.
   *
   * @returns answers a CONNECT; `head` is the bytes after the request
   */
  attach(server: Server): (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Whether a request may pass to the routes. If not, it has been answered. */
  admits(incoming: IncomingMessage, outgoing: ServerResponse): boolean;
  /** Closes the connections without a request. The servers close the others. */
  close(): void;
}

interface Surroundings {
  /** Comes before the listener. */
  front?: Front | undefined;
  /** Called for each request of a client that uses the emulator as its proxy, if it is rejected. */
  onRejected?: (host: string, why: string) => void;
  /** The paths below which the routes are also served. */
  basePaths?: readonly string[];
}

/** Requests that came through the proxy, which serves only the routes of the service. */
export const proxied = new WeakSet<IncomingMessage>();

/** Health checks and their responses. No guard applies to them, and they do not need the app. */
export const PROBES = {
  '/_sim/livez': { status: 'live' },
  '/_sim/readyz': { status: 'ready' },
} as const;
const PROBE_BODIES = new Map(Object.entries(PROBES).map(([path, answer]) => [path, JSON.stringify(answer)]));

/**
 * Hono and its fetch classes take as long to load as everything else together. They are loaded this many milliseconds
 * after the start (real time), or when the first request needs them.
 */
const LOAD_AFTER_MS = 50;

/** Maximum time for open requests to end after a stop (real time). */
const DRAIN_MS = 1_500;

/**
 * Listens on the host. For 127.0.0.1, also listens on ::1, because `localhost` means either.
 *
 * @param load loads the listener; called once
 * @returns the bound port, notices, and a function that ends when all requests have ended
 * @throws GatewayError `port_in_use`, or `usage` for an address of another machine
 */
export async function listen(
  { host, port }: Pick<ResolvedOptions, 'host' | 'port'>,
  load: () => Promise<RequestListener>,
  surroundings: Surroundings = {},
): Promise<{ port: number; notices: string[]; close: () => Promise<void> }> {
  let loading: Promise<RequestListener> | undefined;
  const start = () => {
    loading ??= load();
    return loading;
  };
  const listener: RequestListener = (incoming, outgoing) =>
    start().then((answer) => answer(incoming, outgoing));
  const server = serverFor(listener, surroundings);
  const bound = await bind(server, port, host);
  const servers = [server];
  const notices: string[] = [];
  if (host === '127.0.0.1') {
    const second = serverFor(listener, surroundings);
    try {
      await bind(second, bound, '::1');
      servers.push(second);
    } catch (error) {
      // Without IPv6, `localhost` is IPv4 only.
      if ((error as GatewayError).code === 'port_in_use') notices.push(takenByOther(bound));
    }
  }
  const timer = setTimeout(start, LOAD_AFTER_MS).unref();
  const close = async () => {
    clearTimeout(timer);
    surroundings.front?.close();
    await Promise.all(servers.map(drained));
  };
  return { port: bound, notices, close };
}

const takenByOther = (port: number) =>
  `another process uses port ${port} on ::1: a program that calls http://localhost:${port} may reach it instead, so use http://127.0.0.1:${port}`;

/** Closes a server when its open requests end, or after `DRAIN_MS`. */
async function drained(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(force);
}

function serverFor(listener: RequestListener, { front, basePaths = [], onRejected }: Surroundings): Server {
  const server = createServer(
    // Node rejects a request without Host but sends no body, so the listener does it.
    { requestTimeout: 30_000, keepAliveTimeout: 65_000, requireHostHeader: false },
    (incoming, outgoing) => {
      if (front && !front.admits(incoming, outgoing)) return;
      if (basePaths.length) incoming.url = withoutBase(incoming.url ?? '', basePaths);
      // Set here because adding a header to a finished response costs many times more.
      outgoing.setHeader('X-Gateway-Sim', '1');
      const { method, url = '', headers, httpVersion } = incoming;
      const probe = method === 'GET' && !proxied.has(incoming) ? PROBE_BODIES.get(url) : undefined;
      if (headers.host === undefined && httpVersion === '1.1')
        rejectRequest(outgoing, 400, 'the request has no Host header');
      else if (probe === undefined) listener(incoming, outgoing);
      else outgoing.writeHead(200, { 'Content-Type': JSON_TYPE, 'Content-Length': probe.length }).end(probe);
    },
  );
  server.on('clientError', (error, socket) => answerMalformed(error, socket));
  const rejectConnect = ({ url = '' }: IncomingMessage, socket: Duplex) => {
    endRaw(socket, 405, noProxy(url));
    onRejected?.(url, noProxy(url));
  };
  const connect = front?.attach(server) ?? rejectConnect;
  // By default, Node closes the connection on CONNECT and rejects an Expect header without a body.
  server.on('connect', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    connect(request, socket, head);
  });
  server.on('checkExpectation', (_, outgoing) => rejectRequest(outgoing, 417, 'unsupported Expect header'));
  return server;
}

/** Removes a base path from a URL, unless a route of the service begins with the same path. */
function withoutBase(url: string, basePaths: readonly string[]): string {
  const base = basePaths.find((path) => url.startsWith(path) && /^[/?]|^$/.test(url.slice(path.length)));
  const own = [...Object.values(INITIATE_PATHS), ...Object.values(CHECKOUT_PATHS)];
  if (base === undefined || own.some((path) => url.startsWith(path))) return url;
  const rest = url.slice(base.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function bind(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(bindError(error, port, host)));
    server.listen({ port, host }, () => resolve((server.address() as AddressInfo).port));
  });
}

function bindError(error: NodeJS.ErrnoException, port: number, host: string): GatewayError {
  const { code, message } = error;
  if (code === 'EADDRINUSE') {
    const fix = hint`Use any free port with ${option('port', '0')}, or choose one with ${option('port')}.`;
    const text = `port ${port} on ${host} is in use by another process`;
    return new GatewayError('port_in_use', text, { hint: fix, cause: error });
  }
  if (code === 'EACCES') {
    const fix = hint`Choose a port above 1023 with ${option('port')}.`;
    const text = `port ${port} on ${host} requires more permissions`;
    return new GatewayError('port_in_use', text, { hint: fix, cause: error });
  }
  const fix = hint`Specify an address of this machine with ${option('host')}.`;
  return usage(`cannot listen on ${host}: ${message}`, { hint: fix, cause: error });
}

/** Answers a request that Node's parser rejected, then closes the connection. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  const end = (status: number, reason: string) => endRaw(socket, status, reason);
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else if (error.code === 'HPE_HEADER_OVERFLOW') end(431, 'the headers are too large');
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') end(408, 'the request did not arrive in time');
  else end(400, 'the request is not valid HTTP');
}

/*
 * Error responses without the app, in the same format. Each closes its connection.
 */

/** Why a CONNECT is rejected without --proxy. */
export function noProxy(target: string): string {
  const name = nameIn(target);
  const fix =
    name && !isLoopback(name) ? `start with --tls --proxy --host-alias ${name}` : 'start with --proxy';
  return `CONNECT is not supported, because the proxy is off: ${fix}`;
}

/** The host name before the port; undefined for an IP address or an invalid name. */
export const nameIn = (authority: string) => hostName(authority.replace(/:\d*$/, ''));

export function rejectRequest(outgoing: ServerResponse, status: number, reason: string): void {
  const { headers, body } = rejectionOf(outgoing.req, reason);
  outgoing.writeHead(status, headers).end(body);
}

/** Rejects a connection that has no response object. */
export function endRaw(socket: Duplex, status: number, reason: string): void {
  const { headers, body } = rejectionOf(undefined, reason);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

function rejectionOf(request: IncomingMessage | undefined, reason: string) {
  const error = new GatewayError('unparseable_body', reason);
  const isControl = request?.url?.startsWith('/_sim') ?? false;
  const body = JSON.stringify(isControl ? error : serviceError(error));
  const headers = {
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(body),
    'X-Gateway-Sim': '1',
    Connection: 'close',
  };
  return { headers, body };
}
