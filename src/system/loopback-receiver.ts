import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError, hint, option } from '../contract/error.ts';
import { asyncDisposable } from './disposal.ts';

/** A request with its whole body. */
export interface ReceivedRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Alternating names and values, as received. */
  rawHeaders: readonly string[];
  body: Buffer;
}

interface Reply {
  status: number;
  headers?: readonly (readonly [string, string])[];
  body?: string | Buffer | undefined;
}

/** Far larger than any IPN. */
const MAX_BODY_BYTES = 2 ** 20;

/**
 * Receives requests on the loopback address. Incomplete requests are ignored. The response to a body over 1 MiB is 413.
 *
 * @param reply if it throws, the response is 500 with the message
 * @param port 0 picks a free port
 * @param portOption the name of the option for `port`
 * @throws GatewayError `port_in_use`
 */
export async function receiveOnLoopback(
  reply: (request: ReceivedRequest) => Reply | Promise<Reply>,
  port = 0,
  portOption = 'port',
) {
  const server = createServer(async (request, response) => {
    try {
      const body = await readBody(request);
      const { method = '', url = '', rawHeaders } = request;
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const answer = body ? await reply({ method, url, headers, rawHeaders, body }) : TOO_LARGE;
      response.writeHead(answer.status, answer.headers?.flat()).end(answer.body);
    } catch (error) {
      if (request.complete && !response.headersSent) response.writeHead(500).end(String(error));
      else response.destroy();
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const why =
      cause.code === 'EADDRINUSE' ? 'is in use by another process' : `cannot be used: ${cause.message}`;
    throw new GatewayError('port_in_use', `port ${port} ${why}`, {
      cause,
      hint: hint`Use a free port with ${option(portOption, '0')}, or choose one with ${option(portOption)}.`,
    });
  });
  const { port: bound } = server.address() as AddressInfo;
  /** May be called twice. */
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  /** Without a path or trailing slash. */
  const url = `http://127.0.0.1:${bound}`;
  return { url, port: bound, close, ...asyncDisposable(close) };
}

const TOO_LARGE: Reply = { status: 413, headers: [['Connection', 'close']], body: 'too large\n' };

/** Reads the whole body, so that the sender gets the response. Null if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null;
}
