import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import type { ResolvedOptions } from '../options/table.ts';
import type { Dialect } from '../wire/dialect.ts';
import { asGatewayError, statusOf } from './errors.ts';

/** Receivers' answers and open pages get this long to end on a stop, in real time. */
const DRAIN_MS = 1_500;

/** The address to reach a host and port at. */
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** The port that a server was given. */
export function portOf(server: Server | undefined): number {
  return (server?.address() as AddressInfo | null)?.port ?? 0;
}

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/**
 * Listens on the host, and on ::1 too when that is 127.0.0.1: `localhost` means either.
 *
 * @throws GatewayError `port_in_use`, or `usage` for an address that is not of this machine
 */
export async function listen(
  options: Pick<ResolvedOptions, 'host' | 'port'> & { replaceGlobals: boolean },
  fetch: Fetch,
  report: (error: unknown) => void,
  { serviceError }: Dialect,
): Promise<Server[]> {
  /** What hono never sees is refused in the one error shape too. */
  const bodyOf = (reason: string) =>
    JSON.stringify(serviceError(new GatewayError('unparseable_body', reason)));
  const answer = async (request: Request, env: HttpBindings) => {
    const response = await fetch(request, env);
    if (!env.incoming.complete) await discardRest(env.incoming);
    return response;
  };
  const listener = getRequestListener((request, env) => answer(request, env as HttpBindings), {
    hostname: options.host,
    overrideGlobalObjects: options.replaceGlobals,
    errorHandler: (thrown) => {
      const { error, isOurs } = requestError(thrown);
      if (isOurs) report(thrown);
      return Response.json(serviceError(error), { status: statusOf(error) });
    },
  });
  const make = () => {
    const server = createServer(
      // A request without Host is refused below with a body, which Node's own refusal does not have.
      { requestTimeout: 30_000, keepAliveTimeout: 65_000, requireHostHeader: false },
      (incoming, outgoing) => {
        // Here and not in the app: on a finished answer a header more is many times as expensive.
        outgoing.setHeader('X-Gateway-Sim', '1');
        if (incoming.headers.host === undefined && incoming.httpVersion === '1.1')
          refuse(outgoing, 400, bodyOf('the request has no Host header'));
        else void listener(incoming, outgoing);
      },
    );
    server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      answerMalformed(error, socket as Socket, bodyOf),
    );
    // Node would close the connection of the one and refuse the other without a word of who did.
    server.on('connect', (_, socket) => {
      socket.on('error', () => socket.destroy());
      endRaw(socket, '405 Method Not Allowed', bodyOf('gateway-sim is no proxy: it takes no CONNECT'));
    });
    server.on('checkExpectation', (_, outgoing) =>
      refuse(outgoing, 417, bodyOf('the Expect header is not understood')),
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

/** So much of a body that nobody wanted is taken over, and for so long in real time, before the answer goes out. */
const MAX_DISCARDED_BYTES = 64 * 2 ** 20;
const MAX_DISCARD_MS = 2_000;

/**
 * Takes over what is left of a body. Closing a connection while the client still sends resets it, and a client that
 * reads late, as blocking ones do, would never see the answer.
 */
function discardRest(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_DISCARDED_BYTES) done();
    };
    const done = () => {
      clearTimeout(timer);
      incoming.off('data', onData).off('end', done).off('error', done).off('close', done);
      resolve();
    };
    const timer = setTimeout(done, MAX_DISCARD_MS);
    if (incoming.destroyed) return done();
    incoming.on('data', onData).on('end', done).on('error', done).on('close', done).resume();
  });
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
      hint: hint`Choose another one with ${option('port')} (0 takes a free one).`,
      cause: error,
    });
  }
  if (error.code === 'EACCES') {
    return new GatewayError('port_in_use', `port ${port} on ${host} may not be used without more rights`, {
      hint: hint`Choose a port above 1023 with ${option('port')}.`,
      cause: error,
    });
  }
  return new GatewayError('usage', `cannot listen on ${host}: ${error.message}`, {
    hint: hint`Give an address of this machine with ${option('host')}.`,
    cause: error,
  });
}

/** A request whose address or Host header makes no sense, or a failure of ours. */
function requestError(thrown: unknown): { error: GatewayError; isOurs: boolean } {
  const isOurs = !(thrown instanceof Error && thrown.name === 'RequestError');
  if (isOurs) return { error: asGatewayError(thrown), isOurs };
  return {
    error: new GatewayError('unparseable_body', `the request is malformed: ${thrown.message}`),
    isOurs,
  };
}

/** What Node's parser refuses still gets an answer before the connection closes. */
function answerMalformed(
  error: NodeJS.ErrnoException,
  socket: Socket,
  bodyOf: (reason: string) => string,
): void {
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
  endRaw(socket, status, bodyOf(reason));
}

/** Refuses a request that does not go as far as hono, and closes the connection. */
function refuse(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, {
    'X-Gateway-Sim': '1',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  });
  outgoing.end(body);
}

/** Answers where there is no response to write to, and closes the connection. */
function endRaw(socket: Duplex, status: string, body: string): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Gateway-Sim: 1\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Lets a server answer what is under way, at most `DRAIN_MS` long, and closes it. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(force);
}
