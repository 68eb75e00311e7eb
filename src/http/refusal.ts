import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../contract/error.ts';
import type { Dialect } from '../wire/dialect.ts';

/*
 * Error responses sent without Hono, in the same format. Each closes its connection.
 */

export const NO_PROXY = 'CONNECT is not supported: the proxy is off';

/** Rejects a request. */
export function refuse(outgoing: ServerResponse, status: number, reason: string, dialect: Dialect): void {
  const { headers, body } = refusalOf(outgoing.req, reason, dialect);
  outgoing.writeHead(status, headers).end(body);
}

/** Rejects a connection that has no response object. */
export function endRaw(socket: Duplex, status: number, reason: string, dialect: Dialect): void {
  const { headers, body } = refusalOf(undefined, reason, dialect);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

function refusalOf(request: IncomingMessage | undefined, reason: string, { serviceError }: Dialect) {
  const error = new GatewayError('unparseable_body', reason);
  const isControl = request?.url?.startsWith('/_sim') ?? false;
  const body = JSON.stringify(isControl ? error : serviceError(error));
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Gateway-Sim': '1',
    Connection: 'close',
  };
  return { headers, body };
}
