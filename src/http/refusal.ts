import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../contract/error.ts';
import type { Dialect } from '../wire/dialect.ts';

/*
 * Refusals of what hono never sees, in the one error shape too. The connection closes after each of them.
 */

export const NO_PROXY = 'gateway-sim is no proxy: it takes no CONNECT';

/** Refuses a request. */
export function refuse(outgoing: ServerResponse, status: number, reason: string, dialect: Dialect): void {
  const { headers, body } = refusalOf(outgoing.req, reason, dialect);
  outgoing.writeHead(status, headers).end(body);
}

/** Answers where there is no response to write to. */
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
